/** The state of a run, by its lifetime: how each scope begins, what a mark keeps of it, and how it goes back to a mark. */
import { ContractError } from '../errors.ts'
import type { CallScope, ProgramScope, TransactionScope } from './ast.ts'
import type { GasMeter, Message } from './environment.ts'
import type { Layer } from './state.ts'

export function newTransaction(message: Message, state: Layer, gas: GasMeter): TransactionScope {
  return { message, state, gas, events: [], admin: new Set(), installed: [], comparisons: 0 }
}

export type TransactionMark = ReturnType<typeof markTransaction>

/** Keeps all but what stays used: gas, and comparisons that were free. */
export function markTransaction({ state, events, admin, installed }: TransactionScope) {
  return {
    state,
    events: events.length,
    admin: new Set(admin),
    installed: installed.map((each) => ({ ...each })),
  }
}

export function restoreTransaction(transaction: TransactionScope, mark: TransactionMark): void {
  transaction.state = mark.state
  transaction.events.length = mark.events
  transaction.admin = mark.admin
  transaction.installed = mark.installed
}

export function newProgram(): ProgramScope {
  return { imports: new Map(), namespace: null, loading: null, lastPact: null, hasRunPact: false }
}

export type ProgramMark = ReturnType<typeof markProgram>

export function markProgram(program: ProgramScope): ProgramScope {
  return { ...program, imports: new Map(program.imports) }
}

export function restoreProgram(program: ProgramScope, mark: ProgramMark): void {
  Object.assign(program, mark)
}

export function newCall(): CallScope {
  return { frames: [], slots: [], evaluated: [], readOnly: 0, depth: 0, pact: null, nativePlace: null }
}

export type CallMark = ReturnType<typeof markCall>

/** Calls that are under way now are under way still when a mark is gone back to: what failed has begun others only. */
export function markCall({ frames, slots, evaluated, readOnly, depth, pact, nativePlace }: CallScope) {
  return {
    frames: frames.length,
    slots: slots.length,
    // What failed has composed within the last slot only.
    composed: slots.at(-1)?.composed.length ?? 0,
    evaluated: evaluated.length,
    readOnly,
    depth,
    pact,
    nativePlace,
  }
}

export function restoreCall(call: CallScope, mark: CallMark): void {
  call.frames.length = mark.frames
  call.slots.length = mark.slots
  const last = call.slots.at(-1)
  if (last !== undefined) last.composed.length = mark.composed
  call.evaluated.length = mark.evaluated
  call.readOnly = mark.readOnly
  call.depth = mark.depth
  call.pact = mark.pact
  call.nativePlace = mark.nativePlace
}

/** How many capabilities are granted, with those that they are composed of. */
export function grantedCount({ slots }: CallScope): number {
  let count = slots.length
  for (const { composed } of slots) count += composed.length
  return count
}

/** An error that ends the calls under way, told with the place and the function where it happened. */
export function located({ frames, nativePlace }: CallScope, error: unknown): unknown {
  if (!(error instanceof ContractError)) return error
  error.place ??= nativePlace
  const fun = frames.at(-1)
  if (fun !== undefined) error.within ??= `${fun.qualified}.{${fun.module.hash}}`
  return error
}
