/** Tree of the steps of an evaluation, with the gas of each. */
import { ContractError, type TextPlace } from '../errors.ts'
import type { Term } from '../machine/term.ts'
import type { StepKind, StepModule, Tracer, TraceStep } from '../machine/tracer.ts'
import { shortText, truncate } from './short-text.ts'

export { shortText, truncate } from './short-text.ts'

/** Maximum nodes of a tree, and characters of all its names and values: about 10 MB of JSON. Further steps are counted. */
export const MAX_NODES = 10_000
const MAX_CHARACTERS = 4_000_000
/** Maximum arguments of a node that are printed. */
const MAX_ARGS = 32

/** `gas` is a charge outside of code, such as the size of a transaction. */
export type TraceKind = 'call' | 'capability' | 'guard' | 'read' | 'write' | 'event' | 'yield' | 'print' | 'gas'

/** Position in source text; line and column count from 1. */
export interface TracePlace {
  /** Null for code at the top level. */
  readonly module: string | null
  readonly line: number
  readonly column: number
}

export interface TraceNode {
  readonly kind: TraceKind
  readonly name: string
  /** Native or form that reads, writes or deploys. */
  readonly by?: string
  /** In source form, each at most 256 characters. */
  readonly args: readonly string[]
  result?: string | undefined
  error?: string | undefined
  /** Milligas without those of the children. */
  gasOwn: number
  /** Milligas. */
  gasTotal: number
  /** Where the code makes this step. */
  readonly at: TracePlace | null
  /** Where the error arose, in the step in which it did. Absent if its place is unknown. */
  failedAt?: TracePlace
  readonly children: TraceNode[]
  /** Number of steps within this one that the tree leaves out. Absent for none. */
  omitted?: number
}

/** A module that a tree names: its hash, and the line on which it begins in the text of its command. */
export interface TracedModule {
  readonly hash: string
  readonly line: number
}

/** Milligas used so far. */
export type GasReading = () => number

interface OpenNode {
  /** Null for a step without a node. */
  readonly node: TraceNode | null
  readonly before: number
  /** Milligas of the children. */
  childGas: number
}

export interface TreeOptions {
  readonly name: string
  /** Gas of the root. Without it, the parts of the root have meters of their own. */
  readonly gas?: GasReading
  /** Message of an error. */
  readonly messageOf: (error: unknown) => string
}

export class TraceTree implements Tracer {
  readonly root: TraceNode
  readonly modules: Record<string, TracedModule> = {}
  /** Number of nodes, and of steps that have none. */
  nodes = 1
  omitted = 0
  readonly #messageOf: TreeOptions['messageOf']
  readonly #open: OpenNode[] = []
  #gas: GasReading = () => 0
  #charactersLeft = MAX_CHARACTERS

  constructor({ name, gas, messageOf }: TreeOptions) {
    this.#messageOf = messageOf
    if (gas !== undefined) this.#gas = gas
    const nothing = { args: [], result: undefined, error: undefined, gasOwn: 0, gasTotal: 0 }
    this.root = { kind: 'call', name, ...nothing, at: null, children: [] }
    this.#open.push({ node: this.root, before: this.#gas(), childGas: 0 })
  }

  begin({ kind, name, args, by, module, place }: TraceStep): void {
    if (kind === 'native' || kind === 'lambda') {
      this.#enter(null)
      return
    }
    if (!this.#hasRoom()) {
      this.#enter(null)
      return
    }
    if (module !== null && module.name !== '#test') this.#noteModule(module)
    const at = place === null ? null : placeIn(module?.name ?? null, place)
    const shown = args.slice(0, MAX_ARGS).map((arg) => shortText(arg))
    this.#enter(
      this.#addNode({ kind: kindOf(kind), name: truncate(name), ...(by !== undefined && { by }), args: shown, at }),
    )
  }

  end(result?: Term): void {
    const node = this.#leave()
    if (node === null || result === undefined || node.kind === 'event') return
    node.result = shortText(result)
    this.#charactersLeft -= node.result.length
  }

  fail(error: unknown): void {
    const node = this.#leave()
    if (node === null) return
    this.#noteFailure(node, error)
  }

  #noteFailure(node: TraceNode, error: unknown): void {
    node.error = truncate(this.#messageOf(error))
    this.#charactersLeft -= node.error.length
    const place = error instanceof ContractError ? error.place : null
    const isInside = node.children.some((child) => child.error === node.error)
    if (place !== null && !isInside) node.failedAt = placeIn(moduleOf(node), place)
  }

  /** Ends the root, whose gas the tree reads. @param error with which it ended; null for none */
  close(error: unknown = null): void {
    const { root } = this
    if (error !== null) this.#noteFailure(root, error)
    const [{ before, childGas: within }] = this.#open
    root.gasTotal = this.#gas() - before
    root.gasOwn = root.gasTotal - within
  }

  /** Adds a charge outside of code to the root. */
  addCharge(name: string, milligas: number): void {
    const { root } = this
    root.children.push({ kind: 'gas', name, args: [], gasOwn: milligas, gasTotal: milligas, at: null, children: [] })
    root.gasTotal += milligas
    this.nodes++
  }

  /** Runs a part of the whole as a node below the root, with a meter of its own. */
  runPart<T>(name: string, gas: GasReading, body: () => T): T {
    const around = this.#gas
    this.#gas = gas
    this.#enter(this.#addNode({ kind: 'call', name, args: [], at: null }))
    try {
      const result = body()
      this.#leave()
      return result
    } catch (error) {
      this.fail(error)
      throw error
    } finally {
      this.#gas = around
    }
  }

  #hasRoom(): boolean {
    if (this.nodes < MAX_NODES && this.#charactersLeft > 0) return true
    this.omitted++
    const { node } = this.#innermost()
    node.omitted = (node.omitted ?? 0) + 1
    return false
  }

  #addNode(about: Pick<TraceNode, 'kind' | 'name' | 'by' | 'args' | 'at'>): TraceNode {
    const { kind, name, by, args, at } = about
    const outcome = { result: undefined, error: undefined, gasOwn: 0, gasTotal: 0 }
    const node: TraceNode = { kind, name, ...(by !== undefined && { by }), args, ...outcome, at, children: [] }
    this.#innermost().node.children.push(node)
    this.nodes++
    this.#charactersLeft -= about.name.length + about.args.reduce((sum, { length }) => sum + length, 0)
    return node
  }

  /** The innermost step with a node. */
  #innermost(): OpenNode & { readonly node: TraceNode } {
    const open = this.#open.findLast((step) => step.node !== null)
    return open as OpenNode & { readonly node: TraceNode }
  }

  #enter(node: TraceNode | null): void {
    this.#open.push({ node, before: this.#gas(), childGas: 0 })
  }

  /** @returns the node of the step, or null if it has none */
  #leave(): TraceNode | null {
    const step = this.#open.pop()
    if (step === undefined || step.node === null) return null
    const { node, before, childGas: within } = step
    node.gasTotal = this.#gas() - before
    node.gasOwn = node.gasTotal - within
    this.#innermost().childGas += node.gasTotal
    if (this.#open.length === 1) this.root.gasTotal += node.gasTotal
    return node
  }

  #noteModule({ name, hash, place }: StepModule): void {
    this.modules[name] ??= { hash, line: place.line + 1 }
  }
}

function kindOf(kind: Exclude<StepKind, 'native' | 'lambda'>): TraceKind {
  return kind === 'deploy' ? 'write' : kind
}

function placeIn(module: string | null, { line, column }: TextPlace): TracePlace {
  return { module, line: line + 1, column: column + 1 }
}

/** Module of the code of a function or capability; null for all other steps. */
function moduleOf({ kind, name }: TraceNode): string | null {
  const [qualified] = name.split(' ', 1)
  const end = kind === 'call' || kind === 'capability' ? qualified.lastIndexOf('.') : -1
  return end < 0 ? null : qualified.slice(0, end)
}
