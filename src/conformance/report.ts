/** A report as lines for people, and as JUnit XML for CI. */
import { printable } from '../base/printable.ts'
import type { StepFailure } from './case-run.ts'
import type { CaseResult, ConformanceReport } from './run.ts'

/** One line for a failed case: which, where, what was expected and what came. `unit`: what the case counts. */
export function failureLine({ group, name, failure }: CaseResult, unit = 'step'): string {
  if (failure === null) return `FAILED ${group}: ${name}`
  const { step, call, at, expected, got } = failure
  return printable(`FAILED ${group}: ${name} (${unit} ${step}, ${call}): ${at}: expected ${expected}, got ${got}`)
}

/** One line for a client that ended before it did its duty. */
export function gaveUpLine({ group, name }: Pick<CaseResult, 'group' | 'name'>, gaveUp: StepFailure): string {
  const { step, call, expected, got } = gaveUp
  return printable(`gave up ${group}: ${name} (request ${step}, ${call}): expected ${expected}, got ${got}`)
}

/** The lines before the first case. */
export function headLine({ network, packageVersion, release }: Omit<ConformanceReport, 'cases'>): string {
  return printable(`${network}, node release ${packageVersion}, judged as ${release}`)
}

/** Number of cases by reason, then the totals. */
export function summaryLines({ cases }: ConformanceReport): string[] {
  const reasons = new Map<string, number>()
  for (const { reason } of cases) if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const skipped = [...reasons].map(([reason, count]) => printable(`skipped ${count}: ${reason}`))
  const count = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length
  return [...skipped, `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`]
}

/** The report in the JUnit format: a suite for each file of cases. */
export function junitXml(report: ConformanceReport): string {
  const groups = [...new Set(report.cases.map(({ group }) => group))]
  const suites = groups.flatMap((group) => {
    const cases = report.cases.filter((each) => each.group === group)
    return [`  <testsuite name="${escaped(group)}" ${totals(cases)}>`, ...cases.flatMap(caseXml), '  </testsuite>']
  })
  const head = `<testsuites name="newcut conformance ${escaped(report.node)}" ${totals(report.cases)}>`
  return `${['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>'].join('\n')}\n`
}

function totals(cases: readonly CaseResult[]): string {
  const of = (outcome: CaseResult['outcome']) => cases.filter((each) => each.outcome === outcome).length
  const seconds = cases.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
  return `tests="${cases.length}" failures="${of('failed')}" skipped="${of('skipped')}" time="${seconds}"`
}

function caseXml(result: CaseResult): string[] {
  const { group, name, durationMs, reason, failure } = result
  const open = `    <testcase classname="${escaped(group)}" name="${escaped(name)}" time="${durationMs / 1000}"`
  if (reason !== null) return [`${open}><skipped message="${escaped(reason)}"/></testcase>`]
  if (failure !== null) return [`${open}><failure message="${escaped(failureLine(result))}"/></testcase>`]
  return [`${open}/>`]
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string) => printable(text).replace(/[&<>"]/g, (character) => entities[character])
