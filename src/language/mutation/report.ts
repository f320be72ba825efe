/** The report of planted faults for people. */

import { operatorNames } from './operators.ts'
import type { MutantResult, MutationResult } from './result.ts'
import { countByOperator, countMutants, countOf, type MutantCounts, scoreText } from './score.ts'

/** Maximum lines of each side of a difference. */
const MAX_LINES = 6

/** A line, and the side of a difference that it shows. */
interface ReportLine {
  readonly text: string
  readonly side?: 'before' | 'after'
}

/** Survivors, a table of operators, and sums. */
export function mutationLines(result: MutationResult): ReportLine[] {
  const { mutants } = result
  const survivors = mutants.filter(({ status }) => status === 'survived')
  return [
    ...survivors.flatMap(survivorLines),
    ...operatorTable(mutants).map((text) => ({ text })),
    ...remarks(result).map((text) => ({ text })),
  ]
}

function survivorLines(mutant: MutantResult): ReportLine[] {
  const { operator, member, what, diff, tests } = mutant
  return [
    { text: `SURVIVED ${placeTextOf(mutant)}: ${operator} in ${member}` },
    ...sideLines(diff.before, 'before'),
    ...sideLines(diff.after, 'after'),
    { text: `  no test noticed that ${what}; it ran in ${tests.join(', ')}` },
    { text: '' },
  ]
}

function sideLines(lines: readonly string[], side: 'before' | 'after'): ReportLine[] {
  const sign = side === 'before' ? '-' : '+'
  const shown = lines.slice(0, MAX_LINES).map((line) => ({ text: `  ${sign} ${line}`, side }))
  const left = lines.length - shown.length
  return left <= 0 ? shown : [...shown, { text: `  ${sign} ... ${left} more`, side }]
}

const placeTextOf = ({ file, line, column }: Pick<MutantResult, 'file' | 'line' | 'column'>) =>
  `${file}:${line}:${column}`

function operatorTable(mutants: readonly MutantResult[]): string[] {
  const width = Math.max(...operatorNames.map(({ length }) => length))
  const row = (name: string, { killed, survived, score }: MutantCounts) =>
    `${name.padEnd(width)}  ${`${killed}`.padStart(7)}  ${`${survived}`.padStart(8)}  ${scoreText(score).padStart(7)}`
  const heads = `${'operator'.padEnd(width)}  ${'killed'.padStart(7)}  ${'survived'.padStart(8)}  ${'score'.padStart(7)}`
  return [
    heads,
    ...countByOperator(mutants).map(({ operator, ...counts }) => row(operator, counts)),
    row('all', countMutants(mutants)),
  ]
}

function remarks({ mutants, runs, known, brittle, unusedComments }: MutationResult): string[] {
  const withStatus = (status: MutantResult['status']) => mutants.filter((each) => each.status === status)
  const ignored = withStatus('ignored').map(
    (each) => `${placeTextOf(each)}: ${each.operator} is silenced: ${each.reason}`,
  )
  const unreached = [...new Set(withStatus('unreached').map(({ file, line }) => `${file}:${line}`))]
  const [endless, invalid] = [countOf(mutants, 'endless'), countOf(mutants, 'invalid')]
  return [
    ...ignored,
    ...brittle.map(({ at, name }) => `${at}: "${name}" fails after any change of a contract, and counts for no fault`),
    ...unusedComments.map((place) => `${place}: the comment silences nothing`),
    ...(unreached.length === 0
      ? []
      : [`no test reaches the code of ${countText(withStatus('unreached').length)}: ${shortList(unreached)}`]),
    ...(invalid === 0 ? [] : [`${countText(invalid)} that cannot be loaded left out`]),
    ...(endless === 0 ? [] : [`${countText(endless)} without end, killed by the count of work`]),
    `${runs} runs of test files, ${known} verdicts known from earlier runs`,
  ]
}

const countText = (count: number) => `${count} mutant${count === 1 ? '' : 's'}`

function shortList(items: readonly string[]): string {
  const names = items.slice(0, MAX_LINES).join(', ')
  return items.length <= MAX_LINES ? names : `${names} and ${items.length - MAX_LINES} more`
}
