/** Gas of a test run by function, native, table and deployed module. */
import type { Term } from '../machine/term.ts'
import type { DeployedSize, StepKind, Tracer, TraceStep } from '../machine/tracer.ts'
import type { GasReading } from './tree.ts'

/** Kind of a row. `deploy` is a module that was loaded. */
export type GasRowKind = 'function' | 'native' | 'row' | 'deploy'

/** Gas of all calls of one thing, in milligas. */
export interface GasRow {
  readonly kind: GasRowKind
  /** Module; empty for natives. */
  readonly module: string
  /** Function or capability, native, or access such as `update accounts`. */
  readonly name: string
  readonly calls: number
  readonly min: number
  readonly mean: number
  readonly median: number
  readonly max: number
  /** Without the functions that it calls. */
  readonly own: number
  readonly total: number
  /** Bytes of a deployed module: of the last version that was loaded. */
  readonly size?: DeployedSize
}

interface OpenGasStep {
  /** Null for parts of the function around. */
  readonly key: string | null
  readonly isFunction: boolean
  readonly before: number
  /** Milligas of steps within it: of all, and of functions and lambdas. */
  inner: number
  innerFunctions: number
  readonly size: TraceStep['size']
}

interface CallTotals {
  readonly totals: number[]
  own: number
  size?: DeployedSize
}

/** Separates the parts of a key. */
const KEY_SEPARATOR = '\n'

export class GasReport implements Tracer {
  readonly #gas: GasReading
  readonly #open: OpenGasStep[] = []
  readonly #calls = new Map<string, CallTotals>()

  /** @param gas milligas of all code so far */
  constructor(gas: GasReading) {
    this.#gas = gas
  }

  begin(step: TraceStep): void {
    const isFunction = FUNCTIONS.has(step.kind)
    this.#open.push({ key: keyOf(step), isFunction, before: this.#gas(), inner: 0, innerFunctions: 0, size: step.size })
  }

  end(_result?: Term): void {
    const step = this.#open.pop()
    if (step === undefined) return
    const { key, isFunction, before, inner, innerFunctions, size } = step
    const total = this.#gas() - before
    const around = this.#open.at(-1)
    if (around !== undefined) {
      around.inner += total
      around.innerFunctions += isFunction ? total : innerFunctions
    }
    if (key === null) return
    const own = total - (isFunction ? innerFunctions : inner)
    const calls = this.#calls.get(key) ?? { totals: [], own: 0 }
    this.#calls.set(key, calls)
    // A native or a row costs by itself; the functions that it calls have rows of their own.
    calls.totals.push(isFunction ? total : own)
    calls.own += own
    if (size !== undefined) calls.size = size()
  }

  fail(_error: unknown): void {
    this.end()
  }

  /** All rows, ordered by kind, module and name. */
  get rows(): GasRow[] {
    return rowsOf(this.#calls)
  }

  /** Adds the calls of another file. */
  add(calls: readonly GasCalls[]): void {
    for (const { key, totals, own, size } of calls) {
      const known = this.#calls.get(key) ?? { totals: [], own: 0 }
      this.#calls.set(key, known)
      for (const total of totals) known.totals.push(total)
      known.own += own
      if (size !== undefined) known.size = size
    }
  }

  /** The calls so far, for a report of several files. */
  get calls(): GasCalls[] {
    return [...this.#calls].map(([key, calls]) => ({ key, ...calls }))
  }
}

/** Calls of one thing in one file, as data. */
export interface GasCalls {
  readonly key: string
  readonly totals: readonly number[]
  readonly own: number
  readonly size?: DeployedSize
}

const FUNCTIONS: ReadonlySet<StepKind> = new Set(['call', 'capability', 'deploy'])

function keyOf({ kind, name, by }: TraceStep): string | null {
  switch (kind) {
    case 'call':
    case 'capability': {
      const at = name.lastIndexOf('.', name.includes(' ') ? name.indexOf(' ') : name.length)
      return ['function', name.slice(0, Math.max(0, at)), name.slice(at + 1)].join(KEY_SEPARATOR)
    }
    case 'deploy':
      return ['deploy', name, by ?? 'module'].join(KEY_SEPARATOR)
    case 'read':
    case 'write': {
      const at = name.lastIndexOf('.')
      return at < 0
        ? ['native', '', by ?? name].join(KEY_SEPARATOR)
        : ['row', name.slice(0, at), `${by} ${name.slice(at + 1)}`].join(KEY_SEPARATOR)
    }
    case 'native':
      return ['native', '', name].join(KEY_SEPARATOR)
    case 'yield':
    case 'print':
      return ['native', '', kind].join(KEY_SEPARATOR)
    default:
      return null
  }
}

function rowsOf(all: ReadonlyMap<string, CallTotals>): GasRow[] {
  const rows = [...all].map(([key, { totals, own, size }]): GasRow => {
    const [kind, module, name] = key.split(KEY_SEPARATOR) as [GasRowKind, string, string]
    const sorted = totals.toSorted((one, other) => one - other)
    const total = sorted.reduce((sum, each) => sum + each, 0)
    const calls = sorted.length
    const [min, max] = [sorted[0], sorted[calls - 1]]
    return {
      kind,
      module,
      name,
      calls,
      min,
      mean: total / calls,
      median: medianOf(sorted),
      max,
      own,
      total,
      ...(size && { size }),
    }
  })
  const order: readonly GasRowKind[] = ['function', 'native', 'row', 'deploy']
  return rows.sort((one, other) => {
    const kinds = order.indexOf(one.kind) - order.indexOf(other.kind)
    return kinds !== 0
      ? kinds
      : compare(`${one.module}${KEY_SEPARATOR}${one.name}`, `${other.module}${KEY_SEPARATOR}${other.name}`)
  })
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
