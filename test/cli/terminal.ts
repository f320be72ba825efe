/** Runs the compiled command in a real pseudo-terminal, made by `script` and drawn by a terminal emulator. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import xterm, { type IBufferCell } from '@xterm/headless'
import { childEnv } from '../children.ts'

/** The compiled copy of this file, in dist/, draws the picture of the README. */
const DIST = import.meta.url.endsWith('.ts') ? '../../dist/' : '../../'
const main = fileURLToPath(new URL(`${DIST}src/main.js`, import.meta.url))

/** The reason why this machine has no usable terminal, or null. */
export const noTerminal: string | null =
  spawnSync('script', ['-qec', 'stty size', '/dev/null']).status === 0
    ? null
    : 'script does not run here: apt-get install bsdutils'

export interface TerminalOptions {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

export interface InTerminal {
  readonly child: ChildProcess
  /** The visible cells of the terminal, row by row, with their colours. */
  readonly screen: () => IBufferCell[][]
  /** All lines that the terminal has shown, including those that scrolled off, without trailing spaces. */
  readonly lines: () => string[]
  /** Types keys. */
  readonly press: (keys: string) => void
  /** Resolves with the exit code once all output is drawn. */
  readonly ended: Promise<number | null>
}

const running = new Set<ChildProcess>()

export function startInTerminal(
  args: readonly string[],
  { columns = 80, rows = 24, env = {} }: TerminalOptions = {},
): InTerminal {
  const words = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ')
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true })
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows ${rows}; exec ${words}`, '/dev/null'], {
    env: { ...childEnv, TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(child)
  child.stdout.on('data', (bytes: Buffer) => terminal.write(bytes))
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      running.delete(child)
      terminal.write('', () => resolve(code))
    })
  })
  return {
    child,
    press: (keys) => void child.stdin.write(keys),
    screen: () => {
      const { active } = terminal.buffer
      const cellAt = (x: number, y: number) => active.getLine(active.viewportY + y)?.getCell(x)
      const row = (y: number) => Array.from({ length: columns }, (_, x) => cellAt(x, y) ?? active.getNullCell())
      return Array.from({ length: rows }, (_, y) => row(y))
    },
    lines: () => {
      const { active } = terminal.buffer
      const all = Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? '')
      while (all.at(-1) === '') all.pop()
      return all
    },
    ended,
  }
}

/** For afterEach: stops terminals that a failed test left running. */
export function stopTerminals(): void {
  for (const child of running) child.kill('SIGKILL')
}
