/**
 * Pacts: multi-step functions. Each step runs in a command of its own and may resume the yield of the previous step.
 * A pact that a step calls is nested: it runs the same step as the pact around it.
 *
 * 1. A call of the pact starts it. Its id is the hash of the command, and its first step runs.
 * 2. While a step runs, its state is a `PactRun`, which `yield` and nested pacts change.
 * 3. At the end of a step, its state is stored under its id.
 * 4. A later command continues it with the next step, or rolls back the last one. The step may be on another chain, with a
 *    proof of the one before.
 * 5. After its last step, or a rollback, null is stored in its place: no step may follow.
 */
import { NOWHERE, type TextPlace } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { abbreviate } from '../../failures/wording.ts'
import { splitName } from '../../syntax/names.ts'
import { pactSize } from '../../values/charged-size.ts'
import { hashText } from '../../values/hash.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { valueToJson } from '../../values/wire.ts'
import {
  FunctionDefinition,
  type Module,
  type PactRun,
  type PactState,
  type PactStep,
  type PactStepScope,
  type Run,
  type Yield,
} from '../ast.ts'
import { weightOf } from '../gas/bounds.ts'
import { ofWrite } from '../gas/cost-names.ts'
import { PRICE } from '../gas/prices.ts'
import { checkGasForSize } from '../native.ts'
import { callingModule, requireWrite } from '../rights/access.ts'
import { addLocation } from '../scopes.ts'
import type { Term } from '../term.ts'

export interface PactContinuation {
  readonly id: string
  readonly step: number
  readonly isRollback: boolean
  /** Yield of the previous step if that ran on another chain or in a test; null to use the stored one. */
  readonly resumed?: Yield | null
  /** State of a pact proven to have run on another chain. */
  readonly proven?: PactState | null
}

/** Work per unit of weight of arguments that name a nested pact. */
const STATE_WORK = 20

/**
 * Starts a pact and runs its first step. Within a step of another pact, it is nested and runs that step.
 * @throws ContractError if the step fails, or the command runs another pact
 */
export function startPact(run: Run, fun: FunctionDefinition, args: readonly Value[], place: TextPlace): Term {
  const { step } = run.call
  if (step !== null) return runNested(run, fun, args, step, place)
  const first = { id: run.transaction.message.hash, step: 0, isRollback: false, resumed: null }
  return runPact(run, { fun: currentFun(run, fun), args, nested: new Map() }, first, place)
}

/**
 * Runs a later step, or rolls back the last one.
 * @throws ContractError
 */
export function continuePact(run: Run, continuation: PactContinuation): Term {
  try {
    return runContinuation(run, continuation)
  } catch (error) {
    throw addLocation(run.call, error)
  }
}

function runContinuation(run: Run, { id, step, isRollback, resumed, proven }: PactContinuation): Term {
  const kept = run.transaction.state.get<PactState | null>('pacts', id)
  if (kept === null) throw failure('PACT_COMPLETED', { id })
  const before = lastStep(id, step, kept, proven ?? undefined)
  if (before === undefined) throw failure('NO_PREVIOUS_PACT', { id })
  if (before.id !== id) throw failure('PACT_ID_MISMATCH', { asked: id, found: before.id })
  const count = before.fun.steps.length
  if (step < 0 || step >= count) throw failure('INVALID_STEP', { step, count })
  if (isRollback && step !== before.step) {
    const hasRollback = before.fun.steps[before.step].rollback !== null
    throw failure('ROLLBACK_MISMATCH', { id, rollback: 'True', hasRollback: truth(hasRollback) })
  }
  if (!isRollback && step !== before.step + 1) throw failure('STEP_MISMATCH', { id, step, next: before.step + 1 })
  const { args, nested, yielded } = before
  const fun = currentFun(run, before.fun)
  const scope = { id, step, isRollback, resumed: resumed ?? yielded }
  return runPact(run, { fun, args, nested: new Map(nested) }, scope, NOWHERE)
}

/**
 * Chooses between the state stored here and a proven one.
 *
 * A pact that ran here can return from another chain two steps later at the earliest. The step in between runs either
 * here or there.
 * @throws EvalError if the proof contradicts the stored state
 */
function lastStep(
  id: string,
  step: number,
  kept: PactState | undefined,
  proven: PactState | undefined,
): PactState | undefined {
  if (kept === undefined || proven === undefined) return kept ?? proven
  // Compare as JSON, because values from another chain have lost what JSON cannot represent.
  const isSame = kept.fun.qualified === proven.fun.qualified && valueToJson(kept.args) === valueToJson(proven.args)
  if (isSame && kept.fun.steps.length === proven.fun.steps.length && proven.step > kept.step + 1) return proven
  throw failure('CROSS_CHAIN_CONTINUATION', { id, step })
}

/** Runs a step of a pact that is in no other, and stores its state. */
function runPact(
  run: Run,
  { fun, args, nested }: Pick<PactRun, 'fun' | 'args' | 'nested'>,
  scope: PactStepScope,
  place: TextPlace,
): Term {
  const { program } = run
  const { id, step } = scope
  if (program.pact !== null) throw failure('PACT_RUNNING', { id: program.pact.id }, place)
  const { forward, rollback } = partsOf(fun, step, fun.steps.length)
  const pact: PactRun = { id, fun, args, step, yielded: null, nested }
  program.pact = pact
  const result = runPart(run, pact, scope, scope.isRollback ? rollback : forward, place)
  finish(run, program.pact, scope)
  return result
}

/** Runs the step of a nested pact: its first one, or the one after the stored one. */
function runNested(
  run: Run,
  called: FunctionDefinition,
  args: readonly Value[],
  around: PactStepScope,
  place: TextPlace,
): Term {
  const { program } = run
  const outer = program.pact
  if (outer === null) throw failure('NOT_IN_PACT', {}, place)
  const id = nestedId(run, around.id, called, args)
  const fun = currentFun(run, called)
  const { step, isRollback } = around
  const parts = partsOf(fun, step, outer.fun.steps.length)
  const [count, parentCount] = [fun.steps.length, outer.fun.steps.length]
  if (count !== parentCount) throw failure('NESTED_COUNT_MISMATCH', { id: outer.id, count, parentCount }, place)
  const [hasRollback, isAround] = [parts.rollback !== null, outer.fun.steps[outer.step].rollback !== null]
  if (hasRollback !== isAround) {
    const shown = { id: outer.id, rollback: truth(hasRollback), parentRollback: truth(isAround) }
    throw failure('NESTED_ROLLBACK_MISMATCH', shown, place)
  }
  const before = outer.nested.get(id)
  if (before === undefined && step > 0) throw failure('NESTED_TWICE', { id }, place)
  if (before !== undefined && !mayRun(before.step, step, hasRollback))
    throw failure('NESTED_NEVER_STARTED', { id }, place)
  const yielded = before?.yielded ?? null
  const inner: PactRun = { id, fun, args, step, yielded, nested: new Map(before?.nested) }
  program.pact = inner
  const scope = { id, step, isRollback, resumed: yielded }
  const result = runPart(run, inner, scope, isRollback ? parts.rollback : parts.forward, place)
  // A nested pact that failed within `try` stays in the place of the one around it.
  const done = program.pact
  checkAdvanced(done, scope)
  outer.nested.set(id, stateOf(done))
  program.pact = outer
  return result
}

/** A nested pact repeats a step with rollback, or goes on with the next step. */
function mayRun(before: number, step: number, hasRollback: boolean): boolean {
  return (hasRollback && before === step) || (step > 0 && before + 1 === step)
}

function partsOf(
  fun: FunctionDefinition,
  step: number,
  count: number,
): { readonly forward: StepExpr; readonly rollback: StepExpr | null } {
  const found: PactStep | undefined = fun.steps[step]
  if (found === undefined) throw failure('INVALID_STEP', { step, count })
  return { forward: found.run, rollback: found.rollback }
}

type StepExpr = PactStep['run']

function runPart(run: Run, pact: PactRun, scope: PactStepScope, part: StepExpr | null, place: TextPlace): Term {
  if (part === null) throw failure('NO_ROLLBACK', { id: pact.id }, place)
  const around = run.call.step
  run.call.step = scope
  const result = run.runStep(pact.fun, part, pact.args, place)
  run.call.step = around
  return result
}

/** @throws EvalError if a nested pact has not run the step */
function checkAdvanced(pact: PactRun, { step }: PactStepScope): void {
  for (const each of pact.nested.values()) {
    if (each.step !== step) throw failure('NESTED_NOT_ADVANCED', { id: pact.id })
  }
}

/**
 * Yields an object to the next step.
 * @param chain id of the chain that runs the next step, or null for this chain
 * @throws EvalError outside of a pact, and for another chain in a step with rollback
 */
export function yieldObject(run: Run, data: ObjectValue, chain: string | null): void {
  const { pact } = run.program
  if (pact === null) throw failure('YIELD_OUTSIDE_PACT', {})
  if (chain === null) {
    pact.yielded = { data, provenance: null, source: null }
    return
  }
  const moduleHash = currentModule(run).hash
  if (pact.fun.steps[pact.step].rollback !== null) throw failure('YIELD_WITH_ROLLBACK', {})
  pact.yielded = { data, provenance: { chain, moduleHash }, source: run.block.chain.chainId }
}

/**
 * Object that the previous step yielded.
 * @throws EvalError if it was meant for another chain or comes from other code
 */
export function resumedObject(run: Run): ObjectValue {
  const { step } = run.call
  if (step === null) throw failure('NO_ACTIVE_PACT', {})
  if (step.resumed === null) throw failure('NO_YIELD', { step: step.step, id: step.id })
  const { provenance, data } = step.resumed
  if (provenance === null) return data
  const { hash, blessed } = currentModule(run)
  const { chainId } = run.block.chain
  const hashes = [hash, ...blessed]
  if (provenance.chain === chainId && hashes.includes(provenance.moduleHash)) return data
  const expected = hashes.map((each) => ({ chain: chainId, moduleHash: each }))
  throw failure('PROVENANCE_MISMATCH', {
    receivedProvenance: () => wireProvenance(provenance),
    expectedProvenance: () => expected.map(wireProvenance).join(' '),
    shownReceived: () => shownProvenance(provenance),
    shownExpected: () => `[${expected.map(shownProvenance).join(', ')}]`,
  })
}

type Provenance = NonNullable<Yield['provenance']>

function wireProvenance({ chain, moduleHash }: Provenance): string {
  return `Provenance ${abbreviate(chain, 10)} ${abbreviate(moduleHash, 20)}`
}

function shownProvenance({ chain, moduleHash }: Provenance): string {
  return `(Provenance ${chain} ${moduleHash})`
}

/** The current version of the module whose code runs. */
function currentModule(run: Run): Module {
  const calling = callingModule(run)
  if (calling === null) throw failure('NO_CALLING_MODULE', {})
  return run.findModule(calling.name) ?? calling
}

/** Stores the state of the pact, or null if it has finished, and emits the events of cross-chain yields. */
function finish(run: Run, pact: PactRun, scope: PactStepScope): void {
  checkAdvanced(pact, scope)
  const bytes = checkGasForSize(run, pactSize(stateOf(pact)))
  run.charge(PRICE.writeByte * bytes, ofWrite(bytes))
  requireWrite(run)
  const isDone = scope.isRollback || scope.step === pact.fun.steps.length - 1
  run.transaction.state.put('pacts', scope.id, isDone ? null : stateOf(pact))
  const emit = (name: string, chain: string, moduleHash: string) => {
    const params = [chain, pact.fun.qualified, pact.args]
    run.transaction.events.push({ module: 'pact', name, params, moduleHash })
    run.tracer?.begin({ kind: 'event', name: `pact.${name}`, args: params, module: run.module, place: null })
    run.tracer?.end()
  }
  const { resumed } = scope
  const { yielded } = pact
  if (resumed !== null && resumed.provenance !== null && resumed.source !== null) {
    emit('X_RESUME', resumed.source, resumed.provenance.moduleHash)
  }
  if (yielded !== null && yielded.provenance !== null) {
    emit('X_YIELD', yielded.provenance.chain, yielded.provenance.moduleHash)
  }
}

function stateOf({ id, fun, args, step, yielded, nested }: PactRun): PactState {
  return { id, fun, args, step, yielded, nested }
}

/** The current version of the function: an upgrade may have changed later steps. */
function currentFun(run: Run, fun: FunctionDefinition): FunctionDefinition {
  const name = splitName(fun.qualified)
  const now = name === null ? undefined : run.findModule(name.module)?.get(name.member)
  if (now instanceof FunctionDefinition && now.kind === 'defpact') return now
  throw failure('NO_MODULE_MEMBER', { member: fun.qualified })
}

/** Hash of the id around, and of the JSON text of the call, as a continuation in results. */
function nestedId(run: Run, around: string, fun: FunctionDefinition, args: readonly Value[]): string {
  run.work(STATE_WORK * weightOf(args))
  return hashText(`${around}:{"args":${valueToJson(args)},"def":${JSON.stringify(fun.qualified)}}`)
}

function truth(is: boolean): string {
  return is ? 'True' : 'False'
}
