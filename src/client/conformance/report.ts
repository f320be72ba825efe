/** A report as lines for people, and as JUnit XML for CI. */
import { type JunitCase, junitText } from '#ground/base/junit.ts'
import { printable } from '#ground/base/printable.ts'
import type { StepFailure } from './case-run.ts'
import type { CaseResult, ConformanceReport } from './run.ts'

/** One line for a failed case: which, where, what was expected and what came. `unit`: what the case counts. */
export function failedCaseLine({ group, name, failure }: CaseResult, unit = 'step'): string {
  if (failure === null) return `FAILED ${group}: ${name}`
  const { step, call, at, expected, got } = failure
  return printable(`FAILED ${group}: ${name} (${unit} ${step}, ${call}): ${at}: expected ${expected}, got ${got}`)
}

/** One line for a client that ended before it did its duty. */
export function formatAbandoned({ group, name }: Pick<CaseResult, 'group' | 'name'>, gaveUp: StepFailure): string {
  const { step, call, expected, got } = gaveUp
  return printable(`gave up ${group}: ${name} (request ${step}, ${call}): expected ${expected}, got ${got}`)
}

/** The lines before the first case. */
export function headLine({ network, packageVersion, release }: Omit<ConformanceReport, 'cases'>): string {
  return printable(`${network}, node release ${packageVersion}, judged as ${release}`)
}

/** Number of cases by reason, then the totals. */
export function caseSummaryLines({ cases }: ConformanceReport): string[] {
  const reasons = new Map<string, number>()
  for (const { reason } of cases) if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const skipped = [...reasons].map(([reason, count]) => printable(`skipped ${count}: ${reason}`))
  const count = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length
  return [...skipped, `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`]
}

/** The report in the JUnit format: a suite for each file of cases. */
export function junitXml(report: ConformanceReport): string {
  const groups = [...new Set(report.cases.map(({ group }) => group))]
  const suites = groups.map((group) => ({
    name: printable(group),
    cases: report.cases.filter((each) => each.group === group).map(junitCase),
  }))
  return junitText(`newcut conformance ${printable(report.node)}`, suites, totals)
}

interface TimedCase extends JunitCase {
  readonly milliseconds: number
}

function totals(cases: readonly TimedCase[]) {
  const milliseconds = cases.reduce((sum, each) => sum + each.milliseconds, 0)
  return {
    tests: cases.length,
    failures: cases.filter(({ failure }) => failure !== undefined).length,
    skipped: cases.filter(({ skipped }) => skipped !== undefined).length,
    time: milliseconds / 1000,
  }
}

function junitCase(result: CaseResult): TimedCase {
  const { group, name, outcome, durationMs, reason } = result
  return {
    attributes: { classname: printable(group), name: printable(name), time: durationMs / 1000 },
    milliseconds: durationMs,
    ...(reason !== null && { skipped: printable(reason) }),
    ...(outcome === 'failed' && { failure: { message: failedCaseLine(result) } }),
  }
}
