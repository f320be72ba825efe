/** docs/CONFORMANCE-RESULTS.md: results of our own node, and where releases differ. Made of cases and reports. */

import type { ConformanceCase } from '../../src/client/conformance/case-file.ts'
import type { ConformanceReport } from '../../src/client/conformance/run.ts'
import { caseReleases, type Release } from '../../src/client/conformance/words.ts'
import { stringifyJson } from '../../src/ground/base/json.ts'

/** A run, and the head of its column. */
export interface Column {
  readonly head: string
  readonly report: ConformanceReport
}

const MAX_SHOWN = 70

/** The whole page. */
export function resultsPage(cases: readonly ConformanceCase[], columns: readonly Column[]): string {
  return `# Results by release

Tests write this page. [CONFORMANCE.md](CONFORMANCE.md) describes the cases and how to run them.

## Passed cases

Each column but the last is a run against a real embedded node over HTTP. The last one counts the cases that would run at a
public node of chainweb-node, which gets \`read-only\` cases alone. **They were not run here**: no such node was at hand. Their
expectations come from source and documents ([COMPATIBILITY.md](COMPATIBILITY.md)).

${table(passedRows(cases, columns))}

## Where releases differ

Each row is a value that a case expects of an answer. newcut follows \`spec\` unless the row says otherwise.

${table(differenceRows(cases))}

## Cases that a node may skip

These cases ask first, and stop where the node does not have what they need.

${table(skipRows(cases))}
`
}

function passedRows(cases: readonly ConformanceCase[], columns: readonly Column[]): string[][] {
  const groups = [...new Set(cases.map(({ group }) => group))]
  const count = (group: string | null, { report }: Column) => {
    const own = report.cases.filter((each) => group === null || each.group === group)
    const [passed, skipped] = ['passed', 'skipped'].map(
      (outcome) => own.filter((each) => each.outcome === outcome).length,
    )
    return `${passed}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  }
  const open = (group: string | null) => {
    const own = cases.filter((each) => (group === null || each.group === group) && isReadOnly(each))
    return String(own.length)
  }
  const row = (name: string, group: string | null) => {
    const all = cases.filter((each) => group === null || each.group === group).length
    return [name, String(all), ...columns.map((column) => count(group, column)), open(group)]
  }
  const heads = ['file', 'cases', ...columns.map(({ head }) => head), 'chainweb-node, not run']
  return [heads, ...groups.map((group) => row(group, group)), row('**all**', null)]
}

const isReadOnly = ({ needs }: ConformanceCase) => needs.every((need) => need === 'read-only')

function differenceRows(cases: readonly ConformanceCase[]): string[][] {
  const rows = cases.flatMap((each) =>
    releaseChoices(each.steps, '').map(({ at, choice }) => {
      const values = caseReleases.map((release) => cellText(valueFor(choice, release)))
      return [`${each.group}: ${each.name}`, `\`${at}\``, ...values]
    }),
  )
  return [['case', 'part', ...caseReleases], ...rows]
}

type Choice = Readonly<Record<string, unknown>>

/** The objects with `$release` in a value, with the path below `expect`. */
function releaseChoices(value: unknown, at: string): { readonly at: string; readonly choice: Choice }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => {
    if (key === '$release') return [{ at: at.replace(/^\d+\.expect\./, ''), choice: part as Choice }]
    return releaseChoices(part, at === '' ? key : `${at}.${key}`)
  })
}

/** As the runner chooses: the release, its family, else spec. */
function valueFor(choice: Choice, release: Release): unknown {
  const name = [release, release.split(' ')[0], 'spec'].find((each) => Object.hasOwn(choice, each))
  return name === undefined ? undefined : choice[name]
}

function cellText(value: unknown): string {
  const text = stringifyJson(value).replaceAll('|', '\\|')
  return `\`${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text}\``
}

function skipRows(cases: readonly ConformanceCase[]): string[][] {
  const reasons = new Map<string, number>()
  for (const { steps } of cases) {
    const reason = steps.find(({ skip }) => skip !== undefined)?.skip?.reason
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  return [['reason', 'cases'], ...[...reasons].map(([reason, count]) => [reason, String(count)])]
}

function table([heads, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
