/** Natives of capabilities, principals and pacts (CoreBuiltin.hs; TableGasModel.hs, GCapOp). */
import { allHeld, evaluateCapability, installCapability, isHeld, tokenOf } from './capabilities.ts'
import { hashOfBytes } from './encode.ts'
import { currentPactId } from './guards.ts'
import { as, type Code, fieldsOf, guardOf, lengthOf, textOf } from './native-args.ts'
import { sizeOfCapabilityGuard, sizeOfUserGuard } from './sizes.ts'
import { Fatal, Recoverable, type State } from './state.ts'
import { bool, type Guard, guard, str } from './terms.ts'
import { render } from './values.ts'

const requireCapability: Code = ({ state }, _, [given]) => {
  state.charge(allHeld(state).length * 100)
  if (!isHeld(state, tokenOf(as(given, 'token')))) throw new Recoverable()
  return bool(true)
}

const composeCapability: Code = (machine, env, [given]) => {
  const { state } = machine
  if (state.stack[0]?.kind !== 'defcap') throw new Fatal('compose-capability outside of a capability')
  const token = as(given, 'token')
  if (isHeld(state, tokenOf(token))) return bool(true)
  state.note('capability: composed')
  return evaluateCapability(machine, env, token, 'compose', () => bool(true))
}

const install: Code = ({ state }, env, [given]) => {
  if (env.inCap) throw new Fatal('install-capability in a capability')
  installCapability(state, as(given, 'token'), true)
  return str('Installed capability')
}

/** The module of the event is not looked up (coreEmitEvent). */
const emit: Code = ({ state }, _, [given]) => {
  const { fqn } = as(given, 'token')
  state.guardForModuleCall(fqn.m)
  const def = state.findDef(fqn)
  if (def.d !== 'defcap' || def.meta.meta === 'none') throw new Fatal('not an event')
  if (state.caller !== fqn.m) throw new Fatal('event of another module')
  return bool(true)
}

const capabilityGuard =
  (inPact: boolean): Code =>
  ({ state }, _, [given]) => {
    const { name, args } = tokenOf(as(given, 'token'))
    return guard({ g: 'capability', name, args, pact: inPact ? currentPactId(state) : null })
  }

const KEY = /^[0-9a-f]{64}$/

/** The name of a guard; each kind has a price of its own (createPrincipalForGuard). */
function principalOf(state: State, g: Guard): string {
  switch (g.g) {
    case 'keyset': {
      state.charge(1000)
      if (g.keys.length === 1 && g.pred === 'keys-all' && KEY.test(g.keys[0])) return `k:${g.keys[0]}`
      if (g.pred.includes('.')) state.charge(lengthOf(g.pred.replaceAll('.', '')) * 100)
      return `w:${hashOfBytes(Buffer.from(g.keys.join('')))}:${g.pred}`
    }
    case 'keyset-ref':
      state.charge(1000)
      return `r:${g.name}`
    case 'module':
      state.charge(1000)
      return `m:${g.module}:${g.name}`
    case 'pact':
      state.charge(1000)
      return `p:${g.pact}:${g.name}`
    case 'user':
      state.charge(sizeOfUserGuard(g.fun, g.args) * 100 + 1000)
      return `u:${g.fun}:${hashOfBytes(Buffer.from(g.args.map(render).join()))}`
    case 'capability':
      state.charge(sizeOfCapabilityGuard(g.name, g.args, g.pact) * 100 + 1000)
      return `c:${hashOfBytes(Buffer.from(g.name + g.args.map(render).join() + (g.pact ?? '')))}`
  }
}

const PRINCIPAL = /^(k:[0-9a-f]{64}|w:[\w-]{43}:.+|r:.+|m:.+:.+|p:[\w-]{43}:.+|u:.+:[\w-]{43}|c:[\w-]{43})$/

export const CAPABILITIES: readonly (readonly [string, Code])[] = [
  ['require-capability', requireCapability],
  ['compose-capability', composeCapability],
  ['install-capability', install],
  ['emit-event', emit],
  ['create-capability-guard', capabilityGuard(false)],
  ['create-capability-pact-guard', capabilityGuard(true)],
  [
    'create-module-guard',
    ({ state }, _, [name]) => {
      const { caller } = state
      if (caller === null) throw new Fatal('not in a module')
      return guard({ g: 'module', module: caller, name: textOf(name) })
    },
  ],
  ['create-pact-guard', ({ state }, _, [name]) => guard({ g: 'pact', pact: currentPactId(state), name: textOf(name) })],
  ['create-principal', ({ state }, _, [given]) => str(principalOf(state, guardOf(given)))],
  [
    'validate-principal',
    ({ state }, _, [given, name]) => {
      const principal = principalOf(state, guardOf(given))
      state.charge(lengthOf(textOf(name)) + 100)
      return bool(principal === textOf(name))
    },
  ],
  [
    'is-principal',
    ({ state }, _, [name]) => {
      state.charge(lengthOf(textOf(name)) * 5 + 1)
      return bool(PRINCIPAL.test(textOf(name)))
    },
  ],
  [
    'typeof-principal',
    ({ state }, _, [name]) => {
      state.charge(lengthOf(textOf(name)) * 5 + 1)
      return str(PRINCIPAL.test(textOf(name)) ? textOf(name).slice(0, 2) : '')
    },
  ],
  ['pact-id', ({ state }) => str(currentPactId(state))],
  [
    'yield',
    ({ state }, _, [given]) => {
      const fields = fieldsOf(given)
      if (state.pact === null) throw new Fatal('yield outside of a pact')
      state.pact = { ...state.pact, yielded: { data: fields } }
      return { v: 'object', fields }
    },
  ],
]
