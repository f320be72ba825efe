/** Follows a run of test files for traces, a report of gas, and coverage. */
import type { FileCounts } from '../coverage/counts.ts'
import { Coverage } from '../coverage/coverage.ts'
import type { ExpansionProbe } from '../machine/expand/probe.ts'
import type { Term } from '../machine/term.ts'
import type { Tracer, TraceStep } from '../machine/tracer.ts'
import { type FormTrace, FormTraces } from '../trace/form-traces.ts'
import { type GasCalls, GasReport } from '../trace/gas-report.ts'
import type { FormStart, ObservedRun, RunObserver } from '../trace/observer.ts'

export { type BranchCount, type FileCounts, type FunctionCount, lineHits, mergeCounts } from '../coverage/counts.ts'
export type { DeployedSize } from '../machine/tracer.ts'
export { type GasCalls, GasReport, type GasRow, type GasRowKind } from '../trace/gas-report.ts'

/** Questions about a run. */
export interface ObserverOptions {
  /** Forms whose steps are kept. */
  readonly traces: 'none' | 'failed' | 'all'
  /** Whether to measure the gas of functions. */
  readonly hasGas: boolean
  /** Whether the modules of a file count for coverage; null measures none. */
  readonly covers: ((file: string) => boolean) | null
}

/** Answers to the questions, as data. */
export interface RunFindings {
  readonly traces: readonly FormTrace[]
  readonly gasCalls: readonly GasCalls[]
  readonly coverage: readonly FileCounts[]
}

export class TestRunObserver implements RunObserver, Tracer {
  readonly probe: ExpansionProbe | null
  readonly #traces: FormTraces | null
  readonly #gas: GasReport | null
  readonly #coverage: Coverage | null
  readonly #tracers: readonly Tracer[]

  constructor(run: ObservedRun, { traces, hasGas, covers }: ObserverOptions) {
    this.#traces = traces === 'none' ? null : new FormTraces(run, (hasFailed) => hasFailed || traces === 'all')
    this.#gas = hasGas ? new GasReport(() => run.milligas) : null
    this.#coverage = covers === null ? null : new Coverage(() => run.file, covers)
    this.#tracers = [this.#traces, this.#gas, this.#coverage].filter((each) => each !== null)
    this.probe = this.#coverage
  }

  get tracer(): Tracer {
    return this
  }

  get findings(): RunFindings {
    const [traces, gasCalls] = [this.#traces?.traces ?? [], this.#gas?.calls ?? []]
    return { traces, gasCalls, coverage: this.#coverage?.counts ?? [] }
  }

  beginForm(form: FormStart): void {
    this.#traces?.beginForm(form)
  }

  endForm(hasFailed: boolean, error: unknown): void {
    this.#traces?.endForm(hasFailed, error)
  }

  begin(step: TraceStep): void {
    for (const tracer of this.#tracers) tracer.begin(step)
  }

  end(result?: Term): void {
    for (const tracer of this.#tracers) tracer.end(result)
  }

  fail(error: unknown): void {
    for (const tracer of this.#tracers) tracer.fail(error)
  }
}
