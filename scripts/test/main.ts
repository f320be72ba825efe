/**
 * `npm test` and `npm run test:all`: runs the quick set, or all parts of the tests one after the other, and shows one line
 * for each, what was skipped and why, and what failed.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { coverageLines } from './coverage.ts'
import { partNames, parts, projects, projectsOf, QUICK } from './parts.ts'
import { processorSeconds } from './processes.ts'
import { failuresIn, type Report } from './report.ts'
import { runPart } from './run-part.ts'
import { untilStopped } from './stop.ts'
import { durationText } from './text.ts'

const HELP = `npm test [-- FILE ...]               the quick set, or the test files whose path contains one of these words
npm run test:all [-- OPTION ...]     all parts, or some
  --part NAME                        only this part; may be repeated
  --without NAME                     all parts but this one; may be repeated
  --report FILE                      writes what came of each part as JSON
npm run test:coverage                the quick set, and what it reaches of each room
The parts:
${parts.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join('\n')}
`

interface Wanted {
  readonly parts: readonly string[]
  readonly filters: readonly string[]
  readonly coverage: boolean
  readonly report: string | undefined
}

/** Ends the process with code 2 for wrong options. */
function wanted(): Wanted {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        all: { type: 'boolean', default: false },
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
    const isAll = values.all || values.without.length > 0
    const named = isAll ? parts.map(({ name }) => name).filter((name) => !values.without.includes(name)) : [QUICK]
    const chosen = values.part.length > 0 ? values.part : named
    return { parts: chosen, filters: positionals, coverage: values.coverage, report: values.report }
  } catch (error) {
    process.stderr.write(`${(error as Error).message.split('\n')[0]}\n`)
    process.exit(2)
  }
}

async function main(stopped: AbortSignal): Promise<number> {
  const { parts: names, filters, coverage, report } = wanted()
  const startMs = performance.now()
  const rows: { readonly name: string; readonly report: Report; readonly tookMs: number }[] = []
  // A file may be of any part.
  const runs =
    filters.length > 0
      ? [{ name: 'tests', projects: projects.map(({ name }) => name) }]
      : names.map((name) => ({ name, projects: projectsOf(name) }))
  for (const run of runs) {
    if (stopped.aborted) break
    const partStartMs = performance.now()
    const came = await runPart({ ...run, filters, coverage }, stopped)
    rows.push({ name: run.name, report: came, tookMs: performance.now() - partStartMs })
  }
  if (report !== undefined) writeFileSync(report, `${JSON.stringify(rows, null, 2)}\n`)
  const reports = rows.map((row) => row.report)
  showSkipped(reports)
  for (const { failed, outside } of reports) for (const name of [...failed, ...outside]) print(`FAILED: ${name}`)
  for (const {
    name,
    report: { passed, skipped, ...came },
    tookMs,
  } of rows) {
    print(
      `${name.padEnd(10)} ${passed} passed, ${failuresIn({ ...came, passed, skipped })} failed, ${skipped.length} skipped, ${durationText(tookMs)}`,
    )
  }
  if (coverage) for (const line of coverageLines()) print(line)
  const passed = reports.reduce((sum, each) => sum + each.passed, 0)
  const failed = reports.reduce((sum, each) => sum + failuresIn(each), 0)
  const processor = processorSeconds()
  const cost = processor === null ? '' : `, ${Math.round(processor)} s of processor time`
  print(`${passed} passed, ${failed} failed in ${durationText(performance.now() - startMs)}${cost}`)
  return failed === 0 && passed > 0 ? 0 : 1
}

/** One line for each reason, with how many tests it concerns. */
function showSkipped(reports: readonly Report[]): void {
  const reasons = new Map<string, number>()
  for (const { skipped } of reports)
    for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  if (reasons.size > 0) print('skipped:')
  for (const [reason, count] of reasons) print(`  ${String(count).padStart(4)}  ${reason}`)
}

const print = (line: string) => void process.stdout.write(`${line}\n`)

process.exitCode = await untilStopped(main)
