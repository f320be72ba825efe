/** Capabilities and guards, as functions. */
import { evalError, txFailure } from '../errors.ts'
import { requireAdmin } from '../machine/admin.ts'
import { Fun } from '../machine/definitions.ts'
import { refuseInDefcap } from '../machine/forms.ts'
import { enforceGuard } from '../machine/guards.ts'
import type { MachineCall } from '../machine/machine.ts'
import { pactIdOf, yieldObject } from '../machine/pacts.ts'
import { Guard } from '../values/value.ts'
import { guardArg, moduleArg, objectArg, textArg, tokenArg } from './arguments-of.ts'
import type { Native } from './native.ts'

/** Thousandths of gas. */
const COSTS = { enforceGuard: 2000, capability: 500, emit: 1000, admin: 20_000 }

/** The module whose code calls. Throws EvalError at the top level. */
function moduleOf({ machine }: MachineCall, native: string) {
  const { module } = machine
  if (module === null) throw evalError(`${native} is allowed in modules only`)
  return module
}

function enforce(name: string): Native<MachineCall> {
  return {
    name,
    arity: [1, 1],
    run: ([guard], call) => {
      call.charge(COSTS.enforceGuard)
      enforceGuard(call.machine, typeof guard === 'string' ? guard : guardArg(name, guard))
      return true
    },
  }
}

export const capabilities: readonly Native<MachineCall>[] = [
  enforce('enforce-guard'),
  enforce('enforce-keyset'),
  {
    name: 'keyset-ref-guard',
    arity: [1, 1],
    run: ([name], { machine }) => {
      const keyset = textArg('keyset-ref-guard', name)
      if (machine.state.get('keysets', keyset) === undefined)
        throw evalError(`Cannot find keyset in database: '${keyset}`)
      return new Guard({ kind: 'keysetRef', name: keyset })
    },
  },
  {
    name: 'require-capability',
    arity: [1, 1],
    run: ([token], call) => {
      call.charge(COSTS.capability)
      call.machine.capabilities.require(tokenArg('require-capability', token))
      return true
    },
  },
  {
    name: 'compose-capability',
    arity: [1, 1],
    run: ([token], call) => {
      call.charge(COSTS.capability)
      call.machine.capabilities.compose(tokenArg('compose-capability', token))
      return true
    },
  },
  {
    name: 'install-capability',
    arity: [1, 1],
    run: ([token], call) => {
      call.charge(COSTS.capability)
      refuseInDefcap(call.machine, 'install-capability', call.place)
      call.machine.capabilities.install(tokenArg('install-capability', token))
      return 'Installed capability'
    },
  },
  {
    name: 'emit-event',
    arity: [1, 1],
    run: ([token], call) => {
      call.charge(COSTS.emit)
      const event = tokenArg('emit-event', token)
      const module = moduleOf(call, 'emit-event')
      const fun = event.name.startsWith(`${module.name}.`) ? module.get(event.name.slice(module.name.length + 1)) : null
      if (!(fun instanceof Fun)) throw evalError(`Emitted event does not match module: ${module.name}`)
      if (!fun.isEvent && fun.managed === null) throw evalError(`Invalid event capability: ${event.name}`)
      call.machine.emit(fun, event.args)
      return true
    },
  },
  {
    name: 'create-capability-guard',
    arity: [1, 1],
    run: ([token], call) => {
      const { name, args } = tokenArg('create-capability-guard', token)
      const { module } = call.machine
      if (module !== null && !name.startsWith(`${module.name}.`))
        throw evalError(`a capability guard of another module: ${name}`)
      return new Guard({ kind: 'capability', name, args, pactId: null })
    },
  },
  {
    name: 'create-capability-pact-guard',
    arity: [1, 1],
    run: ([token], { machine }) => {
      const { name, args } = tokenArg('create-capability-pact-guard', token)
      return new Guard({ kind: 'capability', name, args, pactId: pactIdOf(machine) })
    },
  },
  {
    name: 'create-module-guard',
    arity: [1, 1],
    run: ([name], call) => {
      const module = moduleOf(call, 'create-module-guard').name
      return new Guard({ kind: 'module', module, name: textArg('create-module-guard', name) })
    },
  },
  {
    name: 'create-pact-guard',
    arity: [1, 1],
    run: ([name], { machine }) => {
      return new Guard({ kind: 'pact', pactId: pactIdOf(machine), name: textArg('create-pact-guard', name) })
    },
  },
  {
    name: 'acquire-module-admin',
    arity: [1, 1],
    run: ([ref], { machine, charge }) => {
      charge(COSTS.admin)
      const { name } = moduleArg('acquire-module-admin', ref)
      const module = machine.findModule(name)
      if (module === undefined) throw evalError(`Cannot find module: ${name}`)
      requireAdmin(machine, module)
      return `Module admin for module ${name} acquired`
    },
  },
  {
    name: 'enforce-verifier',
    arity: [1, 1],
    run: ([name], { machine }) => {
      const verifier = textArg('enforce-verifier', name)
      const tokens = machine.environment.verifiers.get(verifier)
      if (tokens === undefined) throw txFailure(`Verifier ${verifier} failed with the message: not in transaction`)
      if (!machine.capabilities.covers(tokens))
        throw txFailure(`Verifier ${verifier} failed with the message: not in scope`)
      return true
    },
  },
  {
    name: 'yield',
    arity: [1, 2],
    run: ([object, chain], { machine }) => {
      const data = objectArg('yield', object)
      yieldObject(machine, data, chain === undefined ? null : textArg('yield', chain))
      return data
    },
  },
]
