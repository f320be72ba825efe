/** Results of contract tests for other programs: TAP and JUnit. */
import type { TestCase } from '../contracts/repl/run.ts'
import type { FileOutcome } from './files.ts'

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

/** @param placeOf a place as `file:line:column` */
export function testsOf(
  { file, report: { cases, stopped } }: FileOutcome,
  placeOf: (at: AtPlace) => string,
): FileTests {
  const tests = cases.map((each) => {
    const { name, what, milligas } = each
    return { name, at: placeOf(each), what, gas: milligas === null ? null : Math.ceil(milligas / 1000) }
  })
  if (stopped !== null)
    tests.push({ name: 'the file runs to its end', at: placeOf(stopped), what: stopped.message, gas: null })
  return { file, tests }
}

type AtPlace = Pick<TestCase, 'file'> & { readonly place: TestCase['place'] | null }

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

/** Results as XML that CI servers read. Gas is a property of a test, since tests take no time worth telling. */
export function junitText(files: readonly FileTests[]): string {
  const all = files.flatMap(({ tests }) => tests)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="newcut contract" ${counts(all)}>`,
    ...files.flatMap(({ file, tests }) => [
      `  <testsuite name="${xml(file)}" ${counts(tests)}>`,
      ...tests.flatMap((test) => testCase(file, test)),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function counts(tests: FileTests['tests']): string {
  return `tests="${tests.length}" failures="${tests.filter(({ what }) => what !== null).length}" errors="0"`
}

function testCase(file: string, { name, at, what, gas }: FileTests['tests'][number]): string[] {
  const line = /:(\d+):\d+$/.exec(at)?.[1]
  const place = line === undefined ? '' : ` line="${line}"`
  const properties = gas === null ? [] : [`      <properties><property name="gas" value="${gas}"/></properties>`]
  const failure = what === null ? [] : [`      <failure message="${xml(what)}">${xml(`${at}: ${what}`)}</failure>`]
  const source = xml(at.replace(/:\d+:\d+$/, ''))
  const head = `    <testcase classname="${xml(file)}" name="${xml(name)}" file="${source}"${place}>`
  return [head, ...properties, ...failure, '    </testcase>']
}

/** Characters that XML 1.0 does not allow. */
const INVALID = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
}

function xml(text: string): string {
  return text.replace(INVALID, '\uFFFD').replace(/[&<>"\n]/g, (character) => ENTITIES[character])
}
