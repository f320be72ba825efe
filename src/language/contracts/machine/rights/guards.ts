/**
 * Enforcement of guards, and admin rights on modules.
 *
 * A guard that does not hold throws TxFailure, which `try` catches. Admin rights allow a command to change a module and
 * access its tables. A command acquires them by deploying the module or with `acquire-module-admin`, which enforces the
 * governance. Using the module is not enough (language 5).
 */
import { type ContractError, evalError, NOWHERE, txFailure } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'
import { splitName } from '../../syntax/names.ts'
import { showValue } from '../../values/print.ts'
import { CapabilityToken, Guard, type GuardKind } from '../../values/value.ts'
import { FunctionDefinition, type Module, type Run } from '../ast.ts'
import { PRINT } from '../environment.ts'
import { pactIdOf } from '../scopes.ts'
import { Callable, isValue } from '../term.ts'
import { runAsStep } from '../tracer.ts'
import { typeName } from '../types.ts'
import { testMode } from './access.ts'
import { evaluateGovernance, isGranted, signatureApplies } from './capabilities.ts'

/** Error messages shorten keys: those of test files all of them, those of nodes only longer ones. */
const KEY_CHARACTERS = 8
const WIRE_KEY_CHARACTERS = 10
/** Work for each key of a keyset. */
const KEY_WORK = 50

/**
 * @param guard a guard, or the name of a keyset
 * @throws ContractError if the guard does not hold
 */
export function enforceGuard(run: Run, guard: Guard | string): void {
  const { tracer, module } = run
  if (tracer === null) enforceNow(run, guard)
  else {
    const args = typeof guard === 'string' ? [] : [guard]
    const step = { kind: 'guard', name: guardName(guard), args, module, place: run.call.nativePlace } as const
    runAsStep(tracer, step, () => enforceNow(run, guard))
  }
}

/** A guard in words, such as `keyset ns.admin`. */
function guardName(guard: Guard | string): string {
  if (typeof guard === 'string') return `keyset ${guard}`
  const { is } = guard
  switch (is.kind) {
    case 'keyset':
      return 'keyset'
    case 'keysetRef':
      return `keyset ${is.name}`
    case 'user':
      return `user guard ${is.fun}`
    case 'module':
      return `module guard ${is.module}`
    case 'capability':
      return `capability guard ${is.name}`
    case 'pact':
      return 'pact guard'
  }
}

function enforceNow(run: Run, guard: Guard | string): void {
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
      const fun = guardFunction(run, is.fun, is.args.length)
      run.inMode(testMode(run), () => run.apply(fun, is.args, NOWHERE))
      return
    }
    case 'capability': {
      if (is.pactId !== null && is.pactId !== pactIdOf(run)) throw wrongPact(is.pactId, pactIdOf(run))
      if (!isGranted(run, new CapabilityToken(is.name, is.args))) throw notAcquired(is)
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
      if (pactIdOf(run) !== is.pactId) throw wrongPact(is.pactId, pactIdOf(run))
  }
}

/** @throws EvalError for the empty name */
export function checkKeysetFormat(name: string): void {
  if (name === '') throw evalError('Invalid keyset name format: ')
}

/** The function of a user guard. */
function guardFunction(run: Run, name: string, args: number): FunctionDefinition {
  const fun = functionNamed(run, name)
  if (!(fun instanceof FunctionDefinition) || fun.kind !== 'defun') {
    const kind = fun instanceof FunctionDefinition ? fun.kind : 'native'
    throw evalError(
      `User guard closure ${name} must be defun, got ${kind}`,
      null,
      `User guard closure ${name} must be in a defun declaration, but got: ${kind}`,
    )
  }
  if (fun.params.length === args) return fun
  throw failure('PARTIAL_CLOSURE', {})
}

function wrongPact(expected: string, got: string): ContractError {
  return failure('OTHER_PACT', { wanted: expected, found: got })
}

function notAcquired({ name, args, pactId }: Extract<GuardKind, { kind: 'capability' }>): ContractError {
  const shown = showValue(new Guard({ kind: 'capability', name, args, pactId }))
  return txFailure(`Capability not acquired: ${shown}`, null, `Capability not acquired: ${name}`)
}

/** @throws ContractError if the keyset does not exist or does not hold */
function enforceKeysetNamed(run: Run, name: string): void {
  checkKeysetFormat(name)
  const keyset = run.transaction.state.get<Guard>('keysets', name)
  if (keyset?.is.kind !== 'keyset') {
    throw failure('NO_KEYSET', { name })
  }
  enforceKeyset(run, keyset.is)
}

type Keyset = Extract<GuardKind, { kind: 'keyset' }>

function enforceKeyset(run: Run, { keys, predicate }: Keyset): void {
  const { signers } = run.transaction.message
  run.work(KEY_WORK * keys.length)
  const matched = keys.filter((key) => {
    const tokens = signers.get(key)
    return tokens !== undefined && signatureApplies(run, tokens)
  }).length
  if (evaluatePredicate(run, predicate, keys.length, matched)) return
  throw txFailure(
    `Keyset failure (${predicate}): [${keys.map((key) => `${key.slice(0, KEY_CHARACTERS)}...`).join(', ')}]`,
    null,
    `Keyset failure ( ${predicate} ):  ${keys.map(shortenKey).join(', ')}`,
  )
}

function shortenKey(key: string): string {
  return key.length > WIRE_KEY_CHARACTERS ? `${key.slice(0, WIRE_KEY_CHARACTERS)}...` : key
}

function evaluatePredicate(run: Run, predicate: string, count: number, matched: number): boolean {
  switch (predicate) {
    case 'keys-all':
      return matched >= count
    case 'keys-any':
      return matched >= 1
    case 'keys-2':
      return matched >= 2
  }
  const result = run.apply(predicateNamed(run, predicate), [BigInt(count), BigInt(matched)], NOWHERE)
  if (typeof result !== 'boolean') {
    throw failure('NO_BOOL', {
      type: typeName(result),
      value: () => (isValue(result) ? showValue(result) : 'a closure'),
    })
  }
  return result
}

/** The function that decides about a keyset: of the language, or of a module. */
function predicateNamed(run: Run, name: string): Callable {
  if (splitName(name) === null && (!run.natives.has(name) || name === PRINT)) throw badPredicate('expected native')
  const fun = functionNamed(run, name)
  if (fun instanceof FunctionDefinition && fun.kind !== 'defun') throw badPredicate('expected defun')
  return fun
}

function badPredicate(what: string): ContractError {
  return evalError(`Invalid custom predicate for keyset ${what}`, null, `Invalid custom predicate for keyset: ${what}`)
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
  const fun = run.findModule(parts.module)?.get(parts.member)
  if (!(fun instanceof FunctionDefinition)) throw evalError(`Cannot find function: ${name}`)
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
  if ('keyset' in governance) enforceGuard(run, governance.keyset)
  else evaluateGovernance(run, new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  run.transaction.admin.add(module.name)
}
