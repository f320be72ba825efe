/**
 * Whether guards agree: they refuse by a failure, which `try` catches. And who may change a module and reach into its
 * tables: a command that is its administrator. A command becomes one by deploying the module, or by
 * `acquire-module-admin`, which asks the governance; touching the module does not suffice (language 5).
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { CapabilityToken, type Guard, type GuardKind } from '../values/value.ts'
import { Fun, type Module, type Run } from './ast.ts'
import { covers, evaluateGovernance, isGranted } from './capabilities.ts'
import { splitName } from './names.ts'
import { pactIdOf } from './pacts.ts'
import { Callable } from './term.ts'

/** Longer keys are cut in messages. */
const SHOWN_KEY_CHARACTERS = 10
/** Thousandths of gas for each key of a keyset. */
const KEY_COST = 50

/** Throws when the guard, or the keyset of this name, does not agree. */
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

/** Throws when there is no such keyset, or it does not agree. */
export function enforceKeysetNamed(run: Run, name: string): void {
  const keyset = run.transaction.state.get<Guard>('keysets', name)
  if (keyset?.is.kind !== 'keyset') throw evalError(`Cannot find keyset in the database: ${name}`)
  enforceKeyset(run, keyset.is)
}

type Keyset = Extract<GuardKind, { kind: 'keyset' }>

function enforceKeyset(run: Run, { keys, predicate }: Keyset): void {
  const { signers } = run.transaction.message
  run.charge(KEY_COST * keys.length)
  const matched = keys.filter((key) => {
    const tokens = signers.get(key)
    return tokens !== undefined && (tokens.length === 0 || covers(run, tokens))
  }).length
  if (agrees(run, predicate, keys.length, matched)) return
  const shown = keys.map((key) =>
    key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}...` : key,
  )
  throw txFailure(`Keyset failure (${predicate}): [${shown.join(', ')}]`)
}

function agrees(run: Run, predicate: string, count: number, matched: number): boolean {
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

/** A function by its qualified name. */
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
 * Makes the command administrator of the module until it ends. Throws ContractError unless the governance of the module
 * agrees.
 */
export function acquireAdmin(run: Run, module: Module): void {
  if (run.transaction.admin.has(module.name)) return
  if (module.isInterface) throw evalError(`Interfaces have no administrator: ${module.name}`)
  const { governance } = module
  if ('keyset' in governance) enforceKeysetNamed(run, governance.keyset)
  else evaluateGovernance(run, new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  run.transaction.admin.add(module.name)
}
