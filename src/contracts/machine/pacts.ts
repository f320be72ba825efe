/** Pacts: functions in steps, each run by a command of its own, with what the step before has yielded. */
import { evalError, NOWHERE, type Place } from '../errors.ts'
import { hashText } from '../values/hash.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { valueToJson } from '../values/wire.ts'
import { Fun, splitName } from './ast.ts'
import type { Evaluator } from './evaluator.ts'
import type { Term } from './term.ts'

export interface Yield {
  readonly data: ObjectValue
  /** Set where the next step runs on another chain. */
  readonly provenance: { readonly chain: string; readonly moduleHash: string } | null
  /** The chain that it comes from. */
  readonly source: string
}

/** A pact as it is kept between its steps. */
export interface PactState {
  readonly id: string
  readonly fun: Fun
  readonly args: readonly Value[]
  readonly step: number
  readonly yielded: Yield | null
  readonly nested: ReadonlyMap<string, PactState>
}

/** A step of a pact under way. */
export interface PactRun {
  readonly id: string
  readonly fun: Fun
  readonly args: readonly Value[]
  readonly step: number
  readonly isRollback: boolean
  /** Of the step before. */
  readonly resumed: Yield | null
  yielded: Yield | null
  readonly nested: Map<string, PactState>
}

export interface Continuation {
  readonly id: string
  readonly step: number
  readonly isRollback: boolean
  /** What the step before yielded, where it ran on another chain or in a test; null: as kept here. */
  readonly resumed?: Yield | null
  /** The pact, where it is not kept here: proven to have run on another chain. */
  readonly proven?: PactState | null
}

/** Thousandths of gas per unit of size of what is kept between steps. */
const STATE_COST = 20

export function pactIdOf(machine: Evaluator): string {
  return pactOf(machine).id
}

/** Throws EvalError outside of pacts. */
export function pactOf(machine: Evaluator): PactRun {
  const { pact } = machine
  if (pact !== null) return pact
  throw evalError("Attempt to fetch defpact data failed because there's no defpact currently being executed.")
}

/** Runs the first step. Within a pact it is nested in that one. */
export function startPact(machine: Evaluator, fun: Fun, args: readonly Value[], place: Place): Term {
  const around = machine.pact
  if (around === null && machine.hasRunPact) throw evalError('Multiple defpact execs found', place)
  const id = around === null ? machine.environment.hash : nestedId(machine, around, fun, args)
  if (around?.nested.has(id)) throw evalError(`the nested defpact ${fun.qualified} was begun before`, place)
  if (around === null) machine.hasRunPact = true
  const run: PactRun = {
    ...{ id, fun, args, step: 0, isRollback: false, resumed: null },
    yielded: null,
    nested: new Map(),
  }
  const result = runStep(machine, run, place)
  if (around === null) finish(machine, run)
  else around.nested.set(id, stateOf(run))
  return result
}

/** Runs a later step, or takes the last one back. Throws ContractError. */
export function continuePact(machine: Evaluator, continuation: Continuation): Term {
  try {
    return runContinuation(machine, continuation)
  } catch (error) {
    throw machine.located(error)
  }
}

function runContinuation(machine: Evaluator, { id, step, isRollback, resumed, proven }: Continuation): Term {
  const place = NOWHERE
  const kept = machine.state.get<PactState | null>('pacts', id)
  if (kept === null)
    throw evalError(`Requested defpact execution already completed for defpact id: ${id.slice(0, 20)}...`)
  const before = lastStep(kept, proven ?? undefined)
  if (before === undefined) throw evalError(`No previous defpact execution found for defpact id: ${id.slice(0, 20)}...`)
  const fun = currentFun(machine, before.fun)
  if (step < 0 || step >= fun.steps.length) throw evalError('Invalid defpact step supplied')
  if (step !== before.step + (isRollback ? 0 : 1)) {
    const rule = isRollback ? 'Defpact rollback mismatch with current step' : 'Defpact execution step mismatch'
    throw evalError(`${rule}: at step ${before.step}, asked for ${step}`)
  }
  const nested = new Map(before.nested)
  const run: PactRun = {
    ...{ id, fun, args: before.args, step, isRollback, resumed: resumed ?? before.yielded },
    yielded: isRollback ? before.yielded : null,
    nested,
  }
  const result = runStep(machine, run, place)
  for (const [nestedPact, state] of nested) {
    if (state.step !== step && !isRollback && state.fun.steps.length > step) {
      throw evalError(`Nested defpact execution failed to advance for defpact id: ${nestedPact.slice(0, 20)}...`)
    }
  }
  finish(machine, run)
  return result
}

/**
 * The step that was run last, here or where a proof says. A pact that was here comes back from elsewhere two steps later
 * at the earliest: the step in between is either run here or there.
 */
function lastStep(kept: PactState | undefined, proven: PactState | undefined): PactState | undefined {
  if (kept === undefined || proven === undefined) return kept ?? proven
  // As JSON: what came from elsewhere has lost what JSON does not hold.
  const isSame = kept.fun.qualified === proven.fun.qualified && valueToJson(kept.args) === valueToJson(proven.args)
  const earliest = kept.step + 2
  if (isSame && proven.step >= earliest) return proven
  throw evalError(
    `The proof is of step ${proven.step} of a defpact that goes on here, or from step ${earliest} elsewhere`,
  )
}

/** `(continue (f args))` within a pact: begins a nested pact, and in later steps goes on with it. */
export function continueNested(machine: Evaluator, fun: Fun, args: readonly Value[], place: Place): Term {
  const around = pactOf(machine)
  if (around.step === 0) return startPact(machine, fun, args, place)
  const id = nestedId(machine, around, fun, args)
  const before = around.nested.get(id)
  if (before === undefined) throw evalError(`the nested defpact ${fun.qualified} was not begun`, place)
  const { step, isRollback } = around
  const run: PactRun = {
    ...{ id, fun, args, step, isRollback, resumed: before.yielded },
    yielded: null,
    nested: new Map(before.nested),
  }
  const result = runStep(machine, run, place)
  around.nested.set(id, stateOf(run))
  return result
}

/** `chain`: where the next step runs; null: here. */
export function yieldObject(machine: Evaluator, data: ObjectValue, chain: string | null): void {
  const run = pactOf(machine)
  const { chainId } = machine.environment.chain
  if (chain === '') throw evalError('a yield to another chain needs the id of that chain')
  if (chain !== null && run.step === run.fun.steps.length - 1)
    throw evalError('Cannot yield to another chain on the last step')
  if (chain !== null && run.fun.steps[run.step].rollback !== null) {
    throw evalError('Cannot yield to another chain in a step with rollback')
  }
  const provenance = chain === null ? null : { chain, moduleHash: run.fun.module.hash }
  run.yielded = { data, provenance, source: chainId }
}

/** The object that the step before has yielded. Throws where it was meant for another chain, or came from other code. */
export function resumedObject(machine: Evaluator): ObjectValue {
  const run = pactOf(machine)
  const { resumed } = run
  if (resumed === null) throw evalError('there is no yield to resume')
  const { provenance, data } = resumed
  if (provenance !== null) {
    const { module } = run.fun
    const isOurs = provenance.moduleHash === module.hash || module.blessed.has(provenance.moduleHash)
    if (provenance.chain !== machine.environment.chain.chainId || !isOurs) {
      throw evalError('Yield provenance does not match this chain and module')
    }
  }
  return data
}

function runStep(machine: Evaluator, run: PactRun, place: Place): Term {
  const { run: forward, rollback } = run.fun.steps[run.step]
  const step = run.isRollback ? rollback : forward
  if (step === null) throw evalError(`Step ${run.step} of ${run.fun.qualified} has no rollback`, place)
  const around = machine.pact
  machine.pact = run
  try {
    return machine.within(run.fun, place, () => machine.evaluate(step, machine.bindArgs(run.fun.params, run.args)))
  } finally {
    machine.pact = around
  }
}

/** Keeps the pact, or that it is done, and tells of what crosses chains. */
function finish(machine: Evaluator, run: PactRun): void {
  machine.charge(STATE_COST * (machine.weightOf(run.args) + machine.weightOf(run.yielded?.data ?? '')))
  const isDone = run.isRollback ? run.step === 0 : run.step === run.fun.steps.length - 1
  machine.state.put('pacts', run.id, isDone ? null : stateOf(run))
  machine.lastPact = run
  const tell = (name: string, chain: string, moduleHash: string) => {
    machine.events.push({ module: 'pact', name, params: [chain, run.fun.qualified, run.args], moduleHash })
  }
  const { resumed, yielded } = run
  if (resumed?.provenance) tell('X_RESUME', resumed.source, resumed.provenance.moduleHash)
  if (yielded?.provenance) tell('X_YIELD', yielded.provenance.chain, yielded.provenance.moduleHash)
}

function stateOf({ id, fun, args, step, yielded, nested }: PactRun): PactState {
  return { id, fun, args, step, yielded, nested }
}

/** The function as its module has it now: an upgrade may have changed later steps. */
function currentFun(machine: Evaluator, fun: Fun): Fun {
  const name = splitName(fun.qualified)
  const now = name === null ? undefined : machine.findModule(name.module)?.get(name.member)
  return now instanceof Fun && now.kind === 'defpact' ? now : fun
}

function nestedId(machine: Evaluator, around: PactRun, fun: Fun, args: readonly Value[]): string {
  machine.charge(STATE_COST * machine.weightOf(args))
  return hashText([around.id, fun.qualified, ...args.map(valueToJson)].join('|'))
}
