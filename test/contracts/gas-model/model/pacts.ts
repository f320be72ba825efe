/**
 * Starts, continues and nests pacts (Pact/Core/IR/Eval/CEK/Evaluator.hs: initPact, applyPact, applyNestedPact,
 * resumePact). The state of a pact is charged as a write, also at its end.
 */
import { hashOfBytes } from './encode.ts'
import type { Env, PactScope } from './env.ts'
import type { Machine } from './machine.ts'
import { sizeOfPact } from './sizes.ts'
import { Fatal } from './state.ts'
import { type Defpact, type Fqn, type PactExec, qualifiedOf, splitQualified, type Value } from './terms.ts'
import { render } from './values.ts'

const WRITE_COST = 200

export function startPact(machine: Machine, env: Env, fqn: Fqn, args: readonly Value[]): Value {
  const name = qualifiedOf(fqn)
  if (env.step === null) {
    const scope: PactScope = { step: 0, isRollback: false, id: machine.state.message.hash, resumed: null }
    return applyPact(machine, { ...env, step: scope }, name, args, scope, new Map())
  }
  // The identity of a nested pact hashes its call; every such text is as long.
  const id = hashOfBytes(Buffer.from(`${env.step.id}:${name}:${args.map(render).join()}`))
  return applyNested(machine, env, name, args, { ...env.step, id, resumed: null })
}

function pactOf(machine: Machine, name: string): { readonly fqn: Fqn; readonly def: Defpact } {
  const { module, member } = splitQualified(name)
  const { fqn, def } = machine.state.getMember(module, member, 'pact step')
  if (def.d !== 'defpact') throw new Fatal('expected a pact')
  return { fqn, def }
}

function applyPact(
  machine: Machine,
  env: Env,
  name: string,
  args: readonly Value[],
  scope: PactScope,
  nested: PactExec['nested'],
): Value {
  const { state } = machine
  if (state.pact !== null) throw new Fatal('more than one pact')
  const { fqn, def } = pactOf(machine, name)
  const step = def.steps[scope.step]
  if (step === undefined) throw new Fatal('invalid step')
  state.pact = {
    count: def.steps.length,
    yielded: null,
    step: scope.step,
    id: scope.id,
    name,
    args,
    hasRollback: step.rollback !== null,
    nested,
  }
  const value = runStep(machine, env, fqn, step, scope.isRollback)
  const exec = state.pact as PactExec
  const isDone = scope.isRollback || scope.step === exec.count - 1
  checkNested(exec, scope)
  state.charge(WRITE_COST * sizeOfPact(exec))
  state.db.pacts.set(scope.id, isDone ? null : exec)
  return value
}

function runStep(
  machine: Machine,
  env: Env,
  fqn: Fqn,
  { run, rollback }: Defpact['steps'][number],
  isRollback: boolean,
): Value {
  const code = isRollback ? rollback : run
  if (code === null) throw new Fatal('no rollback')
  machine.state.note(isRollback ? 'pact: rollback' : 'pact: step')
  return machine.callWithFrame(env, null, { fqn, kind: 'defpact' }, code)
}

/** Every nested pact has run the step of the one around it. */
function checkNested(exec: PactExec, { step }: PactScope): void {
  if ([...exec.nested.values()].some((each) => each.step !== step)) throw new Fatal('nested pacts not advanced')
}

function applyNested(machine: Machine, env: Env, name: string, args: readonly Value[], scope: PactScope): Value {
  const { state } = machine
  const parent = state.pact
  if (parent === null) throw new Fatal('no pact')
  const { fqn, def } = pactOf(machine, name)
  const step = def.steps[scope.step]
  if (step === undefined) throw new Fatal('invalid step')
  const count = def.steps.length
  const hasRollback = step.rollback !== null
  if (count !== parent.count || hasRollback !== parent.hasRollback) throw new Fatal('nested pact differs')
  state.note('pact: nested')
  state.pact = nestedState(parent.nested.get(scope.id), scope, {
    count,
    yielded: null,
    step: scope.step,
    id: scope.id,
    name,
    args,
    hasRollback,
    nested: new Map(),
  })
  const inner: PactScope = { ...scope, resumed: state.pact.yielded }
  const value = runStep(machine, { ...env, step: inner }, fqn, step, scope.isRollback)
  const exec = state.pact as PactExec
  checkNested(exec, scope)
  state.pact = { ...parent, nested: new Map([...parent.nested, [scope.id, exec]]) }
  return value
}

function nestedState(before: PactExec | undefined, { step }: PactScope, first: PactExec): PactExec {
  if (before === undefined) {
    if (step !== 0) throw new Fatal('nested pact was never started')
    return first
  }
  const exec = { ...before, hasRollback: first.hasRollback }
  if (first.hasRollback && before.step === step) return exec
  if (step > 0 && before.step + 1 === step) return { ...exec, step }
  throw new Fatal('nested pact was never started')
}

/** Runs a later step, or rolls the last one back. */
export function continuePact(machine: Machine, env: Env, scope: Omit<PactScope, 'resumed'>): Value {
  const before = machine.state.db.pacts.get(scope.id)
  if (before === undefined || before === null) throw new Fatal('no such pact')
  if (scope.step < 0 || scope.step >= before.count) throw new Fatal('invalid step')
  if (scope.step !== before.step + (scope.isRollback ? 0 : 1)) throw new Fatal('step does not follow')
  const resumed: PactScope = { ...scope, resumed: before.yielded }
  const inner = { ...env, step: resumed, locals: [...before.args].reverse() }
  return applyPact(machine, inner, before.name, before.args, resumed, before.nested)
}
