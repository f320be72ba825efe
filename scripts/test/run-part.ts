/** Runs one part in a session of its own, which ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endSession, processesOf } from './processes.ts'
import type { Report } from './report.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
/** Processes that are on their way out get so long. */
const GRACE_MS = 5_000
const LOOK_MS = 100

export interface PartRun {
  /** Shown in front of each line. */
  readonly name: string
  /** Of vitest.config.ts. */
  readonly projects: readonly string[]
  /** Words that the path of a file has to contain one of; none: all files. */
  readonly filters: readonly string[]
  readonly coverage: boolean
}

/** Resolves with what came of it. When `stopped` aborts, everything that it has started is killed. */
export async function runPart(part: PartRun, stopped: AbortSignal): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-tests-'))
  const file = join(folder, 'report.json')
  const env = { ...process.env, TEST_PART: part.name, TEST_REPORT: file }
  const child = spawn(process.execPath, vitestLine(part), {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  const session = child.pid ?? 0
  const guard = spawn(process.execPath, [here('guard.js'), String(session)], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const stop = () => endSession(session)
  stopped.addEventListener('abort', stop)
  try {
    const end = await ended(child)
    if (stopped.aborted) return stoppedReport
    const report = readReport(file, end)
    const left = await leftBehind(session)
    return { ...report, outside: [...report.outside, ...left.map((command) => `left behind: ${command}`)] }
  } finally {
    stopped.removeEventListener('abort', stop)
    endSession(session)
    guard.stdin?.end()
    await ended(guard)
    rmSync(folder, { recursive: true })
  }
}

const stoppedReport: Report = { passed: 0, failed: [], outside: ['stopped'], skipped: [], files: [] }

function vitestLine({ projects, filters, coverage }: PartRun): string[] {
  return [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...(coverage ? ['--coverage'] : []),
    ...filters,
  ]
}

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

function ended(child: ChildProcess): Promise<End> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** A run that failed without saying why has one failure. */
function readReport(file: string, { code, signal }: End): Report {
  const failure = `vitest ended with ${signal ?? `code ${code}`}`
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return { ...stoppedReport, outside: [`${failure}, and no report`] }
  }
  if (code === 0 || report.failed.length + report.outside.length > 0) return report
  return { ...report, outside: [failure] }
}

/** The command lines of processes that a run has started and not ended. */
async function leftBehind(session: number): Promise<string[]> {
  const untilMs = performance.now() + GRACE_MS
  for (;;) {
    const left = processesOf(session)
    if (left.length === 0 || performance.now() > untilMs) return left.map(({ command }) => command)
    await sleep(LOOK_MS)
  }
}
