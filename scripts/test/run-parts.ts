/** Runs parts of the tests in parallel and collects their results. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failuresIn, type Report } from './report.ts'
import { runInSession } from './session.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface PartsRun {
  /** Prefix of each line. */
  readonly name: string
  /** Projects of vitest.config.ts. */
  readonly projects: readonly string[]
  /** Filters: a file's path must contain one of these words. Empty for all files. */
  readonly filters: readonly string[]
  /** Folder for coverage, or null. */
  readonly coverage: string | null
}

/** Resolves with the results. Kills everything that it has started when `stopped` aborts. */
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
    // A failed run without a reported failure counts as one.
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

/** Empty if vitest has written none. */
function readReports(file: string): Report[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
