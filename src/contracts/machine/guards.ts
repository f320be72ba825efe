/**
 * Enforcement of guards, and admin rights on modules.
 *
 * A guard that does not hold throws TxFailure, which `try` catches. Admin rights allow a command to change a module and
 * access its tables. A command acquires them by deploying the module or with `acquire-module-admin`, which enforces the
 * governance. Using the module is not enough (language 5).
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { CapabilityToken, type Guard, type GuardKind } from '../values/value.ts'
import { Fun, type Module, type Run } from './ast.ts'
import { covers, evaluateGovernance, isGranted } from './capabilities.ts'
import { splitName } from './names.ts'
import { pactIdOf } from './pacts.ts'
import { Callable } from './term.ts'

/** Error messages shorten longer keys. */
const SHOWN_KEY_CHARACTERS = 10
/** Work for each key of a keyset. */
const KEY_WORK = 50

/**
 * @param guard a guard, or the name of a keyset
 * @throws ContractError if the guard does not hold
 */
export function enforceGuard(run: Run, guard: Guard | string): void {
  if (typeof guard === 'string') {
    enforceKeysetNamed(run, guard)
    return
  }
  const { is } = guard
  switch (is.kind) {
    case 'keyset':
      enforceKeyset(run, is)
      return
    case 'keysetRef':
      enforceKeysetNamed(run, is.name)
      return
    case 'user': {
      const fun = functionNamed(run, is.fun)
      if (fun instanceof Fun && fun.params.length !== is.args.length) {
        throw evalError('Failed to apply a partial closure outside of the native callsite.')
      }
      run.reading(() => run.apply(fun, is.args, NOWHERE))
      return
    }
    case 'capability': {
      if (is.pactId !== null && is.pactId !== pactIdOf(run))
        throw txFailure('Capability pact guard failed: invalid pact id')
      if (!isGranted(run, new CapabilityToken(is.name, is.args))) throw txFailure(`Capability not acquired: ${is.name}`)
      return
    }
    case 'module': {
      if (run.call.frames.some(({ module }) => module.name === is.module)) return
      const module = run.findModule(is.module)
      if (module === undefined) throw evalError(`Cannot find module: ${is.module}`)
      acquireAdmin(run, module)
      return
    }
    case 'pact':
      if (pactIdOf(run) !== is.pactId) throw txFailure('Pact guard failed because of an invalid pact id.')
  }
}

/** @throws ContractError if the keyset does not exist or does not hold */
export function enforceKeysetNamed(run: Run, name: string): void {
  const keyset = run.transaction.state.get<Guard>('keysets', name)
  if (keyset?.is.kind !== 'keyset') throw evalError(`Cannot find keyset in the database: ${name}`)
  enforceKeyset(run, keyset.is)
}

type Keyset = Extract<GuardKind, { kind: 'keyset' }>

function enforceKeyset(run: Run, { keys, predicate }: Keyset): void {
  const { signers } = run.transaction.message
  run.work(KEY_WORK * keys.length)
  const matched = keys.filter((key) => {
    const tokens = signers.get(key)
    return tokens !== undefined && (tokens.length === 0 || covers(run, tokens))
  }).length
  if (holds(run, predicate, keys.length, matched)) return
  const shown = keys.map((key) =>
    key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}...` : key,
  )
  throw txFailure(`Keyset failure (${predicate}): [${shown.join(', ')}]`)
}

function holds(run: Run, predicate: string, count: number, matched: number): boolean {
  switch (predicate) {
    case 'keys-all':
      return matched >= count
    case 'keys-any':
      return matched >= 1
    case 'keys-2':
      return matched >= 2
  }
  const fun = functionNamed(run, predicate)
  const result = run.reading(() => run.apply(fun, [BigInt(count), BigInt(matched)], NOWHERE))
  if (typeof result !== 'boolean') throw evalError(`the predicate ${predicate} of a keyset gives no bool`)
  return result
}

/**
 * Finds a function by its qualified name.
 * @throws EvalError if there is none
 */
export function functionNamed(run: Run, name: string): Callable {
  const parts = splitName(name)
  if (parts === null) {
    const own = run.program.imports.get(name) ?? run.natives.get(name)
    if (own instanceof Callable) return own
    throw evalError(`Cannot find function: ${name}`)
  }
  const { loading } = run.program
  const module = loading?.name === parts.module ? loading : run.findModule(parts.module)
  const fun = module?.get(parts.member)
  if (!(fun instanceof Fun)) throw evalError(`Cannot find function: ${name}`)
  return fun
}

/**
 * Acquires admin rights on the module until the command ends.
 * @throws ContractError if the governance of the module refuses
 */
export function acquireAdmin(run: Run, module: Module): void {
  if (run.transaction.admin.has(module.name)) return
  if (module.isInterface) throw evalError(`Interfaces have no administrator: ${module.name}`)
  const { governance } = module
  if ('keyset' in governance) enforceKeysetNamed(run, governance.keyset)
  else evaluateGovernance(run, new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  run.transaction.admin.add(module.name)
}
