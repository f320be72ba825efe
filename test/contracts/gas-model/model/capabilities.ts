/**
 * Grants, composes and installs capabilities (Pact/Core/IR/Eval/CEK/Evaluator.hs: evalCap, installCap, requireCap;
 * COMMANDS.md, "Capabilities"). Granting itself costs nothing; calls of tokens and managers do.
 */
import type { Env, Result } from './env.ts'
import { functionOf, type Machine } from './machine.ts'
import { Fatal, type Managed, Recoverable, type State, type Token } from './state.ts'
import { type Defcap, type Fqn, qualifiedOf, type Value } from './terms.ts'
import { sameValues } from './values.ts'

type TokenValue = Extract<Value, { readonly v: 'token' }>

export const tokenOf = ({ fqn, args }: Pick<TokenValue, 'fqn' | 'args'>): Token => ({ name: qualifiedOf(fqn), args })

export function sameTokens(a: Token, b: Token): boolean {
  return a.name === b.name && a.args.length === b.args.length && a.args.every((arg, i) => sameValues(arg, b.args[i]))
}

export function allHeld({ slots }: State): readonly Token[] {
  return slots.flatMap(({ token, composed }) => [token, ...composed])
}

export function isHeld(state: State, token: Token): boolean {
  return allHeld(state).some((each) => sameTokens(each, token))
}

function defcapOf(state: State, fqn: Fqn): Defcap {
  const def = state.findDef(fqn)
  if (def.d !== 'defcap') throw new Fatal('expected a defcap')
  return def
}

const without = (args: readonly Value[], index: number): Value[] => args.filter((_, i) => i !== index)

/**
 * Evaluates the body of a capability unless it is held, then the code that needs it.
 * @param end whether the capability ends after the code, or belongs to the one around it
 */
export function evaluateCapability(
  machine: Machine,
  env: Env,
  token: TokenValue,
  end: 'invoke' | 'compose',
  code: () => Result,
): Result {
  const { state } = machine
  const own = tokenOf(token)
  if (isHeld(state, own)) {
    state.note('capability: held already')
    return code()
  }
  const def = defcapOf(state, token.fqn)
  const evaluated = state.evaluated
  const inner: Env = { ...env, inCap: true, locals: [...token.args].reverse() }
  const runBody = (held: Token): void => {
    state.slots = [{ token: held, composed: [] }, ...state.slots]
    state.evaluated = [...state.evaluated, held]
    const frame = { fqn: token.fqn, kind: 'defcap' } as const
    if (def.meta.meta === 'none') machine.callWithFrame(inner, null, frame, def.term)
    // A module that called through a reference may write in these (evalCap).
    else state.withFrame(frame, () => machine.value(inner, def.term))
  }
  state.note(`capability: ${def.meta.meta}`)
  switch (def.meta.meta) {
    case 'none':
    case 'event':
      runBody(own)
      break
    case 'auto': {
      const managed = findManaged(state, own) ?? installSigned(state, token, (each) => sameTokens(each, own))
      if (!('used' in managed.by)) throw new Fatal('expected an automatic capability')
      if (managed.by.used) throw new Recoverable()
      replaceManaged(state, { ...managed, by: { used: true } })
      runBody(own)
      break
    }
    case 'by': {
      const { index } = def.meta
      const filtered = { name: own.name, args: without(own.args, index) }
      const isSigned = (each: Token) =>
        each.name === own.name && sameTokens({ name: each.name, args: without(each.args, index) }, filtered)
      const managed = findManaged(state, filtered) ?? installSigned(state, token, isSigned)
      runManaged(machine, env, managed, token.args[index], () => runBody(managed.original))
    }
  }
  state.evaluated = evaluated
  const [top, ...rest] = state.slots
  // The slot of a managed capability has the token as installed until its body ends.
  state.slots = def.meta.meta === 'by' ? [{ ...top, token: own }, ...rest] : state.slots
  const result = code()
  if (end === 'invoke') {
    state.slots = state.slots.slice(1)
    return result
  }
  const [composed, around, ...outer] = state.slots
  const added = [composed.token, ...composed.composed]
  state.slots = [{ ...around, composed: [...around.composed, ...added] }, ...outer]
  return result
}

function runManaged(machine: Machine, env: Env, managed: Managed, asked: Value, runBody: () => void): void {
  const { state } = machine
  if ('used' in managed.by) throw new Fatal('expected a managed capability')
  const { manager, left, index } = managed.by
  const def = state.findDef(manager)
  if (def.d !== 'defun') throw new Fatal('expected a manager')
  const closure = functionOf(manager, def, env)
  runBody()
  const rest = machine.apply(closure, [left, asked])
  if ('c' in rest) throw new Fatal('expected a value')
  replaceManaged(state, { ...managed, by: { manager, left: rest, index } })
}

function findManaged({ managed }: State, token: Token): Managed | undefined {
  return managed.find((each) => sameTokens(each.token, token))
}

function replaceManaged(state: State, managed: Managed): void {
  state.managed = [...state.managed.filter((each) => !sameTokens(each.token, managed.token)), managed]
}

/** Installs a capability that a signature lists. */
function installSigned(state: State, token: TokenValue, matches: (signed: Token) => boolean): Managed {
  const signed = state.message.signers.flatMap(({ capabilities }) => capabilities).find(matches)
  if (signed === undefined) throw new Fatal('capability is not installed')
  state.note('capability: installed by a signature')
  return installCapability(state, { fqn: token.fqn, args: signed.args }, false)
}

/** @param isAutonomous installed by code, after which unscoped signatures count no more */
export function installCapability(
  state: State,
  { fqn, args }: Pick<TokenValue, 'fqn' | 'args'>,
  isAutonomous: boolean,
): Managed {
  const { meta } = defcapOf(state, fqn)
  const original = tokenOf({ fqn, args })
  if (meta.meta !== 'auto' && meta.meta !== 'by') throw new Fatal('not a managed capability')
  const token = 'index' in meta ? { name: original.name, args: without(args, meta.index) } : original
  if (findManaged(state, token) !== undefined) throw new Fatal('installed already')
  const by = 'index' in meta ? { manager: meta.manager, left: args[meta.index], index: meta.index } : { used: false }
  const managed: Managed = { token, original, by }
  state.managed = [...state.managed, managed]
  if (!isAutonomous) return managed
  if (meta.meta === 'by') {
    const signed = state.message.signers.flatMap(({ capabilities }) => capabilities)
    const isSame = (each: Token) =>
      each.name === original.name && sameTokens({ name: each.name, args: without(each.args, meta.index) }, token)
    if (signed.some(isSame)) throw new Fatal('installed already')
  }
  state.autonomous = [...state.autonomous, original]
  return managed
}
