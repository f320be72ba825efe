/** `newcut test`: runs test files of the contract language, and shows their results. */

import { randomInt } from 'node:crypto'
import { writeFlags } from '#faces/cli/config-file.ts'
import { painter } from '#faces/cli/line.ts'
import type { Values } from '#faces/cli/options/row.ts'
import type { testOptions } from '#faces/cli/options/test.ts'
import { writeOutput } from '#faces/cli/output-file.ts'
import { type ProgressBar, progressBarFor } from '#faces/cli/progress.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import type { FormGas, FormTrace, PropertyRuns } from '#language/contracts/repl/run.ts'
import type { FileOutcome, FileRequests } from '#language/testing/files.ts'
import { type ReportPlaces, type RunReportOptions, reportRun } from '#language/testing/reports.ts'
import { countTests, type FileTests, locationOf, type TestMatch, tapLines, testsOf } from '#language/testing/results.ts'
import { type FoundFiles, findTestFiles, streamTestFiles } from '#language/testing/run.ts'
import type { WatchedRun } from '#language/testing/watch.ts'
import { commandErrors } from './input/errors.ts'
import { type ForkValues, forkOf } from './input/fork-setup.ts'
import { readSnapshot, writeSnapshot } from './input/snapshot-file.ts'
import { fileJson } from './results/test-json.ts'
import { TestLines } from './results/test-lines.ts'
import { deepestFailure, failureText, traceLines } from './results/trace-lines.ts'

type TestValues = Values<typeof testOptions>

interface TestCommandOptions extends Omit<RunReportOptions, 'folders'> {
  readonly tap: boolean
  /** Prints annotations of GitHub workflows. */
  readonly github: boolean
  /** File for results as JUnit XML. */
  readonly junit: string | undefined
  /** File for the coverage, which lcov tools read. */
  readonly lcov: string | undefined
  /** Shows the gas of each form. */
  readonly gas: boolean
  /** Lists all tests, and shows the steps of forms: 1 of failed ones, 2 of all, 3 with whole values. */
  readonly verbosity: number
  /** Number of files that run at the same time. */
  readonly jobs: number | undefined
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
  if (values.mutate) {
    return (await import('./mutate.ts')).runMutation(findTestFiles(names).files, values, context)
  }
  const suite = new Suite(optionsOf(values, context), context)
  if (!values.watch) {
    const found = findTestFiles(names)
    return (await suite.run(found.files, found)).status
  }
  const { runWatch } = await import('./results/test-watch.ts')
  return runWatch(names, suite, context)
}

function optionsOf(values: TestValues, { environment }: CommandContext): TestCommandOptions {
  const { json, tap, gas, verbose, match, junit, lcov, jobs, check, tolerance, seed, runs, github } = values
  const { 'gas-report': gasReport, 'gas-snapshot': gasSnapshot, 'coverage-min': coverageMin = null } = values
  const hasCoverage = values.coverage || lcov !== undefined || coverageMin !== null
  return {
    json,
    tap,
    gas,
    verbosity: verbose,
    match: match === undefined ? null : matchOf(match),
    github: github || environment.GITHUB_ACTIONS === 'true',
    junit,
    lcov,
    jobs,
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

/** A text between slashes is an expression, which may have flags at its end. @throws NewcutError BAD_OPTION */
function matchOf(text: string): NonNullable<TestMatch> {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
  if (source === undefined) return text
  try {
    // Each name is matched from its start.
    return new RegExp(source, flags.replace(/[gy]/g, ''))
  } catch (error) {
    const why = describeError(error).replace(/^Invalid regular expression: (?:\/.*\/\w*: )?/s, '')
    throw operatingError(commandErrors.wrongMatch, { text, why }, error)
  }
}

/** The files of a command. It keeps their last results, so that reports of a later run of some files have all. */
class Suite {
  readonly #options: TestCommandOptions
  readonly #context: CommandContext
  readonly #outcomes = new Map<string, FileOutcome>()
  readonly #lines: TestLines
  readonly #bar: ProgressBar

  constructor(options: TestCommandOptions, context: CommandContext) {
    const { err, environment, nowMs } = context
    this.#options = options
    this.#bar = progressBarFor(err, environment, nowMs, options.json || options.tap)
    this.#context = this.#bar.wrapTerminal(context)
    this.#lines = new TestLines(context.out, context.environment)
  }

  /** Runs these files of all, and prints each result as soon as those before it are there. */
  async run(files: readonly string[], found: FoundFiles, signal?: AbortSignal): Promise<WatchedRun> {
    const { json, tap, match } = this.#options
    const print = printerTo(this.#context.out)
    const startedMs = performance.now()
    const tests: FileTests[] = []
    const showProgress = () => {
      const progress = { what: 'running tests', done: tests.length, total: files.length }
      this.#bar.update(files.length > 1 ? progress : { ...progress, unit: 'file' })
    }
    showProgress()
    try {
      for await (const outcome of outcomesOf(files, this.#options, this.#context, signal)) {
        this.#outcomes.set(outcome.file, outcome)
        const results = testsOf(outcome, match)
        tests.push(results)
        if (!tap) for (const line of this.#textOf(outcome, results, found.files.length === 1)) print(line)
        showProgress()
      }
    } finally {
      this.#bar.clear()
    }
    if (tap) for (const line of tapLines(tests)) print(line)
    const counts = countTests(tests.flatMap((each) => each.tests))
    const hasNone = match !== null && counts.failed === 0 && counts.passed === 0
    if (hasNone) this.#context.err.write(`no test has a name that ${matchText(match)}\n`)
    let isFine = false
    try {
      isFine = this.#report(found)
    } finally {
      if (!json && !tap) print(this.#lines.totalLine(counts, files.length, performance.now() - startedMs))
    }
    return {
      status: counts.failed === 0 && isFine && !hasNone ? 0 : 1,
      read: new Map(files.map((file) => [file, this.#outcomes.get(file)?.read ?? []])),
      failed: tests.filter((each) => countTests(each.tests).failed > 0).map(({ file }) => file),
    }
  }

  #textOf(outcome: FileOutcome, results: FileTests, isAlone: boolean): string[] {
    const { json, verbosity, gas } = this.#options
    const { report, findings } = outcome
    if (json) return [fileJson(outcome, results, this.#options)]
    const between = [...report.output.map((line) => `  ${line}`), ...(gas ? gasLines(report.gas) : [])]
    return [
      ...this.#lines.fileLines(results, outcome, { isAlone, listsAll: verbosity > 0 }, between),
      ...findings.traces.flatMap((trace) => formLines(trace, this.#options, this.#context)),
    ]
  }

  /** Reports on all files. They go to stderr if stdout is for a program. @returns false if a check failed */
  #report({ files, folders }: FoundFiles): boolean {
    const { out, err, environment } = this.#context
    const { json, tap, junit, lcov, github, match } = this.#options
    const outcomes = files.flatMap((file) => this.#outcomes.get(file) ?? [])
    const print = printerTo(json || tap ? err : out)
    const places: ReportPlaces = {
      print,
      annotate: github ? { print, root: environment.GITHUB_WORKSPACE ?? process.cwd() } : null,
      writeJunit: junit === undefined ? null : (text) => writeOutput('--junit', junit, text),
      writeLcov: lcov === undefined ? null : (text) => writeOutput('--lcov', lcov, text),
      readSnapshot,
      writeSnapshot,
    }
    const tests = outcomes.map((outcome) => testsOf(outcome, match))
    return reportRun(outcomes, tests, { ...this.#options, folders }, places)
  }
}

const matchText = (match: NonNullable<TestMatch>) =>
  typeof match === 'string' ? `contains ${JSON.stringify(match)}` : `matches ${match}`

/** On a fork, files run one after the other: what one of them has fetched serves the next. */
async function* outcomesOf(
  files: readonly string[],
  options: TestCommandOptions,
  context: CommandContext,
  signal: AbortSignal | undefined,
): AsyncGenerator<FileOutcome> {
  const { fork, jobs } = options
  const questions = questionsOf(options)
  if (fork.fork === undefined) {
    const forks = new TestForks(questions, context)
    let next = 0
    for await (const outcome of streamTestFiles(files, questions, { jobs, signal })) {
      const file = files[next++]
      yield outcome ?? (await forks.run(file))
    }
    await forks.printCosts()
    return
  }
  const { openTestFork, runOnFork } = await import('#language/testing/fork.ts')
  const { costLine, forkLine } = await import('./results/fork-lines.ts')
  const tell = printerTo(context.err)
  const opened = await openTestFork(forkOf(fork.fork, fork, context.environment), '`fork.chains`', (line) =>
    tell(writeFlags(line)),
  )
  tell(forkLine(opened.pin, opened.source.block.chain))
  for (const file of files) {
    signal?.throwIfAborted()
    yield await runOnFork(file, questions, opened)
  }
  tell(costLine(opened.remote))
}

/** The forks of files that fork a network themselves. */
class TestForks {
  readonly #questions: FileRequests
  readonly #context: CommandContext
  #forks: import('#language/testing/env-forks.ts').EnvForks | null = null

  constructor(questions: FileRequests, context: CommandContext) {
    this.#questions = questions
    this.#context = context
  }

  async run(file: string): Promise<FileOutcome> {
    this.#forks ??= await this.#open()
    return this.#forks.run(file, this.#questions)
  }

  async printCosts(): Promise<void> {
    if (this.#forks === null) return
    const { costLine } = await import('./results/fork-lines.ts')
    for (const { remote } of this.#forks.opened) printerTo(this.#context.err)(costLine(remote))
  }

  async #open() {
    const { err, environment } = this.#context
    const tell = printerTo(err)
    const { envForkLine } = await import('./results/fork-lines.ts')
    const { envForkOptions } = await import('./input/env-fork.ts')
    const { EnvForks } = await import('#language/testing/env-forks.ts')
    return new EnvForks({
      optionsOf: (call) => envForkOptions(call, environment),
      onOpened: ({ pin, source }, { url }) => tell(envForkLine(pin, source.block.chain, url)),
      onNotice: (line) => tell(writeFlags(line)),
    })
  }
}

function questionsOf({ verbosity, gasReport, coverage, chance }: TestCommandOptions): FileRequests {
  const traces = (['none', 'failed', 'all'] as const)[Math.min(verbosity, 2)]
  return { traces, hasGas: gasReport, coverage, runs: chance }
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
