/**
 * Shows a progress line, then every failure with its output. Writes the results of each part to the file in
 * TEST_REPORT, for main.ts.
 */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { SerializedError, TestAnnotation, UserConsoleLog } from 'vitest'
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { type Screen, screenFor } from '../../src/faces/cli/screen.ts'
import { partOf } from './parts.ts'
import type { Report } from './report.ts'
import { durationText } from './text.ts'

/** Interval of progress lines without a terminal. */
const LINE_MS = 30_000
const REDRAW_MS = 500
/** Limit of a failed test's output; the end is shown. */
const MAX_OUTPUT_CHARACTERS = 4_000

export class PartReporter implements Reporter {
  /** Start of the progress line. */
  readonly #title = process.env.TEST_PART ?? ''
  readonly #screen: Screen = screenFor(process.stdout, process.env)
  readonly #startMs = performance.now()
  /** Task id -> output. */
  readonly #output = new Map<string, string>()
  readonly #running = new Set<string>()
  /** Time span of each part. */
  readonly #spans = new Map<string, { readonly startMs: number; endMs: number }>()
  #vitest: Vitest | null = null
  #files = 0
  #ended = 0
  #tests = 0
  #failed = 0
  #timer: NodeJS.Timeout | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length
    const show = () => {
      if (this.#screen.isLive) this.#screen.status(this.#line())
      else this.#screen.print(`${this.#line()}\n`)
    }
    this.#timer = setInterval(show, this.#screen.isLive ? REDRAW_MS : LINE_MS)
  }

  onTestModuleStart({ moduleId, project }: TestModule): void {
    this.#running.add(pathOf(moduleId))
    const nowMs = performance.now()
    const part = partOf(project.name)
    if (!this.#spans.has(part)) this.#spans.set(part, { startMs: nowMs, endMs: nowMs })
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(pathOf(module.moduleId))
    const span = this.#spans.get(partOf(module.project.name))
    if (span !== undefined) span.endMs = performance.now()
    this.#ended++
    // The output of concurrent tests cannot be attributed.
    if (module.state() === 'failed') this.#showOutput(module.id)
    this.#output.delete(module.id)
  }

  onUserConsoleLog({ taskId, content }: UserConsoleLog): void {
    if (taskId === undefined) return
    this.#output.set(taskId, ((this.#output.get(taskId) ?? '') + content).slice(-MAX_OUTPUT_CHARACTERS))
  }

  onTestCaseResult(test: TestCase): void {
    this.#tests++
    const { state, errors = [] } = test.result()
    if (state === 'failed') {
      this.#failed++
      this.#showFailure(`${pathOf(test.module.moduleId)}: ${test.fullName}`, test.id, errors, test.module)
    }
    this.#output.delete(test.id)
  }

  onTestCaseAnnotate({ fullName }: TestCase, { message }: TestAnnotation): void {
    this.#screen.print(`${fullName}: ${message}\n`)
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    clearInterval(this.#timer)
    this.#screen.status(null)
    const outside = new Map<string, string[]>()
    const failOutside = (part: string, what: string) => outside.set(part, [...(outside.get(part) ?? []), what])
    for (const module of modules) {
      const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())]
      if (errors.length === 0) continue
      failOutside(partOf(module.project.name), pathOf(module.moduleId))
      this.#showFailure(`${pathOf(module.moduleId)}: outside of its tests`, module.id, errors, module)
    }
    const [first = this.#title, ...others] = new Set(modules.map(({ project }) => partOf(project.name)))
    if (unhandled.length > 0) {
      failOutside(first, 'after the end of a test')
      this.#showFailure('after the end of a test', '', unhandled)
    }
    const { TEST_REPORT: file } = process.env
    const reports = [first, ...others].map((part): Report => {
      const { startMs = 0, endMs = 0 } = this.#spans.get(part) ?? {}
      const own = modules.filter(({ project }) => partOf(project.name) === part)
      return { part, ...figuresOf(own), outside: outside.get(part) ?? [], tookMs: Math.round(endMs - startMs) }
    })
    if (file !== undefined) writeFileSync(file, JSON.stringify(reports))
  }

  #line(): string {
    const took = durationText(performance.now() - this.#startMs)
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`
    const [now = ''] = this.#running
    const more = this.#running.size > 1 ? ` and ${this.#running.size - 1} more` : ''
    const line = `${this.#title}: ${this.#ended} of ${this.#files} files, ${this.#tests} tests${failed}, ${took}  ${now}${more}`
    return line.trimEnd().slice(0, (process.stdout.columns ?? Number.POSITIVE_INFINITY) - 1)
  }

  #showFailure(title: string, id: string, errors: readonly SerializedError[], module?: TestModule): void {
    this.#screen.status(null)
    process.stdout.write(`\nFAILED: ${title}\n`)
    for (const error of errors) this.#vitest?.logger.printError(error, module && { project: module.project })
    this.#showOutput(id)
  }

  #showOutput(id: string): void {
    const output = this.#output.get(id)
    if (output !== undefined) process.stdout.write(`its output:\n${output.replace(/^/gm, '    ')}\n`)
    this.#output.delete(id)
  }
}

function figuresOf(modules: readonly TestModule[]): Omit<Report, 'part' | 'outside' | 'tookMs'> {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const of = (state: string) => tests.filter((test) => test.result().state === state)
  const skipped = of('skipped').map((test) => {
    const result = test.result()
    const reason = result.state === 'skipped' ? result.note : undefined
    return { test: `${pathOf(test.module.moduleId)}: ${test.fullName}`, reason: reason ?? 'no reason given' }
  })
  return {
    passed: of('passed').length,
    failed: of('failed').map((test) => `${pathOf(test.module.moduleId)}: ${test.fullName}`),
    skipped,
    files: modules.map((module) => ({
      path: pathOf(module.moduleId),
      tookMs: Math.round(module.diagnostic().duration),
      processorSeconds: secondsOf(module),
    })),
  }
}

/** CPU time that test/measure-cost.ts has measured. */
function secondsOf(module: TestModule): number | null {
  const seconds: unknown = Reflect.get(module.meta(), 'processorSeconds')
  return typeof seconds === 'number' ? seconds : null
}

const pathOf = (moduleId: string) => relative(process.cwd(), moduleId)
