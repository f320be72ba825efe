/** Natives for the top level: keysets, namespaces, and what there is. */
import { evalError, txFailure } from '../errors.ts'
import type { Module } from '../machine/ast.ts'
import type { Evaluator } from '../machine/evaluator.ts'
import { enforceGuard, functionNamed } from '../machine/guards.ts'
import type { Namespace } from '../machine/modules.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import type { Term } from '../machine/term.ts'
import { keysetFromValue } from '../values/guard-json.ts'
import type { Guard, ObjectValue, Value } from '../values/value.ts'
import { checkKeys } from './environment.ts'

const NAMESPACE = /^[A-Za-z%#+\-_&$@<>=?*!|/~^][\w%#+\-&$@<>=?*!|/~^]*$/

/** Throws EvalError within a module. */
export function topLevelOnly(args: Arguments<Evaluator>): void {
  if (args.machine.module !== null) throw args.error(`Top-level call used in module: ${args.native}`)
}

function namespaceNamed(machine: Evaluator, name: string): Namespace {
  const namespace = machine.state.get<Namespace>('namespaces', name)
  if (namespace === undefined) throw evalError(`Namespace not found: ${name}`)
  return namespace
}

/** Throws where a new keyset may not have this name. */
function checkKeysetName(machine: Evaluator, name: string): void {
  if (name === '') throw evalError('Invalid keyset name format')
  if (!machine.environment.rules.areKeysetsInNamespaces) return
  const { namespace } = machine
  if (namespace === null) throw evalError('Cannot define keyset outside of a namespace.')
  if (name.split('.')[0] !== namespace || !name.includes('.')) {
    throw evalError(`Defining keyset failed because of a namespace mismatch. Expected namespace: ${namespace}`)
  }
  enforceGuard(machine, namespaceNamed(machine, namespace).user)
}

function mayDefineNamespace({ machine, place }: Arguments<Evaluator>, name: string, admin: Guard): boolean {
  const policy = machine.environment.rules.namespacePolicy
  return policy === null || machine.apply(functionNamed(machine, policy), [name, admin], place) === true
}

/** A native that is refused within modules. */
function atTop(
  name: string,
  fewest: number,
  most: number,
  run: (args: Arguments<Evaluator>) => Term,
): Native<Evaluator> {
  return native(name, fewest, most, (args) => {
    topLevelOnly(args)
    return run(args)
  })
}

function defineKeyset(args: Arguments<Evaluator>): string {
  const { machine } = args
  const name = args.text(0)
  const field = machine.dataField(name)
  const read = field === undefined ? null : keysetFromValue(field)
  const keyset = args.has(1) ? args.guard(1) : read
  if (keyset === null) throw txFailure('define-keyset failed. Invalid format or missing key.')
  if (keyset.is.kind !== 'keyset') throw evalError('define-keyset takes a keyset')
  const before = machine.state.get<Guard>('keysets', name)
  if (before === undefined) checkKeysetName(machine, name)
  else enforceGuard(machine, before)
  machine.state.put('keysets', name, checkKeys(machine, keyset))
  return 'Keyset write success'
}

function enterNamespace(args: Arguments<Evaluator>): string {
  const { machine } = args
  const wanted = args.text(0)
  if (wanted === '') {
    machine.namespace = null
    return 'Namespace reset to root'
  }
  namespaceNamed(machine, wanted)
  machine.namespace = wanted
  return `Namespace set to ${wanted}`
}

function defineNamespace(args: Arguments<Evaluator>): string {
  const { machine } = args
  const [name, user, admin] = [args.text(0), args.guard(1), args.guard(2)]
  if (!NAMESPACE.test(name)) throw evalError(`invalid namespace format: ${name}`)
  const before = machine.state.get<Namespace>('namespaces', name)
  if (before !== undefined) enforceGuard(machine, before.admin)
  else if (!mayDefineNamespace(args, name, admin)) throw evalError('Namespace definition not permitted')
  machine.state.put('namespaces', name, { user, admin } satisfies Namespace)
  return `Namespace defined: ${name}`
}

function describeModule(args: Arguments<Evaluator>): ObjectValue {
  const module: Module | undefined = args.machine.findModule(args.text(0))
  if (module === undefined) throw evalError(`Cannot find module: ${args.text(0)}`)
  return new Map<string, Value>([
    ['name', module.name],
    ['hash', module.hash],
    ['tx_hash', module.txHash],
    ['code', module.code],
    ['interfaces', [...module.interfaces]],
  ])
}

export const topLevel: readonly Native<Evaluator>[] = [
  atTop('define-keyset', 1, 2, defineKeyset),
  atTop('describe-keyset', 1, 1, (args) => {
    const keyset = args.machine.state.get<Guard>('keysets', args.text(0))
    if (keyset === undefined) throw evalError(`Cannot find keyset in the database: ${args.text(0)}`)
    return keyset
  }),
  atTop('namespace', 1, 1, enterNamespace),
  atTop('define-namespace', 3, 3, defineNamespace),
  native('describe-namespace', 1, 1, (args) => {
    const { user, admin } = namespaceNamed(args.machine, args.text(0))
    return new Map<string, Value>([
      ['namespace-name', args.text(0)],
      ['user-guard', user],
      ['admin-guard', admin],
    ])
  }),
  atTop('describe-module', 1, 1, describeModule),
  atTop('list-modules', 0, 0, ({ machine }) => machine.state.keys('modules')),
]
