/**
 * `npm test` and `npm run test:full`: run the quick set or all parts, and show a line per part, skipped tests with
 * reasons, and failures.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { untrackedFiles } from './left-files.ts'
import { inThird, judgesOf, partNames, parts, projects, projectsOf, QUICK, runsOf } from './parts.ts'
import { processorSeconds } from './processes.ts'
import { failuresIn, type Report } from './report.ts'
import { runParts } from './run-parts.ts'
import { untilStopped } from './stop.ts'
import { durationText } from './text.ts'

const JUDGES = fileURLToPath(new URL('../../../scripts/judges.js', import.meta.url))
const BUNDLES = fileURLToPath(new URL('../../src/bundled', import.meta.url))

const alone = parts
  .filter(({ waits }) => !waits)
  .map(({ name }) => name)
  .join(', ')
const HELP = `npm test [-- FILE ...]               the quick set, or the test files whose path contains one of these words
npm run test:full [-- OPTION ...]    all parts with all their rounds, or some parts
  --part NAME                        only this part; may be repeated
  --without NAME                     all parts but this one; may be repeated
  --rotation N                       not all rounds, but the Nth part of them
  --third N                          a third of the files of each part but quick: N, N + 1 and N + 2 do all
  --report FILE                      writes what came of each part as JSON
npm run test:coverage                quick, conformance, forks, rigs, kills, engines, bench, fleet and commands,
                                     and what they reach of each room
These run alone, and all other parts at the same time: ${alone}.
The parts:
${parts.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join('\n')}
`

interface Wanted {
  readonly parts: readonly string[]
  readonly filters: readonly string[]
  readonly coverage: boolean
  readonly report: string | undefined
  /** Null for all rounds. */
  readonly rotation: number | null
  /** Null for all files. */
  readonly third: number | null
}

/** Reads the options. Exits with code 2 if they are invalid. */
function wanted(): Wanted {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        full: { type: 'boolean', default: false },
        rotation: { type: 'string' },
        third: { type: 'string' },
        part: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        coverage: { type: 'boolean', default: false },
        report: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) {
      process.stdout.write(HELP)
      process.exit(0)
    }
    for (const name of [...values.part, ...values.without]) {
      if (!parts.some((part) => part.name === name))
        throw new Error(`there is no part ${name}; the parts are ${partNames}`)
    }
    const isAll = values.full || values.without.length > 0
    const named = isAll ? parts.map(({ name }) => name).filter((name) => !values.without.includes(name)) : [QUICK]
    const chosen = values.part.length > 0 ? values.part : named
    const numberOf = (name: 'rotation' | 'third') => {
      const text = values[name]
      if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? null : Number(text)
      throw new Error(`--${name} ${text}: expected a whole number, such as 7`)
    }
    const rotation = numberOf('rotation') ?? (values.full ? null : 0)
    return {
      parts: chosen,
      filters: positionals,
      coverage: values.coverage,
      report: values.report,
      rotation,
      third: numberOf('third'),
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]}\n`)
    process.exit(2)
  }
}

const titleOf = (names: readonly string[]) => (names.length === 1 ? names[0] : `${names.length} parts`)

async function main(stopped: AbortSignal): Promise<number> {
  const asked = wanted()
  const coverage = asked.coverage ? mkdtempSync(join(tmpdir(), 'newcut-coverage-')) : null
  // Only single modules have sources, whose lines count. Processes and threads then load them.
  if (asked.coverage) rmSync(BUNDLES, { recursive: true, force: true })
  try {
    return await runAll(asked, coverage, stopped)
  } finally {
    if (coverage !== null) rmSync(coverage, { recursive: true })
  }
}

async function runAll(asked: Wanted, coverage: string | null, stopped: AbortSignal): Promise<number> {
  const { filters, report, rotation, third } = asked
  const lacking = withoutJudges(asked)
  const names = asked.parts.filter((name) => !lacking.includes(name))
  if (lacking.length > 0) print(`left out, because they need the packages of test/package.json: ${lacking.join(', ')}`)
  if (rotation === null) process.env.TEST_FULL = '1'
  else process.env.TEST_ROTATION = String(rotation)
  if (rotation !== null && rotation > 0) print(`rotation ${rotation}: --rotation ${rotation} repeats it`)
  if (third !== null) {
    process.env.TEST_THIRD = String(third)
    print(`third ${third}: a third of the files of each part but quick; --third ${third} repeats it`)
  }
  const absent = parts
    .filter(({ name, files }) => third !== null && name !== QUICK && inThird(files, third).length === 0)
    .map(({ name }) => name)
  if (names.some((name) => absent.includes(name)))
    print(`not in this third: ${absent.filter((name) => names.includes(name)).join(', ')}`)
  const startMs = performance.now()
  const reports: Report[] = []
  // A named file may belong to any part.
  const runs =
    filters.length > 0
      ? [{ name: 'tests', projects: projects.map(({ name }) => name) }]
      : runsOf(names.filter((name) => !absent.includes(name))).map((each) => ({
          name: titleOf(each),
          projects: projectsOf(each),
        }))
  const before = new Set(untrackedFiles())
  for (const run of runs) {
    if (stopped.aborted) break
    reports.push(...(await runParts({ ...run, filters, coverage }, stopped)))
  }
  if (report !== undefined) writeFileSync(report, `${JSON.stringify(reports, null, 2)}\n`)
  const left = untrackedFiles().filter((path) => !before.has(path))
  for (const path of left) print(`FAILED: a test has left ${path} in the checkout`)
  showSkipped(reports)
  for (const { failed, outside } of reports) for (const name of [...failed, ...outside]) print(`FAILED: ${name}`)
  for (const each of reports) print(lineOf(each))
  if (coverage !== null && !stopped.aborted) {
    const { coverageLines } = await import('../../test/coverage.ts')
    for (const line of await coverageLines(coverage)) print(line)
  }
  const passed = reports.reduce((sum, each) => sum + each.passed, 0)
  const failed = reports.reduce((sum, each) => sum + failuresIn(each), left.length)
  const took = durationText(performance.now() - startMs)
  print(
    `${rotation === null ? 'full: ' : ''}${passed} passed, ${failed} failed in ${took}${costText(processorSeconds())}`,
  )
  return failed === 0 && passed > 0 && lacking.length === 0 ? 0 : 1
}

/** Installs what the parts need. Returns those that cannot run because it could not be installed. */
function withoutJudges({ parts: names, filters }: Wanted): readonly string[] {
  const needing = judgesOf(names, filters)
  const isInstalled = needing.length === 0 || spawnSync(process.execPath, [JUDGES], { stdio: 'inherit' }).status === 0
  return isInstalled ? [] : needing
}

const costText = (seconds: number | null) => (seconds === null ? '' : `, ${Math.round(seconds)} s of processor time`)

/** CPU time of the files, or null if none of it is known. */
function costOf({ files }: Report): number | null {
  const known = files.flatMap((file) => file.processorSeconds ?? [])
  return known.length === 0 ? null : known.reduce((sum, seconds) => sum + seconds, 0)
}

function lineOf(report: Report): string {
  const { part, passed, skipped, tookMs } = report
  const counts = `${passed} passed, ${failuresIn(report)} failed, ${skipped.length} skipped`
  return `${part.padEnd(10)} ${counts}, ${durationText(tookMs)}${costText(costOf(report))}`
}

/** One line per reason, with the number of tests. */
function showSkipped(reports: readonly Report[]): void {
  const reasons = new Map<string, number>()
  for (const { skipped } of reports)
    for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  if (reasons.size > 0) print('skipped:')
  for (const [reason, count] of reasons) print(`  ${String(count).padStart(4)}  ${reason}`)
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

process.exitCode = await untilStopped(main)
