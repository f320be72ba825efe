/** Traces of the forms of test files, each with a tree of its own. */
import type { ContractError } from '../errors.ts'
import type { Term } from '../machine/term.ts'
import type { Tracer, TraceStep } from '../machine/tracer.ts'
import type { FormStart, ObservedRun } from './observer.ts'
import { truncate } from './short-text.ts'
import { type TraceNode, TraceTree } from './tree.ts'

/** A form of a test file with its steps. */
export interface FormTrace {
  readonly form: FormStart
  readonly hasFailed: boolean
  readonly trace: TraceNode
  readonly omitted: number
}

interface OpenForm {
  readonly form: FormStart
  readonly tree: TraceTree
  /** Milligas of the forms within it. */
  inner: number
  /** Traces of the forms within it. */
  readonly within: FormTrace[]
  readonly before: number
}

/** Maximum forms whose trees are kept. Each can have 10,000 steps, so more would fill the memory. */
const MAX_FORMS = 1000

export class FormTraces implements Tracer {
  readonly traces: FormTrace[] = []
  readonly #run: ObservedRun
  readonly #keeps: (hasFailed: boolean) => boolean
  readonly #open: OpenForm[] = []

  /** @param keeps whether to keep the tree of a form */
  constructor(run: ObservedRun, keeps: (hasFailed: boolean) => boolean) {
    this.#run = run
    this.#keeps = keeps
  }

  beginForm(form: FormStart): void {
    const name = truncate(form.text.split('\n', 1)[0], 80)
    const messageOf = (error: unknown) => (error as ContractError).message
    const open: Omit<OpenForm, 'tree'> = { form, inner: 0, within: [], before: this.#run.milligas }
    const tree = new TraceTree({ name, messageOf, gas: () => this.#run.milligas - open.inner })
    this.#open.push(Object.assign(open, { tree }))
  }

  endForm(hasFailed: boolean, error: unknown): void {
    const open = this.#open.pop()
    if (open === undefined) return
    const { form, tree, before, within } = open
    tree.close(error)
    const around = this.#open.at(-1)
    if (around !== undefined) around.inner += this.#run.milligas - before
    // A form within one that has not failed was expected to fail.
    if (!this.#keeps(hasFailed)) return
    const { root, omitted } = tree
    const kept = around?.within ?? this.traces
    kept.push(...[...within, { form, hasFailed, trace: root, omitted }].slice(0, MAX_FORMS - kept.length))
  }

  begin(step: TraceStep): void {
    this.#open.at(-1)?.tree.begin(step)
  }

  end(result?: Term): void {
    this.#open.at(-1)?.tree.end(result)
  }

  fail(error: unknown): void {
    this.#open.at(-1)?.tree.fail(error)
  }
}
