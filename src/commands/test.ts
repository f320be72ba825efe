/** `newcut test`: runs test files of the contract language, and reports expected and actual values. */

import { randomInt } from 'node:crypto'
import { writeFlags } from '#faces/cli/config-file.ts'
import { countText, painter } from '#faces/cli/line.ts'
import type { Values } from '#faces/cli/options/row.ts'
import type { testOptions } from '#faces/cli/options/test.ts'
import { writeOutput } from '#faces/cli/output-file.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import type {
  FormGas,
  FormTrace,
  PropertyRuns,
  StoppedAt,
  TestFailure,
  TestReport,
} from '#language/contracts/repl/run.ts'
import type { FileOutcome, FileRequests } from '#language/testing/files.ts'
import { type ReportPlaces, type RunReportOptions, reportRun } from '#language/testing/reports.ts'
import { type LocatedResult, locationOf, tapLines, testsOf, withMatching } from '#language/testing/results.ts'
import { findTestFiles, runTestFiles } from '#language/testing/run.ts'
import { type WatchEvents, watchFiles } from '#language/testing/watch.ts'
import { type ForkValues, forkOf } from './input/fork-setup.ts'
import { readSnapshot, writeSnapshot } from './input/snapshot-file.ts'
import { deepestFailure, failureText, traceLines } from './results/trace-lines.ts'

type TestValues = Values<typeof testOptions>

interface TestCommandOptions extends RunReportOptions {
  readonly files: readonly string[]
  readonly json: boolean
  readonly tap: boolean
  /** File for results as JUnit XML. */
  readonly junit: string | undefined
  /** File for the coverage, which lcov tools read. */
  readonly lcov: string | undefined
  /** Shows the gas of each form. */
  readonly gas: boolean
  /** Shows the steps of forms: 1 of failed ones, 2 of all, 3 with whole values. */
  readonly verbosity: number
  /** Counts only tests whose names contain it. */
  readonly match: string | undefined
  /** Number of files that run at the same time. */
  readonly jobs: number | undefined
  readonly watch: boolean
  /** How property tests draw values. */
  readonly chance: PropertyRuns
  readonly fork: ForkValues
}

/**
 * Returns the exit code: 1 when an expectation failed, a file ended early, or a check of gas or coverage failed. It is 1
 * too if no test has a name that --match asks for.
 * @param names test files, and folders of them; none stands for the working directory
 * @throws NewcutError BAD_OPTION if there is no such file, or no test file
 */
export async function runTestCommand(
  names: readonly string[],
  values: TestValues,
  context: CommandContext,
): Promise<number> {
  const { files } = findTestFiles(names, values.watch)
  if (values.mutate) return (await import('./mutate.ts')).runMutation(files, values, context)
  const options = optionsOf(files, values)
  if (!options.watch) return (await runOnce(options, context)).status
  const events: WatchEvents = {
    onWatching: (files) => void context.out.write(`watching ${countText(files, 'file')}: Ctrl-C ends\n`),
    onChange: (name) => void context.out.write(`\n${name} has changed\n`),
  }
  return context.untilStopped(async (stopped) => {
    const last = await watchFiles(() => runOnce(options, context), events, stopped)
    return last?.status ?? 0
  })
}

function optionsOf(files: readonly string[], values: TestValues): TestCommandOptions {
  const { json, tap, gas, verbose, match, junit, lcov, jobs, watch, check, tolerance, seed, runs } = values
  const { 'gas-report': gasReport, 'gas-snapshot': gasSnapshot, 'coverage-min': coverageMin = null } = values
  const hasCoverage = values.coverage || lcov !== undefined || coverageMin !== null
  return {
    files,
    json,
    tap,
    gas,
    verbosity: verbose,
    match,
    junit,
    lcov,
    jobs,
    watch,
    check,
    tolerance,
    gasReport,
    gasSnapshot,
    coverageMin,
    fork: values,
    chance: { seed: seed ?? randomInt(2 ** 32 - 1), runs },
    coverage: hasCoverage ? { dependencies: values['coverage-all'], excluded: values['coverage-exclude'] ?? [] } : null,
  }
}

/** Runs all files. @returns the exit code, and the files that the runs read */
async function runOnce(
  options: TestCommandOptions,
  context: CommandContext,
): Promise<{ readonly status: number; readonly read: readonly string[] }> {
  const print = printerTo(context.out)
  const outcomes = (await outcomesOf(options, context)).map((outcome) => {
    return options.match === undefined ? outcome : withMatching(outcome, options.match)
  })
  const tests = outcomes.map((outcome) => testsOf(outcome, locationOf))
  if (options.tap) for (const line of tapLines(tests)) print(line)
  else for (const outcome of outcomes) printOutcome(outcome, options, context)
  const sum = (of: (report: TestReport) => number) => outcomes.reduce((all, { report }) => all + of(report), 0)
  const failed = sum(({ failures, stopped }) => failures.length + (stopped === null ? 0 : 1))
  if (!options.json && !options.tap) print(`${sum(({ passed }) => passed)} passed, ${failed} failed`)
  const hasNone = options.match !== undefined && failed === 0 && sum(({ passed }) => passed) === 0
  if (hasNone) context.err.write(`no test has a name that contains ${JSON.stringify(options.match)}\n`)
  const isFine = reportRun(outcomes, tests, options, reportPlaces(options, context))
  return { status: failed === 0 && isFine && !hasNone ? 0 : 1, read: outcomes.flatMap(({ read }) => read) }
}

/** Reports go to stderr if stdout is for a program. */
function reportPlaces({ json, tap, junit, lcov }: TestCommandOptions, { out, err }: CommandContext): ReportPlaces {
  return {
    print: printerTo(json || tap ? err : out),
    writeJunit: junit === undefined ? null : (text) => writeOutput('--junit', junit, text),
    writeLcov: lcov === undefined ? null : (text) => writeOutput('--lcov', lcov, text),
    readSnapshot,
    writeSnapshot,
  }
}

/** On a fork, files run one after the other: what one of them has fetched serves the next. */
async function outcomesOf(options: TestCommandOptions, context: CommandContext): Promise<FileOutcome[]> {
  const { files, fork, jobs } = options
  const questions = questionsOf(options)
  if (fork.fork === undefined) return forkedWhere(await runTestFiles(files, questions, jobs), options, context)
  const { openTestFork, runOnFork } = await import('#language/testing/fork.ts')
  const { costLine, forkLine } = await import('./results/fork-lines.ts')
  const tell = printerTo(context.err)
  const opened = await openTestFork(forkOf(fork.fork, fork, context.environment), '`fork.chains`', (line) =>
    tell(writeFlags(line)),
  )
  tell(forkLine(opened.pin, opened.source.block.chain))
  const outcomes: FileOutcome[] = []
  for (const file of files) outcomes.push(await runOnFork(file, questions, opened))
  tell(costLine(opened.remote))
  return outcomes
}

/** Runs the files that fork a network themselves. */
async function forkedWhere(
  outcomes: readonly (FileOutcome | null)[],
  options: TestCommandOptions,
  { err, environment }: CommandContext,
): Promise<FileOutcome[]> {
  if (outcomes.every((outcome) => outcome !== null)) return [...outcomes]
  const tell = printerTo(err)
  const { costLine, envForkLine } = await import('./results/fork-lines.ts')
  const { envForkOptions } = await import('./input/env-fork.ts')
  const forks = new (await import('#language/testing/env-forks.ts')).EnvForks({
    optionsOf: (call) => envForkOptions(call, environment),
    onOpened: ({ pin, source }, { url }) => tell(envForkLine(pin, source.block.chain, url)),
    onNotice: (line) => tell(writeFlags(line)),
  })
  const all: FileOutcome[] = []
  for (const [i, outcome] of outcomes.entries()) {
    all.push(outcome ?? (await forks.run(options.files[i], questionsOf(options))))
  }
  for (const { remote } of forks.opened) tell(costLine(remote))
  return all
}

function questionsOf({ verbosity, gasReport, coverage, chance }: TestCommandOptions): FileRequests {
  const traces = (['none', 'failed', 'all'] as const)[Math.min(verbosity, 2)]
  return { traces, hasGas: gasReport, coverage, runs: chance }
}

function printOutcome(
  { file, report, findings }: FileOutcome,
  options: TestCommandOptions,
  context: CommandContext,
): void {
  const print = printerTo(context.out)
  const { gas, cases, ...rest } = report
  if (options.json) {
    const traces = options.verbosity > 0 ? { traces: findings.traces.map(traceJson) } : {}
    const tests = cases.map(({ name, what, milligas, ...at }) => ({ name, at: locationOf(at), what, milligas }))
    const located = { failures: rest.failures.map(withPlace), stopped: rest.stopped && withPlace(rest.stopped) }
    print(
      JSON.stringify({
        file,
        ...rest,
        ...located,
        tests,
        ...(options.gas ? { gas: gas.map(gasJson) } : {}),
        ...traces,
      }),
    )
    return
  }
  for (const line of reportLines(file, report, options.gas)) print(line)
  for (const trace of findings.traces) for (const line of formLines(trace, options, context)) print(line)
}

/** With its place as text. `place` itself counts lines and columns from 0. */
const withPlace = <T extends LocatedResult>(at: T) => ({ ...at, at: locationOf(at) })

function gasJson({ milligas, text, ...at }: FormGas) {
  return { form: locationOf(at), text, milligas }
}

function traceJson({ form, hasFailed, trace, omitted }: FormTrace) {
  return { form: locationOf(form), hasFailed, omitted, trace }
}

/** The steps of a form, below its place. A form without steps has none. */
function formLines(
  { form, trace, hasFailed, omitted }: FormTrace,
  { verbosity }: Pick<TestCommandOptions, 'verbosity'>,
  { out, environment }: CommandContext,
): string[] {
  if (trace.children.length === 0) return []
  const isWhole = verbosity > 2
  const columns = out.isTTY === true && !isWhole ? out.columns : undefined
  const lines = traceLines([trace], { paint: painter(out, environment), columns, isWhole })
  const cause = hasFailed ? deepestFailure(trace) : null
  return [
    `${locationOf(form)}: ${hasFailed ? 'failed' : 'passed'}${omitted === 0 ? '' : `, ${omitted} steps are only counted`}`,
    ...lines,
    ...(cause === null ? [] : [failureText(cause, 'the test')]),
    '',
  ]
}

const SHOWN_CHARACTERS = 60

/** The gas of each form and of all, in gas with three decimal places. */
function gasLines(forms: readonly FormGas[]): string[] {
  const gasColumn = (milligas: number) => (milligas / 1000).toFixed(3).padStart(14)
  const rows = forms.map(({ milligas, text, ...at }) => {
    const start = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
    return `${gasColumn(milligas)}  ${locationOf(at)}: ${start}`
  })
  const total = forms.reduce((sum, { milligas }) => sum + milligas, 0)
  return [...rows, `${gasColumn(total)}  gas in total`]
}

/** Where a test calls the code of another file that failed. */
function callerOf({ calledAt }: StoppedAt): string {
  return calledAt === null ? '' : ` (called at ${locationOf(calledAt)})`
}

function reportLines(
  file: string,
  { passed, failures, gas, output, stopped }: TestReport,
  showsGas: boolean,
): string[] {
  const failure = (each: TestFailure) => `  FAILED ${locationOf(each)}: ${each.name}: ${each.what}`
  return [
    ...output.map((line) => `  ${line}`),
    ...(showsGas ? gasLines(gas) : []),
    ...failures.map(failure),
    ...(stopped === null ? [] : [`  STOPPED ${locationOf(stopped)}: ${stopped.message}${callerOf(stopped)}`]),
    `${file}: ${passed} passed, ${failures.length} failed${stopped === null ? '' : ', ended early'}`,
  ]
}
