/** The results of a test file as one line of JSON. */
import type { FormGas, FormTrace } from '#language/contracts/repl/run.ts'
import type { FileOutcome } from '#language/testing/files.ts'
import {
  countTests,
  type FileTests,
  type LocatedResult,
  locationOf,
  type TestResult,
} from '#language/testing/results.ts'

interface JsonOptions {
  readonly gas: boolean
  readonly verbosity: number
}

/** Tests whose names do not match are among the tests, as skipped ones. */
export function fileJson(
  { file, report, findings, ms }: FileOutcome,
  { tests }: FileTests,
  { gas, verbosity }: JsonOptions,
): string {
  const shown = tests.filter(({ isEnd }) => !isEnd)
  const { passed, skipped } = countTests(shown)
  return JSON.stringify({
    file,
    passed,
    skipped,
    failures: shown.filter(({ what }) => what !== null).map(failureJson),
    output: report.output,
    stopped: report.stopped && { ...report.stopped, at: locationOf(report.stopped) },
    tests: shown.map(testJson),
    ms,
    ...(gas ? { gas: report.gas.map(gasJson) } : {}),
    ...(verbosity > 0 ? { traces: findings.traces.map(traceJson) } : {}),
  })
}

/** `place` itself counts lines and columns from 0. */
const failureJson = ({ location, name, what, at }: TestResult) => ({ ...location, name, what, at })

function testJson({ name, at, isSkipped, what, milligas, ms, detail }: TestResult) {
  const parts = detail?.parts.map(({ label, lines }) => [label, lines] as const) ?? []
  const skipped = isSkipped ? { skipped: true } : {}
  return { name, at, what, milligas, ms, ...skipped, ...(parts.length > 0 && { parts: Object.fromEntries(parts) }) }
}

function gasJson({ milligas, text, ...at }: FormGas) {
  return { form: locationOf(at satisfies LocatedResult), text, milligas }
}

function traceJson({ form, hasFailed, trace, omitted }: FormTrace) {
  return { form: locationOf(form), hasFailed, omitted, trace }
}
