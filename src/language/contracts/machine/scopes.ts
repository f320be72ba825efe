/** Creates, snapshots and restores the scopes of a run. A caught failure undoes its effects. */
import { ContractError } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import { TOP_LEVEL_MODE } from './access-mode.ts'
import type { CallScope, PactRun, ProgramScope, Run, TransactionScope } from './ast.ts'
import type { GasMeter, Message } from './environment.ts'
import { LoadedModuleSet } from './loaded-modules.ts'
import type { Layer } from './state.ts'

export function newTransaction(message: Message, state: Layer, gas: GasMeter): TransactionScope {
  return {
    message,
    state,
    gas,
    memory: { made: 0 },
    events: [],
    admin: new Set<string>(),
    installed: [],
    listed: null,
    hasInstalled: false,
    comparisons: 0,
    capabilities: new WeakMap(),
  }
}

export type TransactionSnapshot = ReturnType<typeof snapshotTransaction>

/** Gas used and the count of comparisons are not part of the snapshot. */
export function snapshotTransaction({ state, events, admin, installed, hasInstalled }: TransactionScope) {
  // Code acquires admin rights and never gives them back, so their number is enough.
  return { state, events: events.length, admin: admin.size, installed, hasInstalled }
}

export function restoreTransaction(transaction: TransactionScope, mark: TransactionSnapshot): void {
  transaction.state = mark.state
  transaction.events.length = mark.events
  restoreRights(transaction, mark)
}

/** Restores what the transaction may do, not what it has done: `try` keeps events. */
export function restoreRights(transaction: TransactionScope, mark: TransactionSnapshot): void {
  if (transaction.admin.size > mark.admin) transaction.admin = new Set([...transaction.admin].slice(0, mark.admin))
  transaction.installed = mark.installed
  transaction.hasInstalled = mark.hasInstalled
}

export function newProgram(): ProgramScope {
  return { imports: new Map(), namespace: null, loaded: new LoadedModuleSet(), loading: null, pact: null }
}

export function snapshotProgram(program: ProgramScope): ProgramScope {
  return { ...program, imports: new Map(program.imports), loaded: program.loaded.fork(), pact: copyOf(program.pact) }
}

/** Copies a pact: a step changes its yield and its nested pacts in place. */
function copyOf(pact: PactRun | null): PactRun | null {
  return pact === null ? null : { ...pact, nested: new Map(pact.nested) }
}

export function restoreProgram(program: ProgramScope, mark: ProgramScope): void {
  Object.assign(program, mark)
}

export function newCall(): CallScope {
  return { frames: [], slots: [], evaluated: [], mode: TOP_LEVEL_MODE, depth: 0, step: null, nativePlace: null }
}

export type CallSnapshot = ReturnType<typeof snapshotCall>

/** Stack lengths suffice: all calls on the stack at a snapshot are still there when it is restored. */
export function snapshotCall({ frames, slots, evaluated, mode, depth, step, nativePlace }: CallScope) {
  return {
    frames: frames.length,
    slots: slots.length,
    // A failed attempt can have composed capabilities only into the last slot.
    composed: slots.at(-1)?.composed.length ?? 0,
    evaluated: evaluated.length,
    mode,
    depth,
    step,
    nativePlace,
  }
}

export function restoreCall(call: CallScope, mark: CallSnapshot): void {
  call.frames.length = mark.frames
  call.slots.length = mark.slots
  const last = call.slots.at(-1)
  if (last !== undefined) last.composed.length = mark.composed
  call.evaluated.length = mark.evaluated
  call.mode = mark.mode
  call.depth = mark.depth
  call.step = mark.step
  call.nativePlace = mark.nativePlace
}

/** @throws EvalError outside of a pact */
export function pactIdOf(run: Run): string {
  const { pact } = run.program
  if (pact === null) throw failure('NOT_IN_PACT', {})
  return pact.id
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
export function addLocation({ frames, nativePlace }: CallScope, error: unknown): unknown {
  if (!(error instanceof ContractError)) return error
  const fun = frames.at(-1)
  error.addLocation({ place: nativePlace, within: fun === undefined ? null : `${fun.qualified}.{${fun.module.hash}}` })
  return error
}
