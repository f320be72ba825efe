/** The compiled command in a terminal: a real pseudo-terminal by `script`, drawn by a terminal emulator. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import xterm, { type IBufferCell } from '@xterm/headless'
import { childEnv } from '../children.ts'

/** The picture of the README is drawn by the compiled copy of this file, in dist/. */
const DIST = import.meta.url.endsWith('.ts') ? '../../dist/' : '../../'
const main = fileURLToPath(new URL(`${DIST}src/main.js`, import.meta.url))

/** Why there is no terminal here; null: there is one. */
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
  /** What the terminal shows now: the cells of its rows, with their colours. */
  readonly screen: () => IBufferCell[][]
  /** All lines that the terminal has shown, those that went by at the top included, without trailing spaces. */
  readonly lines: () => string[]
  /** Presses keys. */
  readonly press: (keys: string) => void
  /** Resolves with the exit code when all output is drawn. */
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

/** For afterEach: ends what a failed test left running. */
export function stopTerminals(): void {
  for (const child of running) child.kill('SIGKILL')
}
