/** The list of results, which all views show, and its forms for other programs: TAP, JUnit, annotations. */
import { relative, sep } from 'node:path'
import { type JunitCase, junitText } from '#ground/base/junit.ts'
import type { FailureDetail, TestCase } from '../contracts/repl/run.ts'
import { displayPath, type FileOutcome } from './files.ts'

/** A test: an expectation, or the end of its file. */
export interface TestResult {
  readonly name: string
  /** `file:line:column` */
  readonly at: string
  readonly location: LocatedResult
  /** Whether it is the early end of its file. */
  readonly isEnd: boolean
  /** Whether its name is not one that the user asks for. It has run nevertheless. */
  readonly isSkipped: boolean
  /** Expected and actual result of a failure, as a sentence; null if it has passed or is skipped. */
  readonly what: string | null
  readonly detail: FailureDetail | null
  /** Gas, rounded up; null for property tests and early ends. */
  readonly gas: number | null
  readonly milligas: number | null
  readonly ms: number
}

/** Tests of one file, and its early end as one more failure. */
export interface FileTests {
  readonly file: string
  readonly tests: readonly TestResult[]
}

/** How many tests ended how. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export function countTests(tests: readonly TestResult[]): TestCounts {
  const failed = tests.filter(({ what }) => what !== null).length
  const skipped = tests.filter(({ isSkipped }) => isSkipped).length
  return { passed: tests.length - failed - skipped, failed, skipped }
}

/** Tests whose names a user asks for: all of them, those with a text in their names, or those of an expression. */
export type TestMatch = string | RegExp | null

export const hasName = (name: string, match: TestMatch): boolean =>
  match === null || (typeof match === 'string' ? name.includes(match) : match.test(name))

/** Name of the test that fails if a file ends early. It is never skipped: tests after the end did not run. */
const END = 'the file runs to its end'

/** The results of a file. */
export function testsOf({ file, report: { cases, stopped } }: FileOutcome, match: TestMatch = null): FileTests {
  const names = new Map<string, string>()
  const nameOf = (path: string) => {
    const known = names.get(path) ?? displayPath(path)
    names.set(path, known)
    return known
  }
  const tests = cases.map((each): TestResult => {
    const { name, milligas, ms } = each
    const isSkipped = !hasName(name, match)
    const [what, detail] = isSkipped ? [null, null] : [each.what, each.detail]
    const gas = milligas === null ? null : Math.ceil(milligas / 1000)
    return {
      name,
      at: placeText(nameOf(each.file), each.place),
      location: locatedAt(each),
      isEnd: false,
      isSkipped,
      what,
      detail,
      gas,
      milligas,
      ms,
    }
  })
  if (stopped !== null) tests.push(endOf(stopped))
  return { file, tests }
}

function endOf(stopped: NonNullable<FileOutcome['report']['stopped']>): TestResult {
  const [at, location] = [locationOf(stopped), locatedAt(stopped)]
  return {
    name: END,
    at,
    location,
    isEnd: true,
    isSkipped: false,
    what: stopped.message,
    detail: null,
    gas: null,
    milligas: null,
    ms: 0,
  }
}

const locatedAt = ({ file, place }: LocatedResult): LocatedResult => ({ file, place })

/** Something in a file; null stands for the file as a whole. */
export type LocatedResult = Pick<TestCase, 'file'> & { readonly place: TestCase['place'] | null }

/** `file:line:column`, relative to the working directory. */
export function locationOf(at: LocatedResult): string {
  return placeText(displayPath(at.file), at.place)
}

const placeText = (name: string, place: LocatedResult['place']) =>
  place === null ? name : `${name}:${place.line + 1}:${place.column + 1}`

/** Results as version 14 of the Test Anything Protocol. */
export function tapLines(files: readonly FileTests[]): string[] {
  const tests = files.flatMap((each) => each.tests.map((test) => ({ file: each.file, ...test })))
  return [
    'TAP version 14',
    `1..${tests.length}`,
    ...tests.flatMap(({ file, name, at, what, isSkipped }, i) => {
      const title = `${i + 1} - ${tapText(`${file}: ${name}`)}`
      if (what === null) return [`ok ${title}${isSkipped ? ' # SKIP its name does not match' : ''}`]
      return [`not ok ${title}`, '  ---', `  message: ${JSON.stringify(what)}`, `  at: ${JSON.stringify(at)}`, '  ...']
    }),
  ]
}

/** `#` begins a directive, and a backslash escapes it. */
function tapText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\#]/g, '\\$&')
}

/** Results as JUnit XML. The gas of a test is its output. */
export function junitReport(files: readonly FileTests[]): string {
  const suites = files.map(({ file, tests }) => ({
    name: file,
    file,
    cases: tests.map((test) => junitCase(file, test)),
  }))
  return junitText('newcut test', suites, (cases) => ({
    tests: cases.length,
    failures: cases.filter(({ failure }) => failure !== undefined).length,
    errors: 0,
    skipped: cases.filter(({ skipped }) => skipped !== undefined).length,
    time: seconds(cases.reduce((sum, { ms }) => sum + ms / 1000, 0)),
  }))
}

/** At most three decimal places, as the schema has it. */
const seconds = (count: number) => count.toFixed(3)

function junitCase(classname: string, test: TestResult): JunitCase & { readonly ms: number } {
  const { name, at, what, gas, isSkipped, ms } = test
  return {
    ms,
    attributes: { classname, name, time: seconds(ms / 1000) },
    ...(gas !== null && !isSkipped && { output: `gas ${gas}` }),
    ...(isSkipped && { skipped: 'its name does not match' }),
    ...(what !== null && { failure: { message: what, text: [`${at}: ${what}`, ...detailLines(test)].join('\n') } }),
  }
}

/** The parts of a failure as plain lines. */
function detailLines({ detail }: TestResult): string[] {
  if (detail === null) return []
  return detail.parts.flatMap(({ label, lines }) => [`${label}:`, ...lines.map((line) => `  ${line}`)])
}

/**
 * Failures as commands of GitHub workflows, which show them beside the code.
 * @param root folder of the repository
 */
export function annotationLines(files: readonly FileTests[], root: string): string[] {
  const pathOf = (file: string) => relative(root, file).replaceAll(sep, '/')
  const failed = files.flatMap(({ tests }) => tests.filter(({ what }) => what !== null))
  return failed.map((test) => {
    const { file, place } = test.location
    const at = place === null ? {} : { line: place.line + 1, col: place.column + 1 }
    const properties = Object.entries({ file: pathOf(file), ...at, title: test.name })
    const texts = properties.map(([name, value]) => `${name}=${propertyText(String(value))}`).join(',')
    return `::error ${texts}::${commandText([test.what ?? '', ...detailLines(test)].join('\n'))}`
  })
}

/** The characters that end a command, or begin an escape. */
const commandText = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
/** A property also ends at a colon or a comma. */
const propertyText = (text: string) => commandText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
