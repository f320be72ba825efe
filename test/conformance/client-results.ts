/** The part of docs/CONFORMANCE-RESULTS.md about clients of other people. Other tests write the rest of the page. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ClientResult } from '../../src/client/conformance/clients/judge.ts'

/** The page, as a path. */
export const resultsPath = fileURLToPath(new URL(`../../docs/${'CONFORMANCE-RESULTS'}.md`, import.meta.url))

/** A program that used a library, and what came of it. */
export interface ClientRun {
  /** Name and version of the library. */
  readonly client: string
  readonly cases: readonly ClientResult[]
  /** Errors of calls, each once, in the order of the alphabet. */
  readonly errors: readonly string[]
}

const HEAD = '\n## Clients\n'
const MAX_SHOWN = 100
/** Groups of rules. All others are files of situations. */
const RULES = ['requests', 'commands', 'mining']

const page = () => readFileSync(resultsPath, 'utf8')
const startOfClients = (text: string) => (text.includes(HEAD) ? text.indexOf(HEAD) : text.length)

/** The part of the page that this file does not write. */
export const nodesOfPage = (): string => page().slice(0, startOfClients(page()))
/** The part of the page that `clientsPart` wrote. */
export const clientsOfPage = (): string => page().slice(startOfClients(page()))

/** The part of the page about clients. */
export function clientsPart(runs: readonly ClientRun[]): string {
  return `${HEAD}
**Measured**: for each library, a program of \`test/judges/programs/\` ran against \`newcut conformance --serve\`. It calls
the library as the README of the library shows. After an error it waits a second, and continues with its next call. Situations that all
libraries passed are only counted.

${table(verdictRows(runs))}

| verdict | meaning |
|---|---|
| passed | the library, or the next call of the program, did what the situation asks for |
| gave up | the call ended with an error, and nothing followed. The program would have to ask again |
| gave up, no loss | the same, for a request that only reads |
| FAILED | the client did what it must not |
| - | the program did not meet the situation, mostly because the library has no such call |

Each situation of \`streams\` had a run of its own. An error of a stream ended the process of \`chainweb\`, because the library
throws it where no program can catch it.

### Broken rules

${table(brokenRows(runs))}

### Errors of calls

\`(no end)\` is a call that neither gave a result nor failed within 20 s.

${table([['client', 'errors'], ...runs.map(({ client, errors }) => [client, errors.map(code).join(', ')])])}
`
}

function verdictRows(runs: readonly ClientRun[]): string[][] {
  const nameOf = ({ group, name }: ClientResult) => `${group}: ${name}`
  const situations = runs[0].cases.filter(({ group }) => !RULES.includes(group)).map(nameOf)
  const rows = situations.map((name) => [
    name,
    ...runs.map(({ cases }) => verdictOf(cases.find((each) => nameOf(each) === name))),
  ])
  const passed = runs.map((_, column) => {
    const met = rows.map((row) => row[column + 1]).filter((verdict) => verdict !== '-')
    return `${met.filter((verdict) => verdict === 'passed').length} of ${met.length}`
  })
  const shown = rows.filter(([, ...verdicts]) => verdicts.some((verdict) => !['-', 'passed'].includes(verdict)))
  const rules = runs.map(({ cases }) => {
    const own = cases.filter(({ group, outcome }) => RULES.includes(group) && outcome !== 'skipped')
    return `${own.filter(({ outcome }) => outcome === 'passed').length} of ${own.length}`
  })
  const heads = ['', ...runs.map(({ client }) => client)]
  const counts = [
    ['rules kept, of those that concern it', ...rules],
    ['situations passed, of those that it met', ...passed],
  ]
  return [heads, ...counts, ...shown]
}

function verdictOf(result: ClientResult | undefined): string {
  if (result === undefined) return '-'
  if (result.outcome === 'passed') return 'passed'
  if (result.outcome === 'failed') return '**FAILED**'
  if (result.gaveUp !== null) return '**gave up**'
  return result.reason?.includes('gave up') ? 'gave up, no loss' : '-'
}

function brokenRows(runs: readonly ClientRun[]): string[][] {
  const rows = runs.flatMap(({ client, cases }) =>
    cases.flatMap(({ group, name, failure }) =>
      failure === null ? [] : [[client, `${group}: ${name}`, code(failure.call), failure.got]],
    ),
  )
  return [['client', 'rule or situation', 'request', 'fault'], ...rows]
}

function code(text: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text
  return shown === '' ? 'an empty text' : `\`${shown.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}

function table([heads, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}
