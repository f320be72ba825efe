/** Results of a test file beside its expectations. */
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import { type ParsedFile, wordOf } from '../text/parsed-file.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'

interface LineColumn {
  readonly line: number
  readonly column: number
}

/** Report of `newcut test --json`. */
export interface TestFileReport {
  readonly passed: number
  readonly failures: readonly {
    readonly file: string
    readonly place: LineColumn
    readonly name: string
    readonly what: string
  }[]
  readonly stopped: { readonly file: string; readonly place: LineColumn | null; readonly message: string } | null
}

export interface TestLens extends OffsetRange {
  readonly title: string
  /** True for the one that runs the file. */
  readonly runs: boolean
}

const EXPECTATIONS: ReadonlySet<string> = new Set(['expect', 'expect-failure', 'expect-that'])
/** Maximum length of a title: editors show it in one line above the code. */
const MAX_TITLE = 100

/** A lens that runs the file. With a report, one lens for each expectation shows its result. */
export function testLenses(parsed: ParsedFile, report: TestFileReport | null): TestLens[] {
  const top = { from: 0, to: 0 }
  if (report === null) return [{ title: 'run test', runs: true, ...top }]
  const failed = report.failures.length
  const end = report.stopped === null ? '' : ', ended early'
  const summary = `run test: ${report.passed} passed, ${failed} failed${end}`
  const stop = report.stopped?.file === parsed.file ? report.stopped.place : null
  const stopOffset = stop === null ? Number.POSITIVE_INFINITY : parsed.lines.offsetOf(stop)
  const results = expectationsOf(parsed.forms).map((form) => {
    const failure = report.failures.find(({ file, place }) => {
      return file === parsed.file && parsed.lines.offsetOf(place) === form.from
    })
    const result = form.from < stopOffset ? 'passed' : 'not reached'
    const title = failure === undefined ? result : `failed: ${failure.what}`
    return { title: shorten(title), runs: false, from: form.from, to: form.to }
  })
  return [{ title: summary, runs: true, ...top }, ...results]
}

/** Failed expectations, and an early end, as findings of the file. */
export function testFindings(parsed: ParsedFile, report: TestFileReport): CodeFinding[] {
  const own = report.failures.filter(({ file }) => file === parsed.file)
  const failures = own.map(({ place, name, what }): CodeFinding => {
    const from = parsed.lines.offsetOf(place)
    const form = expectationsOf(parsed.forms).find((each) => each.from === from)
    return { severity: 'error', code: 'failed-test', message: `${name}: ${what}`, from, to: form?.to ?? from + 1 }
  })
  const { stopped } = report
  if (stopped === null) return failures
  const from = stopped.file === parsed.file && stopped.place !== null ? parsed.lines.offsetOf(stopped.place) : 0
  const elsewhere = stopped.file === parsed.file ? '' : ` (in ${stopped.file})`
  const line = parsed.text.indexOf('\n', from)
  const to = line < 0 ? parsed.text.length : line
  const message = `the test ended here: ${stopped.message}${elsewhere}`
  return [...failures, { severity: 'error', code: 'failed-test', message, from, to }]
}

function shorten(title: string): string {
  const [line] = title.split('\n', 1)
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}...` : line
}

function expectationsOf(forms: readonly Form[]): CallForm[] {
  return forms.flatMap((form) => {
    if (form.form === 'list') return expectationsOf(form.items)
    if (form.form !== 'call') return []
    return EXPECTATIONS.has(wordOf(form)) ? [form] : expectationsOf(form.items)
  })
}
