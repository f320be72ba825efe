/** Top-level natives: keysets, namespaces and descriptions of what exists. */
import { type ContractError, evalError } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import type { Module, Run } from '../../machine/ast.ts'
import { ofRead, ofWrite } from '../../machine/gas/cost-names.ts'
import { countCharacters, PRICE } from '../../machine/gas/prices.ts'
import { type Arguments, checkGasForSize, type Native, native } from '../../machine/native.ts'
import { callingModule, nativeFailure, requireWrite } from '../../machine/rights/access.ts'
import { checkKeysetFormat, enforceGuard, functionNamed } from '../../machine/rights/guards.ts'
import { withLanguageCapability } from '../../machine/rights/language-capabilities.ts'
import type { Namespace } from '../../machine/state.ts'
import type { Term } from '../../machine/term.ts'
import { keysetSize, namespaceSize } from '../../values/charged-size.ts'
import { keysetFromValue } from '../../values/guard-json.ts'
import type { Guard, ObjectValue, Value } from '../../values/value.ts'
import { chargeKeyset, checkKeys, readDataField } from './environment.ts'

/** Latin-1 letters, digits and signs; the first is a letter. */
const NAMESPACE = /^(?=\p{L})(?:[\p{L}\p{N}%#+\-_&$@<>=^?*!|/~](?<=[\0-\xff]))+$/u

/** @throws EvalError within a module */
export function requireTopLevel(args: Arguments<Run>): void {
  if (callingModule(args.run) !== null) throw args.error(`Top-level call used in module: ${args.native}`)
}

function requireNamespace(run: Run, name: string): Namespace {
  const namespace = run.transaction.state.get<Namespace>('namespaces', name)
  if (namespace === undefined) throw evalError(`Namespace not found: ${name}`)
  return namespace
}

/**
 * Finds a namespace; the name and what is found cost as a row.
 * @throws EvalError if there is none
 */
function readNamespace(run: Run, name: string): Namespace {
  run.charge(PRICE.readByte * countCharacters(name), ofRead(countCharacters(name)))
  const namespace = requireNamespace(run, name)
  chargeNamespace(run, PRICE.readByte, name, namespace)
  return namespace
}

function chargeNamespace(run: Run, perByte: number, name: string, { user, admin }: Namespace): void {
  const bytes = checkGasForSize(run, namespaceSize(name, user, admin))
  run.charge(perByte * bytes, perByte === PRICE.readByte ? ofRead(bytes) : ofWrite(bytes))
}

/** @throws EvalError if a new keyset may not have this name */
function checkKeysetName(run: Run, name: string): void {
  if (!run.block.rules.areKeysetsInNamespaces) return
  const { namespace } = run.program
  if (namespace === null) throw evalError('Cannot define keyset outside of a namespace.')
  if (name.split('.')[0] !== namespace || !name.includes('.')) {
    throw evalError(`Defining keyset failed because of a namespace mismatch. Expected namespace: ${namespace}`)
  }
  withLanguageCapability(run, 'NAMESPACE', namespace, () => enforceGuard(run, requireNamespace(run, namespace).user))
}

/** @throws EvalError unless the policy of the network permits a new namespace */
function askPolicy(args: Arguments<Run>, name: string, admin: Guard): void {
  const { run, place } = args
  const policy = run.block.rules.namespacePolicy
  if (policy === null) return
  const isPermitted = run.apply(functionNamed(run, policy), [name, admin], place)
  if (typeof isPermitted !== 'boolean')
    throw executionFailure(args, 'Namespace manager function returned an invalid value')
  if (!isPermitted) throw executionFailure(args, 'Namespace definition not permitted')
}

/** Failure of a native that the type of its arguments does not show. */
export function executionFailure({ native, place }: Arguments<Run>, why: string): ContractError {
  return nativeFailure(native, why, place)
}

/** @throws EvalError in a transaction whose rules allow it in `local` calls only */
function requireLocal({ run, native, place }: Arguments<Run>): void {
  if (!run.block.rules.isHistoryLocal) return
  throw evalError(`Operation only permitted in local execution mode: ${native}`, place)
}

/** Builds a native that is refused within modules. */
function topLevelNative(name: string, fewest: number, most: number, run: (args: Arguments<Run>) => Term): Native<Run> {
  return native(name, fewest, most, (args) => {
    requireTopLevel(args)
    return run(args)
  })
}

/** Keyset of the message data; null if there is none of this name. */
function readKeyset(run: Run, name: string): Guard | null {
  const field = readDataField(run, name)
  chargeKeyset(run, field)
  return field === undefined ? null : keysetFromValue(field)
}

function defineKeyset(args: Arguments<Run>): string {
  const { run } = args
  const name = args.text(0)
  checkKeysetFormat(name)
  const keyset = args.has(1) ? args.guard(1) : readKeyset(run, name)
  if (keyset === null) throw failure('UNREADABLE', { native: 'define-keyset' })
  if (keyset.is.kind !== 'keyset') throw evalError('define-keyset takes a keyset')
  const before = run.transaction.state.get<Guard>('keysets', name)
  if (before === undefined) checkKeysetName(run, name)
  else withLanguageCapability(run, 'DEFINE_KEYSET', name, () => enforceGuard(run, before))
  const bytes = checkGasForSize(run, keysetSize(keyset.is))
  run.charge(PRICE.writeByte * bytes, ofWrite(bytes))
  requireWrite(run)
  run.transaction.state.put('keysets', name, checkKeys(run, keyset))
  return 'Keyset write success'
}

function enterNamespace(args: Arguments<Run>): string {
  const { run } = args
  const wanted = args.text(0)
  if (wanted === '') {
    run.program.namespace = null
    return 'Namespace reset to root'
  }
  readNamespace(run, wanted)
  run.program.namespace = wanted
  return `Namespace set to ${wanted}`
}

function defineNamespace(args: Arguments<Run>): string {
  const { run } = args
  const [name, user, admin] = [args.text(0), args.guard(1), args.guard(2)]
  if (!NAMESPACE.test(name)) throw executionFailure(args, 'invalid namespace format')
  run.charge(PRICE.readByte * countCharacters(name), ofRead(countCharacters(name)))
  const before = run.transaction.state.get<Namespace>('namespaces', name)
  if (before === undefined) askPolicy(args, name, admin)
  else {
    chargeNamespace(run, PRICE.readByte, name, before)
    withLanguageCapability(run, 'DEFINE_NAMESPACE', name, () => enforceGuard(run, before.admin))
  }
  chargeNamespace(run, PRICE.writeByte, name, { user, admin })
  requireWrite(run)
  run.transaction.state.put('namespaces', name, { user, admin } satisfies Namespace)
  return `Namespace defined: ${name}`
}

function describeModule(args: Arguments<Run>): ObjectValue {
  requireLocal(args)
  const module: Module | undefined = args.run.findModule(args.text(0), 'name')
  if (module === undefined) throw evalError(`Cannot find module: ${args.text(0)}`)
  return new Map<string, Value>([
    ['name', module.name],
    ['hash', module.hash],
    ['tx_hash', module.txHash],
    ['code', module.code],
    ['interfaces', [...module.interfaces]],
  ])
}

export const topLevel: readonly Native<Run>[] = [
  topLevelNative('define-keyset', 1, 2, defineKeyset),
  topLevelNative('describe-keyset', 1, 1, (args) => {
    const keyset = args.run.transaction.state.get<Guard>('keysets', args.text(0))
    if (keyset === undefined) throw evalError(`Cannot find keyset in the database: ${args.text(0)}`)
    return keyset
  }),
  topLevelNative('namespace', 1, 1, enterNamespace),
  topLevelNative('define-namespace', 3, 3, defineNamespace),
  native('describe-namespace', 1, 1, (args) => {
    const { user, admin } = readNamespace(args.run, args.text(0))
    return new Map<string, Value>([
      ['namespace-name', args.text(0)],
      ['user-guard', user],
      ['admin-guard', admin],
    ])
  }),
  topLevelNative('describe-module', 1, 1, describeModule),
  native('list-modules', 0, 0, (args) => {
    requireLocal(args)
    requireWrite(args.run)
    return args.run.transaction.state.keys('modules')
  }),
]
