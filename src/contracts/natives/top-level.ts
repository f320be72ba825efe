/** Natives for the top level: keysets, namespaces, and what there is. */
import { evalError, txFailure } from '../errors.ts'
import type { Module } from '../machine/definitions.ts'
import { enforceGuard, functionNamed } from '../machine/guards.ts'
import type { Machine, MachineCall } from '../machine/machine.ts'
import type { Namespace } from '../machine/modules.ts'
import { keysetFromValue } from '../values/guard-json.ts'
import type { Guard, Value } from '../values/value.ts'
import { guardArg, textArg } from './arguments-of.ts'
import { checkKeys } from './environment.ts'
import type { Native } from './native.ts'

/** Thousandths of gas. */
const COSTS = { defineKeyset: 5000, describe: 100_000 }
const NAMESPACE = /^[A-Za-z%#+\-_&$@<>=?*!|/~^][\w%#+\-&$@<>=?*!|/~^]*$/

/** Throws EvalError within a module. */
export function topLevelOnly(machine: Machine, native: string): void {
  if (machine.module !== null) throw evalError(`Top-level call used in module: ${native}`)
}

function namespaceNamed(machine: Machine, name: string): Namespace {
  const namespace = machine.state.get<Namespace>('namespaces', name)
  if (namespace === undefined) throw evalError(`Namespace not found: ${name}`)
  return namespace
}

/** Throws where a new keyset may not have this name. */
function checkKeysetName(machine: Machine, name: string): void {
  if (name === '') throw evalError('Invalid keyset name format')
  if (!machine.environment.rules.areKeysetsInNamespaces) return
  const { namespace } = machine
  if (namespace === null) throw evalError('Cannot define keyset outside of a namespace.')
  if (name.split('.')[0] !== namespace || !name.includes('.')) {
    throw evalError(`Defining keyset failed because of a namespace mismatch. Expected namespace: ${namespace}`)
  }
  enforceGuard(machine, namespaceNamed(machine, namespace).user)
}

function mayDefineNamespace(machine: Machine, name: string, admin: Guard, call: MachineCall): boolean {
  const policy = machine.environment.rules.namespacePolicy
  return policy === null || call.apply(functionNamed(machine, policy), [name, admin]) === true
}

export const topLevel: readonly Native<MachineCall>[] = [
  {
    name: 'define-keyset',
    arity: [1, 2],
    run: ([name, given], call) => {
      const { machine } = call
      topLevelOnly(machine, 'define-keyset')
      call.charge(COSTS.defineKeyset)
      const keysetName = textArg('define-keyset', name)
      const field = machine.dataField(keysetName)
      const read = field === undefined ? null : keysetFromValue(field)
      const keyset = given === undefined ? read : guardArg('define-keyset', given)
      if (keyset === null) throw txFailure('define-keyset failed. Invalid format or missing key.')
      if (keyset.is.kind !== 'keyset') throw evalError('define-keyset takes a keyset')
      const before = machine.state.get<Guard>('keysets', keysetName)
      if (before === undefined) checkKeysetName(machine, keysetName)
      else enforceGuard(machine, before)
      machine.state.put('keysets', keysetName, checkKeys(machine, keyset))
      return 'Keyset write success'
    },
  },
  {
    name: 'describe-keyset',
    arity: [1, 1],
    run: ([name], { machine }) => {
      topLevelOnly(machine, 'describe-keyset')
      const keyset = machine.state.get<Guard>('keysets', textArg('describe-keyset', name))
      if (keyset === undefined) throw evalError(`Cannot find keyset in the database: ${String(name)}`)
      return keyset
    },
  },
  {
    name: 'namespace',
    arity: [1, 1],
    run: ([name], { machine }) => {
      topLevelOnly(machine, 'namespace')
      const wanted = textArg('namespace', name)
      if (wanted === '') {
        machine.namespace = null
        return 'Namespace reset to root'
      }
      namespaceNamed(machine, wanted)
      machine.namespace = wanted
      return `Namespace set to ${wanted}`
    },
  },
  {
    name: 'define-namespace',
    arity: [3, 3],
    run: ([nameTerm, userTerm, adminTerm], call) => {
      const { machine } = call
      topLevelOnly(machine, 'define-namespace')
      const name = textArg('define-namespace', nameTerm)
      const [user, admin] = [guardArg('define-namespace', userTerm), guardArg('define-namespace', adminTerm)]
      if (!NAMESPACE.test(name)) throw evalError(`invalid namespace format: ${name}`)
      const before = machine.state.get<Namespace>('namespaces', name)
      if (before !== undefined) enforceGuard(machine, before.admin)
      else if (!mayDefineNamespace(machine, name, admin, call)) throw evalError('Namespace definition not permitted')
      machine.state.put('namespaces', name, { user, admin } satisfies Namespace)
      return `Namespace defined: ${name}`
    },
  },
  {
    name: 'describe-namespace',
    arity: [1, 1],
    run: ([name], { machine }) => {
      const wanted = textArg('describe-namespace', name)
      const { user, admin } = namespaceNamed(machine, wanted)
      return new Map<string, Value>([
        ['namespace-name', wanted],
        ['user-guard', user],
        ['admin-guard', admin],
      ])
    },
  },
  {
    name: 'describe-module',
    arity: [1, 1],
    run: ([name], call) => {
      const { machine } = call
      topLevelOnly(machine, 'describe-module')
      call.charge(COSTS.describe)
      const module: Module | undefined = machine.findModule(textArg('describe-module', name))
      if (module === undefined) throw evalError(`Cannot find module: ${String(name)}`)
      return new Map<string, Value>([
        ['name', module.name],
        ['hash', module.hash],
        ['tx_hash', module.txHash],
        ['code', module.code],
        ['interfaces', [...module.interfaces]],
      ])
    },
  },
  {
    name: 'list-modules',
    arity: [0, 0],
    run: (_, { machine }) => {
      topLevelOnly(machine, 'list-modules')
      return machine.state.keys('modules')
    },
  },
]
