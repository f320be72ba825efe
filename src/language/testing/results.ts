/** Results of contract tests for other programs: TAP and JUnit. */
import { type JunitCase, junitText } from '#ground/base/junit.ts'
import type { TestCase } from '../contracts/repl/run.ts'
import { displayPath, type FileOutcome } from './files.ts'

/** Tests of one file, and its early end as one more failure. */
export interface FileTests {
  readonly file: string
  readonly tests: readonly {
    readonly name: string
    readonly at: string
    readonly what: string | null
    readonly gas: number | null
  }[]
}

/** @param placeText a place as text; default: `file:line:column`, with the file relative to the working directory */
export function testsOf(
  { file, report: { cases, stopped } }: FileOutcome,
  placeText: (at: LocatedResult) => string = locationOf,
): FileTests {
  const tests = cases.map((each) => {
    const { name, what, milligas } = each
    return { name, at: placeText(each), what, gas: milligas === null ? null : Math.ceil(milligas / 1000) }
  })
  if (stopped !== null)
    tests.push({ name: 'the file runs to its end', at: placeText(stopped), what: stopped.message, gas: null })
  return { file, tests }
}

/** Something in a file; null stands for the file as a whole. */
export type LocatedResult = Pick<TestCase, 'file'> & { readonly place: TestCase['place'] | null }

/** `file:line:column`, relative to the working directory. */
export function locationOf(at: LocatedResult): string {
  const name = displayPath(at.file)
  return at.place === null ? name : `${name}:${at.place.line + 1}:${at.place.column + 1}`
}

/** The outcome with the tests of matching names only. All code has run: later code may need what earlier code did. */
export function withMatching(outcome: FileOutcome, match: string): FileOutcome {
  const { report } = outcome
  const matches = ({ name }: Pick<TestCase, 'name'>) => name.includes(match)
  const cases = report.cases.filter(matches)
  const passed = cases.filter(({ what }) => what === null).length
  return { ...outcome, report: { ...report, cases, passed, failures: report.failures.filter(matches) } }
}

/** Results as version 14 of the Test Anything Protocol. */
export function tapLines(files: readonly FileTests[]): string[] {
  const tests = files.flatMap((each) => each.tests.map((test) => ({ file: each.file, ...test })))
  return [
    'TAP version 14',
    `1..${tests.length}`,
    ...tests.flatMap(({ file, name, at, what }, i) => {
      const title = `${i + 1} - ${tapText(`${file}: ${name}`)}`
      if (what === null) return [`ok ${title}`]
      return [`not ok ${title}`, '  ---', `  message: ${JSON.stringify(what)}`, `  at: ${JSON.stringify(at)}`, '  ...']
    }),
  ]
}

/** `#` begins a directive, and a backslash escapes it. */
function tapText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\#]/g, '\\$&')
}

/** Results as JUnit XML. Gas is a property of a test, since tests take no time worth telling. */
export function junitReport(files: readonly FileTests[]): string {
  const suites = files.map(({ file, tests }) => ({ name: file, cases: tests.map((test) => junitCase(file, test)) }))
  return junitText('newcut test', suites, (cases) => ({
    tests: cases.length,
    failures: cases.filter(({ failure }) => failure !== undefined).length,
    errors: 0,
  }))
}

function junitCase(classname: string, { name, at, what, gas }: FileTests['tests'][number]): JunitCase {
  const line = /:(\d+):\d+$/.exec(at)?.[1]
  const file = at.replace(/:\d+:\d+$/, '')
  return {
    attributes: { classname, name, file, ...(line !== undefined && { line }) },
    ...(gas !== null && { properties: { gas } }),
    ...(what !== null && { failure: { message: what, text: `${at}: ${what}` } }),
  }
}
