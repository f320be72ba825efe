/** Creates, snapshots and restores the scopes of a run. A caught failure undoes its effects. */
import { ContractError } from '../errors.ts'
import type { CallScope, ProgramScope, TransactionScope } from './ast.ts'
import type { GasMeter, Message } from './environment.ts'
import type { Layer } from './state.ts'

export function newTransaction(message: Message, state: Layer, gas: GasMeter): TransactionScope {
  return { message, state, gas, memory: { made: 0 }, events: [], admin: new Set(), installed: [], comparisons: 0 }
}

export type TransactionMark = ReturnType<typeof markTransaction>

/** Gas used and the count of comparisons are not part of the snapshot. */
export function markTransaction({ state, events, admin, installed }: TransactionScope) {
  return {
    state,
    events: events.length,
    // Code acquires admin rights and never gives them back, so their number is enough.
    admin: admin.size,
    installed: installed.map((each) => ({ ...each })),
  }
}

export function restoreTransaction(transaction: TransactionScope, mark: TransactionMark): void {
  transaction.state = mark.state
  transaction.events.length = mark.events
  if (transaction.admin.size > mark.admin) transaction.admin = new Set([...transaction.admin].slice(0, mark.admin))
  transaction.installed = mark.installed
}

export function newProgram(): ProgramScope {
  return { imports: new Map(), namespace: null, loading: null, lastPact: null, hasRunPact: false }
}

export function markProgram(program: ProgramScope): ProgramScope {
  return { ...program, imports: new Map(program.imports) }
}

export function restoreProgram(program: ProgramScope, mark: ProgramScope): void {
  Object.assign(program, mark)
}

export function newCall(): CallScope {
  return { frames: [], slots: [], evaluated: [], readOnly: 0, depth: 0, pact: null, nativePlace: null }
}

export type CallMark = ReturnType<typeof markCall>

/** Stack lengths suffice: all calls on the stack at a snapshot are still there when it is restored. */
export function markCall({ frames, slots, evaluated, readOnly, depth, pact, nativePlace }: CallScope) {
  return {
    frames: frames.length,
    slots: slots.length,
    // A failed attempt can have composed capabilities only into the last slot.
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

/** Number of granted capabilities, including composed ones. */
export function grantedCount({ slots }: CallScope): number {
  let count = slots.length
  for (const { composed } of slots) count += composed.length
  return count
}

/**
 * Adds place and function to a ContractError.
 * @returns the error itself, of whatever kind
 */
export function located({ frames, nativePlace }: CallScope, error: unknown): unknown {
  if (!(error instanceof ContractError)) return error
  error.place ??= nativePlace
  const fun = frames.at(-1)
  if (fun !== undefined) error.within ??= `${fun.qualified}.{${fun.module.hash}}`
  return error
}
