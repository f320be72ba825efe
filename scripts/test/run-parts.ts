/** Runs parts of the tests at the same time, and gathers what came of each. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failuresIn, type Report } from './report.ts'
import { runInSession } from './session.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface PartsRun {
  /** Shown in front of each line. */
  readonly name: string
  /** Of vitest.config.ts. */
  readonly projects: readonly string[]
  /** Words that the path of a file has to contain one of; none: all files. */
  readonly filters: readonly string[]
  /** Where each process writes what it has reached; null: nowhere. */
  readonly coverage: string | null
}

/** Resolves with what came of each part. When `stopped` aborts, everything that it has started is killed. */
export async function runParts(run: PartsRun, stopped: AbortSignal): Promise<Report[]> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-tests-'))
  const file = join(folder, 'report.json')
  try {
    const env = {
      ...process.env,
      TEST_PART: run.name,
      TEST_REPORT: file,
      ...(run.coverage !== null && { NODE_V8_COVERAGE: run.coverage }),
    }
    const end = await runInSession(process.execPath, vitestLine(run), { cwd: root, env }, stopped)
    const reports = stopped.aborted ? [] : readReports(file)
    const failures = stopped.aborted ? ['stopped'] : end.leftBehind.map((command) => `left behind: ${command}`)
    // A run that failed without saying why has one failure.
    if (end.code !== 0 && failures.length === 0 && !reports.some((report) => failuresIn(report) > 0)) {
      failures.push(
        `vitest ended with ${end.signal ?? `code ${end.code}`}${reports.length === 0 ? ', and no report' : ''}`,
      )
    }
    const [first = nothingOf(run.name), ...others] = reports
    return [{ ...first, outside: [...first.outside, ...failures] }, ...others]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const nothingOf = (part: string): Report => ({
  part,
  passed: 0,
  failed: [],
  outside: [],
  skipped: [],
  files: [],
  tookMs: 0,
})

function vitestLine({ projects, filters }: PartsRun): string[] {
  return [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...filters,
  ]
}

/** None when vitest has left none. */
function readReports(file: string): Report[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
