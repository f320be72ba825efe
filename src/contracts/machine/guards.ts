/**
 * Whether guards agree: they refuse by a failure, which `try` catches. And who may change a module and reach into its
 * tables: a command that is its administrator. A command becomes one by deploying the module, or by
 * `acquire-module-admin`, which asks the governance; touching the module does not suffice (language 5).
 */
import { evalError, NOWHERE, txFailure } from '../errors.ts'
import { CapabilityToken, type Guard, type GuardKind } from '../values/value.ts'
import { Fun, type Module, splitName } from './ast.ts'
import type { Evaluator } from './evaluator.ts'
import { pactIdOf } from './pacts.ts'
import { Callable } from './term.ts'

/** Longer keys are cut in messages. */
const SHOWN_KEY_CHARACTERS = 10
/** Thousandths of gas for each key of a keyset. */
const KEY_COST = 50

/** Throws when the guard, or the keyset of this name, does not agree. */
export function enforceGuard(machine: Evaluator, guard: Guard | string): void {
  if (typeof guard === 'string') {
    enforceKeysetNamed(machine, guard)
    return
  }
  const { is } = guard
  switch (is.kind) {
    case 'keyset':
      enforceKeyset(machine, is)
      return
    case 'keysetRef':
      enforceKeysetNamed(machine, is.name)
      return
    case 'user': {
      const fun = functionNamed(machine, is.fun)
      machine.reading(() => machine.apply(fun, is.args, NOWHERE))
      return
    }
    case 'capability': {
      if (is.pactId !== null && is.pactId !== pactIdOf(machine))
        throw txFailure('Capability pact guard failed: invalid pact id')
      if (!machine.capabilities.isGranted(new CapabilityToken(is.name, is.args)))
        throw txFailure(`Capability not acquired: ${is.name}`)
      return
    }
    case 'module': {
      if (machine.frames.some(({ module }) => module.name === is.module)) return
      const module = machine.findModule(is.module)
      if (module === undefined) throw evalError(`Cannot find module: ${is.module}`)
      acquireAdmin(machine, module)
      return
    }
    case 'pact':
      if (pactIdOf(machine) !== is.pactId) throw txFailure('Pact guard failed because of an invalid pact id.')
  }
}

/** Throws when there is no such keyset, or it does not agree. */
export function enforceKeysetNamed(machine: Evaluator, name: string): void {
  const keyset = machine.state.get<Guard>('keysets', name)
  if (keyset?.is.kind !== 'keyset') throw evalError(`Cannot find keyset in the database: ${name}`)
  enforceKeyset(machine, keyset.is)
}

type Keyset = Extract<GuardKind, { kind: 'keyset' }>

function enforceKeyset(machine: Evaluator, { keys, predicate }: Keyset): void {
  const { signers } = machine.environment
  machine.charge(KEY_COST * keys.length)
  const matched = keys.filter((key) => {
    const tokens = signers.get(key)
    return tokens !== undefined && (tokens.length === 0 || machine.capabilities.covers(tokens))
  }).length
  if (agrees(machine, predicate, keys.length, matched)) return
  const shown = keys.map((key) =>
    key.length > SHOWN_KEY_CHARACTERS ? `${key.slice(0, SHOWN_KEY_CHARACTERS)}...` : key,
  )
  throw txFailure(`Keyset failure (${predicate}): [${shown.join(', ')}]`)
}

function agrees(machine: Evaluator, predicate: string, count: number, matched: number): boolean {
  switch (predicate) {
    case 'keys-all':
      return matched >= count
    case 'keys-any':
      return matched >= 1
    case 'keys-2':
      return matched >= 2
  }
  const fun = functionNamed(machine, predicate)
  const result = machine.reading(() => machine.apply(fun, [BigInt(count), BigInt(matched)], NOWHERE))
  if (typeof result !== 'boolean') throw evalError(`the predicate ${predicate} of a keyset gives no bool`)
  return result
}

/** A function by its qualified name. */
export function functionNamed(machine: Evaluator, name: string): Callable {
  const parts = splitName(name)
  if (parts === null) {
    const own = machine.imports.get(name) ?? machine.natives.get(name)
    if (own instanceof Callable) return own
    throw evalError(`Cannot find function: ${name}`)
  }
  const { loading } = machine
  const module = loading?.name === parts.module ? loading : machine.findModule(parts.module)
  const fun = module?.get(parts.member)
  if (!(fun instanceof Fun)) throw evalError(`Cannot find function: ${name}`)
  return fun
}

/** Throws EvalError unless the command has become administrator of the module before. */
export function requireAdmin(machine: Evaluator, module: Pick<Module, 'name'>): void {
  if (machine.admin.has(module.name)) return
  throw evalError(
    `Module admin necessary for operation but has not been acquired: ${module.name}`,
    null,
    `Module admin is necessary for operation but has not been acquired: ${module.name}`,
  )
}

/**
 * Makes the command administrator of the module until it ends. Throws ContractError unless the governance of the module
 * agrees.
 */
export function acquireAdmin(machine: Evaluator, module: Module): void {
  if (machine.admin.has(module.name)) return
  if (module.isInterface) throw evalError(`Interfaces have no administrator: ${module.name}`)
  const { governance } = module
  if ('keyset' in governance) enforceKeysetNamed(machine, governance.keyset)
  else machine.capabilities.asGovernance(new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  machine.admin.add(module.name)
}
