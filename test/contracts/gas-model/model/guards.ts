/**
 * Enforces guards, and governance of modules (Pact/Core/IR/Eval/CEK/Evaluator.hs: enforceGuard, isKeysetInSigs,
 * runUserGuard, acquireModuleAdmin; COMMANDS.md, "Guards"). User guards, module guards, predicates and governance look
 * up the module alone.
 */
import { allHeld, evaluateCapability, isHeld, sameTokens } from './capabilities.ts'
import { type Env, isClosure, type Result, readOnly } from './env.ts'
import { functionOf, type Machine } from './machine.ts'
import { NATIVES } from './natives.ts'
import { Fatal, Recoverable, type State, type Token } from './state.ts'
import { bool, type Guard, int, type Module, splitQualified, UNIT, type Value } from './terms.ts'

type Keyset = Pick<Extract<Guard, { readonly g: 'keyset' }>, 'keys' | 'pred'>

export function enforceGuard(machine: Machine, env: Env, g: Guard): Value {
  const { state } = machine
  state.note(`guard: ${g.g}`)
  switch (g.g) {
    case 'keyset':
      return enforceKeyset(machine, env, g)
    case 'keyset-ref':
      return enforceNamedKeyset(machine, env, g.name)
    case 'user':
      return enforceUserGuard(machine, env, g)
    case 'capability':
      if (g.pact !== null && currentPactId(state) !== g.pact) throw new Recoverable()
      if (!isHeld(state, { name: g.name, args: g.args })) throw new Recoverable()
      return bool(true)
    case 'module':
      if (!state.isCalledBy(g.module)) acquireAdmin(machine, env, state.getModule(g.module, 'module guard'))
      return bool(true)
    case 'pact':
      if (currentPactId(state) !== g.pact) throw new Recoverable()
      return bool(true)
  }
}

export function currentPactId({ pact }: State): string {
  if (pact === null) throw new Fatal('not in a pact')
  return pact.id
}

export function findKeyset(state: State, name: string): Keyset {
  const keyset = state.db.keysets.get(name)
  if (keyset === undefined) throw new Fatal(`no such keyset ${name}`)
  return keyset
}

export function enforceNamedKeyset(machine: Machine, env: Env, name: string): Value {
  return enforceKeyset(machine, env, findKeyset(machine.state, name))
}

export function enforceKeyset(machine: Machine, env: Env, { keys, pred }: Keyset): Value {
  const { state } = machine
  const count = new Set(keys).size
  const matched = state.message.signers.filter(({ key, capabilities }) => {
    return keys.includes(key) && countsNow(state, capabilities)
  }).length
  switch (pred) {
    case 'keys-all':
      return passes(matched >= count)
    case 'keys-any':
      return passes(matched >= 1)
    case 'keys-2':
      return passes(matched >= 2)
  }
  state.note('guard: keyset with a predicate of a module')
  const closure = predicateOf(machine, env, pred)
  return passes(machine.bool(machine.apply(closure, [int(count), int(matched)])))
}

function passes(isMet: boolean): Value {
  if (!isMet) throw new Recoverable()
  return bool(true)
}

/** Without a namespace a predicate is a native. */
function predicateOf(machine: Machine, env: Env, pred: string) {
  const { state } = machine
  if (!pred.includes('.')) {
    const { arity } = NATIVES.get(pred) ?? { arity: 0 }
    if (arity === 0) throw new Fatal('expected a native')
    return { c: 'native', name: pred, env, arity, given: [] } as const
  }
  const { module, member } = splitQualified(pred)
  const { fqn, def } = state.getMember(module, member, 'keyset predicate')
  if (def.d !== 'defun') throw new Fatal('expected a function')
  return functionOf(fqn, def, env)
}

/** Whether a signature counts: it is unscoped, or lists a capability that is evaluated now, or held (checkSigCaps). */
function countsNow(state: State, capabilities: readonly Token[]): boolean {
  if (capabilities.length === 0) return state.autonomous.length === 0
  const granted = state.evaluated.length === 0 ? allHeld(state) : state.evaluated
  return capabilities.some((each) => granted.some((held) => sameTokens(each, held)))
}

function enforceUserGuard(machine: Machine, env: Env, { fun, args }: Extract<Guard, { readonly g: 'user' }>): Value {
  const { module, member } = splitQualified(fun)
  const { fqn, def } = machine.state.getMember(module, member, 'user guard')
  if (def.d !== 'defun' || def.args.length !== args.length) throw new Fatal('user guard')
  machine.apply(functionOf(fqn, def, readOnly(env)), args)
  return bool(true)
}

/** Runs the governance of a module, unless the transaction is its administrator. */
export function acquireAdmin(machine: Machine, env: Env, module: Module): Result {
  const { state } = machine
  if (state.admin.has(module.name)) return UNIT
  const { governance } = module
  const result =
    'keyset' in governance
      ? enforceNamedKeyset(machine, env, governance.keyset)
      : evaluateCapability(machine, env, { v: 'token', fqn: governance.capability, args: [] }, 'invoke', () => UNIT)
  if (isClosure(result)) throw new Fatal('governance')
  state.admin = new Set([...state.admin, module.name])
  return result
}

/** A capability that the language holds while it asks for a keyset or a namespace (withMagicCap). */
export function withMagic<T>(state: State, name: string, param: string, run: () => T): T {
  const token: Token = { name: `pact.${name}`, args: [{ v: 'string', s: param }] }
  if (isHeld(state, token)) throw new Fatal('magic capability acquired already')
  const before = state.slots
  state.slots = [{ token, composed: [] }, ...before]
  const result = run()
  state.slots = before
  return result
}
