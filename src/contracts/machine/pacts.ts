/**
 * Pacts: multi-step functions. Each step runs in a command of its own and may resume the yield of the previous step.
 */
import { evalError, NOWHERE, type TextPlace } from '../errors.ts'
import { hashText } from '../values/hash.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { valueToJson } from '../values/wire.ts'
import { Fun, type PactRun, type PactState, type Run, type Yield } from './ast.ts'
import { weightOf } from './bounds.ts'
import { splitName } from './names.ts'
import { mayWrite } from './purity.ts'
import { located } from './scopes.ts'
import type { Term } from './term.ts'

export interface PactContinuation {
  readonly id: string
  readonly step: number
  readonly isRollback: boolean
  /** Yield of the previous step if that ran on another chain or in a test; null to use the stored one. */
  readonly resumed?: Yield | null
  /** State of a pact proven to have run on another chain. */
  readonly proven?: PactState | null
}

/** Milligas per unit of weight of the state that is stored between steps. */
const STATE_COST = 20

export function pactIdOf(run: Run): string {
  return pactOf(run).id
}

/** @throws EvalError outside of a pact */
export function pactOf(run: Run): PactRun {
  const { pact } = run.call
  if (pact !== null) return pact
  throw evalError("Attempt to fetch defpact data failed because there's no defpact currently being executed.")
}

/** Starts a pact and runs its first step. Within a pact, the new one is nested. */
export function startPact(run: Run, fun: Fun, args: readonly Value[], place: TextPlace): Term {
  const around = run.call.pact
  if (around === null && run.program.hasRunPact) throw evalError('Multiple defpact execs found', place)
  const id = around === null ? run.transaction.message.hash : nestedId(run, around, fun, args)
  if (around?.nested.has(id)) throw evalError(`the nested defpact ${fun.qualified} was begun before`, place)
  if (around === null) run.program.hasRunPact = true
  const pact: PactRun = {
    ...{ id, fun, args, step: 0, isRollback: false, resumed: null },
    yielded: null,
    nested: new Map(),
  }
  const result = runStep(run, pact, place)
  if (around === null) finish(run, pact)
  else around.nested.set(id, stateOf(pact))
  return result
}

/**
 * Runs a later step, or rolls back the last one.
 * @throws ContractError
 */
export function continuePact(run: Run, continuation: PactContinuation): Term {
  try {
    return runContinuation(run, continuation)
  } catch (error) {
    throw located(run.call, error)
  }
}

function runContinuation(run: Run, { id, step, isRollback, resumed, proven }: PactContinuation): Term {
  const place = NOWHERE
  const kept = run.transaction.state.get<PactState | null>('pacts', id)
  if (kept === null)
    throw evalError(`Requested defpact execution already completed for defpact id: ${id.slice(0, 20)}...`)
  const before = lastStep(kept, proven ?? undefined)
  if (before === undefined) throw evalError(`No previous defpact execution found for defpact id: ${id.slice(0, 20)}...`)
  const fun = currentFun(run, before.fun)
  if (step < 0 || step >= fun.steps.length) throw evalError('Invalid defpact step supplied')
  if (step !== before.step + (isRollback ? 0 : 1)) {
    const rule = isRollback ? 'Defpact rollback mismatch with current step' : 'Defpact execution step mismatch'
    throw evalError(`${rule}: at step ${before.step}, asked for ${step}`)
  }
  const nested = new Map(before.nested)
  const pact: PactRun = {
    ...{ id, fun, args: before.args, step, isRollback, resumed: resumed ?? before.yielded },
    yielded: isRollback ? before.yielded : null,
    nested,
  }
  const result = runStep(run, pact, place)
  for (const [nestedPact, state] of nested) {
    if (state.step !== step && !isRollback && state.fun.steps.length > step) {
      throw evalError(`Nested defpact execution failed to advance for defpact id: ${nestedPact.slice(0, 20)}...`)
    }
  }
  finish(run, pact)
  return result
}

/**
 * Chooses between the state stored here and a proven one.
 *
 * A pact that ran here can return from another chain two steps later at the earliest. The step in between runs either
 * here or there.
 * @throws EvalError if the proof contradicts the stored state
 */
function lastStep(kept: PactState | undefined, proven: PactState | undefined): PactState | undefined {
  if (kept === undefined || proven === undefined) return kept ?? proven
  // Compare as JSON, because values from another chain have lost what JSON cannot represent.
  const isSame = kept.fun.qualified === proven.fun.qualified && valueToJson(kept.args) === valueToJson(proven.args)
  const earliest = kept.step + 2
  if (isSame && proven.step >= earliest) return proven
  throw evalError(
    `The proof is of step ${proven.step} of a defpact that goes on here, or from step ${earliest} elsewhere`,
  )
}

/** `(continue (f args))` within a pact: starts a nested pact in the first step, continues it in later steps. */
export function continueNested(run: Run, fun: Fun, args: readonly Value[], place: TextPlace): Term {
  const around = pactOf(run)
  if (around.step === 0) return startPact(run, fun, args, place)
  const id = nestedId(run, around, fun, args)
  const before = around.nested.get(id)
  if (before === undefined) throw evalError(`the nested defpact ${fun.qualified} was not begun`, place)
  const { step, isRollback } = around
  const pact: PactRun = {
    ...{ id, fun, args, step, isRollback, resumed: before.yielded },
    yielded: null,
    nested: new Map(before.nested),
  }
  const result = runStep(run, pact, place)
  around.nested.set(id, stateOf(pact))
  return result
}

/**
 * Yields an object to the next step.
 * @param chain id of the chain that runs the next step, or null for this chain
 */
export function yieldObject(run: Run, data: ObjectValue, chain: string | null): void {
  const pact = pactOf(run)
  const { chainId } = run.block.chain
  if (chain === '') throw evalError('a yield to another chain needs the id of that chain')
  if (chain !== null && pact.step === pact.fun.steps.length - 1)
    throw evalError('Cannot yield to another chain on the last step')
  if (chain !== null && pact.fun.steps[pact.step].rollback !== null) {
    throw evalError('Cannot yield to another chain in a step with rollback')
  }
  const provenance = chain === null ? null : { chain, moduleHash: pact.fun.module.hash }
  pact.yielded = { data, provenance, source: chainId }
}

/**
 * Object that the previous step yielded.
 * @throws EvalError if it was meant for another chain or comes from other code
 */
export function resumedObject(run: Run): ObjectValue {
  const pact = pactOf(run)
  const { resumed } = pact
  if (resumed === null) throw evalError('there is no yield to resume')
  const { provenance, data } = resumed
  if (provenance !== null) {
    const { module } = pact.fun
    const isOurs = provenance.moduleHash === module.hash || module.blessed.has(provenance.moduleHash)
    if (provenance.chain !== run.block.chain.chainId || !isOurs) {
      throw evalError('Yield provenance does not match this chain and module')
    }
  }
  return data
}

function runStep(run: Run, pact: PactRun, place: TextPlace): Term {
  const { run: forward, rollback } = pact.fun.steps[pact.step]
  const step = pact.isRollback ? rollback : forward
  if (step === null) throw evalError(`Step ${pact.step} of ${pact.fun.qualified} has no rollback`, place)
  const around = run.call.pact
  run.call.pact = pact
  const result = run.runStep(pact.fun, step, pact.args, place)
  run.call.pact = around
  return result
}

/** Stores the state of the pact, or null if it has finished, and emits the events of cross-chain yields. */
function finish(run: Run, pact: PactRun): void {
  run.charge(STATE_COST * (weightOf(pact.args) + weightOf(pact.yielded?.data ?? '')))
  mayWrite(run)
  const isDone = pact.isRollback ? pact.step === 0 : pact.step === pact.fun.steps.length - 1
  run.transaction.state.put('pacts', pact.id, isDone ? null : stateOf(pact))
  run.program.lastPact = pact
  const emit = (name: string, chain: string, moduleHash: string) => {
    run.transaction.events.push({ module: 'pact', name, params: [chain, pact.fun.qualified, pact.args], moduleHash })
  }
  const { resumed, yielded } = pact
  if (resumed?.provenance) emit('X_RESUME', resumed.source, resumed.provenance.moduleHash)
  if (yielded?.provenance) emit('X_YIELD', yielded.provenance.chain, yielded.provenance.moduleHash)
}

function stateOf({ id, fun, args, step, yielded, nested }: PactRun): PactState {
  return { id, fun, args, step, yielded, nested }
}

/** The current version of the function: an upgrade may have changed later steps. */
function currentFun(run: Run, fun: Fun): Fun {
  const name = splitName(fun.qualified)
  const now = name === null ? undefined : run.findModule(name.module)?.get(name.member)
  return now instanceof Fun && now.kind === 'defpact' ? now : fun
}

function nestedId(run: Run, around: PactRun, fun: Fun, args: readonly Value[]): string {
  run.charge(STATE_COST * weightOf(args))
  return hashText([around.id, fun.qualified, ...args.map(valueToJson)].join('|'))
}
