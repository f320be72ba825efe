/** Results of test files as lines for people: marks, names, times, gas, and the code of failures. */
import { countText, type Output, type ProcessEnvironment, painter, textWidth } from '#faces/cli/line.ts'
import type { FileOutcome } from '#language/testing/files.ts'
import { countTests, type FileTests, locationOf, type TestCounts, type TestResult } from '#language/testing/results.ts'
import { differenceLines, labelledLines } from './difference-lines.ts'
import { fitText, type ResultStyle, SourceFrames } from './source-frame.ts'
import { withoutControls } from './value-lines.ts'

/** A file that has run alone lists at most so many tests that passed. */
const MAX_LISTED = 40
/** Names in a pipe are padded up to this width. */
const PIPED_NAME = 60
/** Names keep at least so many columns. */
const LEAST_NAME = 12
/** Columns of the mark and the spaces around it. */
const MARK_INDENT = 4

/** How the tests of a file are shown. */
interface FileViewOptions {
  /** Whether it is the only file, whose counts the total has. */
  readonly isAlone: boolean
  /** Whether all tests are listed, whatever their number. */
  readonly listsAll: boolean
}

const MARKS: Readonly<Record<keyof TestCounts, string>> = { passed: '✓', failed: '✗', skipped: '○' }
/** For terminals and logs without these characters. */
const PLAIN_MARKS: Readonly<Record<keyof TestCounts, string>> = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }
const STYLES = { passed: 'green', failed: 'red', skipped: 'yellow' } as const

/** Prints results in the way of an output. */
export class TestLines {
  readonly #style: ResultStyle
  readonly #marks: Readonly<Record<keyof TestCounts, string>>
  readonly #frames = new SourceFrames()

  constructor(out: Output, environment: ProcessEnvironment) {
    this.#style = { paint: painter(out, environment), columns: out.isTTY === true ? out.columns : undefined }
    this.#marks = hasUnicode(environment) ? MARKS : PLAIN_MARKS
  }

  /** A file with the tests that are worth a line. @param between lines below its name, such as those that it printed */
  fileLines(
    { tests, file }: FileTests,
    outcome: Pick<FileOutcome, 'ms' | 'report'>,
    { isAlone, listsAll }: FileViewOptions,
    between: readonly string[] = [],
  ): string[] {
    this.#frames.clear()
    const counts = countTests(tests)
    const verdict = counts.failed > 0 ? 'failed' : 'passed'
    const listed = tests.filter((test) => {
      if (test.what !== null || listsAll) return true
      return isAlone && !test.isSkipped && tests.length <= MAX_LISTED
    })
    const sum = isAlone ? '' : countsText(counts, outcome.report.stopped !== null)
    const facts = [sum, spentText(outcome.ms)].filter((text) => text !== '')
    return [
      `${this.#mark(verdict)} ${file}  ${this.#style.paint('dim', facts.join('  '))}`,
      ...between,
      ...this.#rows(listed, outcome),
    ]
  }

  /** The last line. Its beginning is the same everywhere, for scripts. */
  totalLine({ passed, failed, skipped }: TestCounts, files: number, ms: number): string {
    const parts = [
      `${passed} passed`,
      `${failed} failed`,
      `${skipped} skipped`,
      countText(files, 'file'),
      spentText(ms),
    ]
    return this.#style.paint(failed > 0 ? 'red' : 'green', parts.join(', '))
  }

  #mark(verdict: keyof TestCounts): string {
    return this.#style.paint(STYLES[verdict], this.#marks[verdict])
  }

  #rows(tests: readonly TestResult[], { report }: Pick<FileOutcome, 'report'>): string[] {
    const figures = tests.map((test) => (test.isSkipped ? '' : figuresOf(test)))
    const names = tests.map(({ name }) => withoutControls(name).replaceAll(/\s+/g, ' '))
    const widest = Math.max(0, ...figures.map((text) => text.length))
    const { columns } = this.#style
    const indent = MARK_INDENT + this.#marks.passed.length - 1
    const room =
      columns === undefined
        ? Math.min(PIPED_NAME, Math.max(0, ...names.map((name) => textWidth(name))))
        : Math.max(LEAST_NAME, Math.min(columns - indent - widest - 2, ...[longestOf(names)]))
    return tests.flatMap((test, i) => {
      const verdict = verdictOf(test)
      const shown = test.isEnd ? 'the file ends early' : names[i]
      // The name of a failure stays whole.
      const fitted = verdict === 'failed' || columns === undefined ? shown : fitText(shown, room)
      const padded = fitted + ' '.repeat(Math.max(0, room - textWidth(fitted)))
      const row = `  ${this.#mark(verdict)} ${figures[i] === '' ? fitted : `${padded}  ${this.#style.paint('dim', figures[i].padStart(widest))}`}`
      if (test.what === null) return [row]
      return [
        row,
        ...this.#failureLines(test, test.isEnd ? report.stopped : null).map((line) =>
          line === '' ? '' : `    ${line}`,
        ),
      ]
    })
  }

  #failureLines(test: TestResult, stopped: FileOutcome['report']['stopped']): string[] {
    const { what, detail, location, at } = test
    const { columns, paint } = this.#style
    const style = { paint, columns: columns === undefined ? undefined : columns - MARK_INDENT }
    const callers = stopped?.calledAt ?? null
    const frame = this.#frames.frame(location, style)
    const lines = detail === null ? textLines(what ?? '') : detailLines(detail, style)
    return [
      paint('cyan', at),
      ...frame,
      ...(callers === null
        ? []
        : [`called at ${paint('cyan', locationOf(callers))}`, ...this.#frames.frame(callers, style)]),
      ...lines,
      ...this.#causeLines(detail?.cause ?? null, style),
      '',
    ]
  }

  /** Where the code under test failed. */
  #causeLines(cause: NonNullable<TestResult['detail']>['cause'], style: ResultStyle): string[] {
    if (cause === null) return []
    const frame = this.#frames.frame(cause, style)
    return frame.length === 0 ? [] : [`failed at ${style.paint('cyan', locationOf(cause))}`, ...frame]
  }
}

const longestOf = (names: readonly string[]) => Math.max(0, ...names.map((name) => textWidth(name)))

function verdictOf({ what, isSkipped }: TestResult): keyof TestCounts {
  if (isSkipped) return 'skipped'
  return what === null ? 'passed' : 'failed'
}

function detailLines({ parts, areComparable }: NonNullable<TestResult['detail']>, style: ResultStyle): string[] {
  const shown = parts.map(({ label, lines }) => ({ label, lines: lines.flatMap(textLines) }))
  const [expected, actual] = shown
  if (areComparable) return differenceLines(expected.lines, actual.lines, style)
  return shown.flatMap(({ label, lines }) => labelledLines(label, lines))
}

const textLines = (text: string) => withoutControls(text).split('\n')

/** `12 tests`, or how many of them failed. */
function countsText({ passed, failed, skipped }: TestCounts, hasEnded: boolean): string {
  const wrong = hasEnded ? failed - 1 : failed
  const all = passed + wrong
  return [
    wrong === 0 ? countText(all, 'test') : `${wrong} of ${countText(all, 'test')} failed`,
    ...(hasEnded ? ['ended early'] : []),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
  ].join(', ')
}

/** Time and gas in columns. */
function figuresOf({ ms, gas, isEnd }: TestResult): string {
  if (isEnd) return ''
  const gasText = gas === null ? '' : `${gas.toLocaleString('en')} gas`
  return `${spentText(ms).padStart(6)}  ${gasText.padStart(9)}`.trimEnd()
}

const MINUTE_MS = 60_000

/** Three digits or so, with the unit. */
function spentText(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`
  return `${Math.floor(ms / MINUTE_MS)} min ${Math.round((ms % MINUTE_MS) / 1000)} s`
}

/** Whether an output shows more than ASCII: as the locale says, or on Windows its modern terminals. */
function hasUnicode({ LC_ALL, LC_CTYPE, LANG, WT_SESSION, TERM_PROGRAM, TERM }: ProcessEnvironment): boolean {
  if (TERM === 'dumb') return false
  const locale = LC_ALL || LC_CTYPE || LANG || ''
  if (/utf-?8/i.test(locale)) return true
  return locale === '' && (WT_SESSION !== undefined || TERM_PROGRAM !== undefined)
}
