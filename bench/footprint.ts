/** Start time and memory of real processes: a miner for a node, a network that is idle, a journal that is opened. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CHECKPOINT_NAME } from '../src/mining/journal/checkpoint.ts'
import { writeJournal } from './journal-lines.ts'
import type { Row } from './report.ts'
import { type Effort, MAX_WAIT_MS, pause, type Suite } from './suite.ts'

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))
const child = fileURLToPath(new URL('./footprint-child.js', import.meta.url))

interface Size {
  /** Time from the first work until memory is read. */
  readonly settleMs: number
  readonly starts: number
  readonly solutions: number
}
const FULL: Size = { settleMs: 10_000, starts: 5, solutions: 1_000_000 }
const QUICK: Size = { settleMs: 100, starts: 1, solutions: 2_000 }

export const footprint: Suite = async ({ isQuick }: Effort) => {
  if (process.platform !== 'linux') return 'memory of other processes is read on Linux alone'
  const size = isQuick ? QUICK : FULL
  return [...(await processes(size)), ...(await journals(size))]
}

async function processes({ settleMs, starts }: Size): Promise<Row[]> {
  const node = await startProcess(['devnet', '--port', '0'], /embedded network: .* at (http:\S+)/)
  const miners: { readyMs: number; cpuMs: number; mib: number }[] = []
  try {
    await pause(settleMs)
    const idleMiB = residentMiB(node.process)
    for (let i = 0; i < starts; i++) {
      const args = [
        'mine',
        '--node',
        node.found,
        '--threads',
        '2',
        '--gpu',
        'none',
        '--state',
        'off',
        '--http',
        '127.0.0.1:0',
      ]
      const startMs = performance.now()
      const miner = await startProcess(args, / (work) +chain /)
      try {
        const [readyMs, cpuMs] = [performance.now() - startMs, processorMs(miner.process)]
        await pause(settleMs)
        miners.push({ readyMs, cpuMs, mib: residentMiB(miner.process) })
      } finally {
        await endProcess(miner.process)
      }
    }
    const row = (name: string, unit: Row['unit'], samples: readonly number[]) => ({
      suite: 'footprint',
      name,
      unit,
      samples,
    })
    return [
      row(
        'mine --node: first work',
        'ms',
        miners.map(({ readyMs }) => readyMs),
      ),
      row(
        'mine --node: processor time until then',
        'ms',
        miners.map(({ cpuMs }) => cpuMs),
      ),
      row(
        'mine --node: memory',
        'MiB',
        miners.map(({ mib }) => mib),
      ),
      row('devnet, idle: memory', 'MiB', [idleMiB]),
    ]
  } finally {
    await endProcess(node.process)
  }
}

/** Reads a journal without an index, which writes it, then with it, then for its sums. */
async function journals({ solutions }: Size): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-bench-'))
  try {
    writeJournal(folder, solutions)
    const rows: Row[] = []
    for (const [mode, what, isIndexed] of [
      ['start', 'start with a journal', false],
      ['start', 'start with an indexed journal', true],
      ['summary', 'blocks --summary', true],
    ] as const) {
      if (existsSync(join(folder, CHECKPOINT_NAME)) !== isIndexed) throw new Error(`${what}: no index as expected`)
      const { process: opener, found } = await startProcess([folder, String(solutions), mode], /(\{.*\})/, child)
      await endProcess(opener)
      const { cpuMs, peakMiB }: { cpuMs: number; peakMiB: number } = JSON.parse(found)
      const name = `${what} of ${solutions} solutions`
      rows.push({ suite: 'footprint', name: `${name}: processor time`, unit: 'ms', samples: [cpuMs] })
      rows.push({ suite: 'footprint', name: `${name}: memory`, unit: 'MiB', samples: [peakMiB] })
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Starts a process and resolves once its output has this text, with the first group of it. */
function startProcess(
  args: readonly string[],
  pattern: RegExp,
  script = main,
): Promise<{ readonly process: ChildProcess; readonly found: string }> {
  const started = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  return new Promise((resolve, reject) => {
    const onText = (chunk: unknown) => {
      text += String(chunk)
      const match = pattern.exec(text)
      if (match !== null) resolve({ process: started, found: match[1] })
    }
    started.stdout.on('data', onText)
    started.stderr.on('data', onText)
    started.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}: ${text}`)))
  })
}

async function endProcess(running: ChildProcess): Promise<void> {
  if (running.exitCode !== null) return
  const over = new Promise((resolve) => running.once('exit', resolve))
  running.kill('SIGTERM')
  const isOver = await Promise.race([over.then(() => true), pause(MAX_WAIT_MS).then(() => false)])
  if (!isOver) running.kill('SIGKILL')
}

const residentMiB = ({ pid }: ChildProcess) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** User and system time of a process. Ticks are of 10 ms. */
function processorMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}
