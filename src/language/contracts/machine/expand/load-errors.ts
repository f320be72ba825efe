/**
 * Refusals while names are resolved and modules are loaded. The tables of failures have the network's texts; test files
 * also read what would be right.
 */
import type { ContractError, TextPlace } from '../../errors.ts'
import { failure } from '../../failures/failure.ts'

type FailurePlace = TextPlace | null
/** Advice in test files. A function finds it only when somebody reads the text. */
type Hint = string | (() => string)

const DYNAMIC_ADVICE = 'the left side of :: is a parameter or variable'

/** A bare name with no meaning. The network looks for a module last, and words the refusal accordingly. */
export function noSuchModule(name: string, place: FailurePlace, hint: Hint = ''): ContractError {
  return failure('NO_MODULE_AT_LOAD', { module: name }, place, hint)
}

/** Neither the name nor the name in the current namespace is a module. */
export function noSuchNamespacedModule(qualified: string, place: FailurePlace): ContractError {
  return failure('NO_MODULE', { module: qualified }, place)
}

export function noSuchMember(module: string, member: string, place: FailurePlace, hint: Hint = ''): ContractError {
  return failure('NO_MEMBER', { module, member }, place, hint)
}

/** An interface in place of a module, or the other way round. */
export function wrongModule(name: string, isInterface: boolean, place: FailurePlace): ContractError {
  const [is, wanted] = isInterface ? ['an interface', 'a module'] : ['a module', 'an interface']
  return failure('INTERFACE_AS_MODULE', { module: name }, place, `it is ${is}; ${wanted} is expected`)
}

export function noSchema(name: string, place: FailurePlace): ContractError {
  return failure('NO_SCHEMA', { name }, place)
}

/** A name in a type that means a variable or a module. */
export function unboundType(name: string, place: FailurePlace): ContractError {
  return failure('UNBOUND_TYPE', { name }, place)
}

/** A schema in place of a value. */
export function noValue(name: string, place: FailurePlace): ContractError {
  return failure('NO_VALUE', { name }, place, 'a schema is not a value')
}

/** The left side of `::` has no meaning. */
export function unboundVariable(name: string, place: FailurePlace): ContractError {
  return failure('UNBOUND_VARIABLE', { name }, place, DYNAMIC_ADVICE)
}

/** The left side of `::` is a definition. */
export function notDynamic(name: string, member: string, place: FailurePlace): ContractError {
  return failure('DYNAMIC_CALL', { name: `${name}::${member}` }, place, DYNAMIC_ADVICE)
}

/** @param form name of a form of the language */
export function notInDefcap(form: string, place: FailurePlace): ContractError {
  return failure('FORM_IN_DEFCAP', { form }, place, 'compose-capability grants a capability there')
}

/** A form of the language with wrong parts. */
export function wrongForm(rule: string, place: FailurePlace): ContractError {
  return failure('WRONG_FORM', { rule }, place)
}

export function emptyBinding(place: FailurePlace): ContractError {
  return failure('EMPTY_BINDING', {}, place)
}

export function duplicateDefinition(qualified: string, place: FailurePlace): ContractError {
  return failure('DEFINED_TWICE', { name: qualified }, place)
}

/** @param found qualified name of the alleged governance */
export function wrongGovernance(found: string, place: FailurePlace): ContractError {
  return failure('WRONG_GOVERNANCE', { name: found }, place)
}

/** @param members names of functions that call each other, each once */
export function recursiveModule(module: string, members: readonly string[], place: FailurePlace): ContractError {
  return failure('RECURSIVE_MODULE', { module, names: () => members.join(', ') }, place)
}

export function noSuchArgument(name: string, place: FailurePlace): ContractError {
  return failure('NO_ARGUMENT', { name }, place)
}

/** @param qualified name of the alleged manager of a capability */
export function wrongManager(qualified: string, place: FailurePlace): ContractError {
  return failure('WRONG_MANAGER', { name: qualified }, place)
}

/** A name that should be a member means a module. */
export function notFree(name: string, place: FailurePlace): ContractError {
  return failure('BOUND_VARIABLE', { name }, place)
}

export function wrongHash(text: string, place: FailurePlace): ContractError {
  return failure('WRONG_BLESSING', { hash: text }, place, '43 characters of base64url are expected')
}

/** An import with another hash than that of the module. */
export function otherHash(module: string, hash: string, place: FailurePlace): ContractError {
  return failure('OTHER_HASH', { module, hash }, place, 'this is the hash of the module now')
}

export function noSuchImports(module: string, names: readonly string[], place: FailurePlace): ContractError {
  return failure('NO_IMPORTS', { module, names: () => names.join(', ') }, place)
}

/** @param declaring name of the interface */
export function notImplemented(module: string, declaring: string, member: string, place: FailurePlace): ContractError {
  return failure('NOT_IMPLEMENTED', { module, interface: declaring, member }, place)
}

/** @param wanted declaration in the interface, for test files */
export function wronglyImplemented(
  module: string,
  declaring: string,
  member: string,
  place: FailurePlace,
  wanted: string,
): ContractError {
  return failure(
    'WRONG_IMPLEMENTATION',
    { module, interface: declaring, member },
    place,
    `the interface declares ${wanted}`,
  )
}

/** @param qualified name of the defpact */
export function entityInStep(qualified: string, place: FailurePlace): ContractError {
  return failure('ENTITY_IN_STEP', { name: qualified }, place)
}

/** @param qualified name of the defpact */
export function lastRollback(qualified: string, place: FailurePlace): ContractError {
  return failure('ROLLBACK_IN_LAST_STEP', { name: qualified }, place)
}

/** @param name native with the same name as something that a program defines */
export function shadowsNative(name: string, place: FailurePlace): ContractError {
  return failure('SHADOWED_NATIVE', { name }, place, SHADOW_ADVICE)
}

/** A native of test files within a module. */
export function nativeOfTests(): ContractError {
  return failure('TEST_NATIVE_IN_MODULE', {})
}

export const SHADOW_ADVICE = 'on the network, it always means the native, so choose another name'
