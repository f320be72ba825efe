/** Results of tests as XML in the JUnit format, as the schema of the xUnit plugin of Jenkins has it. */

/** Attributes in their order. */
type Attributes = Readonly<Record<string, string | number>>

export interface JunitCase {
  /** Such as the names of the suite and the test, its file, its line and its seconds. */
  readonly attributes: Attributes
  /** Its output. */
  readonly output?: string
  /** The message of a failure, and more about it. */
  readonly failure?: { readonly message: string; readonly text?: string }
  /** Why it did not run. */
  readonly skipped?: string
}

interface JunitSuite<T extends JunitCase> {
  readonly name: string
  /** The file of its tests. */
  readonly file?: string
  readonly cases: readonly T[]
}

/**
 * Writes a document.
 * @param totalsOf attributes with the sums of cases
 * @returns lines that end with a line feed
 */
export function junitText<T extends JunitCase>(
  name: string,
  suites: readonly JunitSuite<T>[],
  totalsOf: (cases: readonly T[]) => Attributes,
): string {
  const sums = totalsOf(suites.flatMap(({ cases }) => cases))
  // Only suites count skipped tests in the schema.
  const all = Object.fromEntries(Object.entries(sums).filter(([sum]) => sum !== 'skipped'))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributesText({ name, ...all })}>`,
    ...suites.flatMap(({ name: suite, file, cases }) => [
      `  <testsuite${attributesText({ name: suite, ...totalsOf(cases), ...(file !== undefined && { file }) })}>`,
      ...cases.flatMap(caseLines),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function caseLines({ attributes, output, failure, skipped }: JunitCase): string[] {
  const parts = [
    ...(skipped === undefined ? [] : [element('skipped', { message: skipped })]),
    ...(failure === undefined ? [] : [element('failure', { message: failure.message }, failure.text)]),
    ...(output === undefined ? [] : [element('system-out', {}, output)]),
  ]
  if (parts.length === 0) return [`    ${element('testcase', attributes)}`]
  return [`    <testcase${attributesText(attributes)}>`, ...parts.map((part) => `      ${part}`), '    </testcase>']
}

function element(name: string, attributes: Attributes, text?: string): string {
  const start = `<${name}${attributesText(attributes)}`
  return text === undefined ? `${start}/>` : `${start}>${xml(text)}</${name}>`
}

const attributesText = (attributes: Attributes) =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${xml(String(value))}"`)
    .join('')

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
