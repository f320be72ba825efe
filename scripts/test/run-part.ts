/** Runs one part of the tests, and gathers what came of it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failuresIn, type Report } from './report.ts'
import { type End, runInSession } from './session.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

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
  try {
    const env = { ...process.env, TEST_PART: part.name, TEST_REPORT: file }
    const end = await runInSession(process.execPath, vitestLine(part), { cwd: root, env }, stopped)
    if (stopped.aborted) return failedWith('stopped')
    const report = readReport(file, end)
    const left = end.leftBehind.map((command) => `left behind: ${command}`)
    return { ...report, outside: [...report.outside, ...left] }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const failedWith = (reason: string): Report => ({ passed: 0, failed: [], outside: [reason], skipped: [], files: [] })

function vitestLine({ projects, filters, coverage }: PartRun): string[] {
  return [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...(coverage ? ['--coverage'] : []),
    ...filters,
  ]
}

/** A run that failed without saying why has one failure. */
function readReport(file: string, { code, signal }: End): Report {
  const failure = `vitest ended with ${signal ?? `code ${code}`}`
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return failedWith(`${failure}, and no report`)
  }
  if (code === 0 || failuresIn(report) > 0) return report
  return { ...report, outside: [failure] }
}
