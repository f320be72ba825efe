/**
 * Refusals while names are resolved and modules are loaded. The wire has the network's texts; test files also read what
 * would be right.
 */
import { type ContractError, evalError, type TextPlace } from '../errors.ts'

type Place = TextPlace | null

/** A bare name with no meaning. The network looks for a module last, and words the refusal accordingly. */
export function noSuchModule(name: string, place: Place, hint = ''): ContractError {
  const text = `Cannot find module:  ${name}`
  return evalError(hint === '' ? text : `${text} (${hint})`, place, text)
}

/** Neither the name nor the name in the current namespace is a module. */
export function noSuchNamespacedModule(qualified: string, place: Place): ContractError {
  return evalError(`Cannot find module: ${qualified}`, place)
}

export function noSuchMember(module: string, member: string, place: Place): ContractError {
  return evalError(`Module ${module} has no such member: ${member}`, place)
}

/** An interface in place of a module, or the other way round. */
export function wrongModule(name: string, isInterface: boolean, place: Place): ContractError {
  const [is, wanted] = isInterface ? ['an interface', 'a module'] : ['a module', 'an interface']
  return evalError(
    `Invalid Interface attempted to be used as module reference: ${name} (it is ${is}; ${wanted} is expected)`,
    place,
    `Attempt to use an interface as a module reference failed: ${name}`,
  )
}

export function noSchema(name: string, place: Place): ContractError {
  const is = `in defschema position: ${name} is not a valid schema`
  return evalError(`Invalid def ${is}`, place, `definition ${is}.`)
}

/** A name behind a type that means a variable or a module. */
export function unboundType(name: string, place: Place): ContractError {
  return evalError(`Unbound type variable ${name}`, place, `Unbound type variable: ${name}`)
}

/** A schema in place of a value. */
export function noValue(name: string, place: Place): ContractError {
  return evalError(
    `Invalid definition in term variable position: ${name} (a schema is not a value)`,
    place,
    `Invalid definition in variable position: ${name}`,
  )
}

/** The left side of `::` has no meaning. */
export function unboundVariable(name: string, place: Place): ContractError {
  return evalError(
    `Unbound variable ${name} (the left side of :: is a parameter or variable)`,
    place,
    `Unbound variable: ${name}`,
  )
}

/** The left side of `::` is a definition. */
export function notDynamic(name: string, member: string, place: Place): ContractError {
  const text = `Invalid dynamic call: ${name}::${member}`
  return evalError(`${text} (the left side of :: is a parameter or variable)`, place, text)
}

/** @param form name of a form of the language */
export function notInDefcap(form: string, place: Place): ContractError {
  return evalError(
    `${form} form not allowed within defcap (compose-capability grants a capability there)`,
    place,
    `${form} form not allowed within a defcap declaration.`,
  )
}

/** A form of the language with wrong parts. */
export function wrongForm(rule: string, place: Place): ContractError {
  return evalError(`Desugar syntax failure: ${rule}`, place)
}

export function emptyBinding(place: Place): ContractError {
  const text = 'Bind expression lacks an accompanying body'
  return evalError(text, place, `${text}.`)
}

export function duplicate(qualified: string, place: Place): ContractError {
  return evalError(`Duplicate definition: ${qualified}`, place)
}

/** @param found qualified name of the alleged governance */
export function wrongGovernance(found: string, place: Place): ContractError {
  const text = 'Invalid governance. Must be a 0-argument defcap or a keyset. Found'
  return evalError(`${text} ${found}`, place, `${text}: ${found}`)
}

/** @param members names of functions that call each other, each once */
export function cycle(module: string, members: readonly string[], place: Place): ContractError {
  const names = members.join(', ')
  return evalError(
    `Recursive cycle detected in Module ${module} in the following functions: [${names}]`,
    place,
    `Recursive cycle detected in module ${module} in the following functions: ${names}`,
  )
}

export function noSuchArgument(name: string, place: Place): ContractError {
  return evalError(
    `Invalid Managed arg: no such arg with name ${name}`,
    place,
    `Invalid managed argument. No argument with the name: ${name}`,
  )
}

/** @param qualified name of the alleged manager of a capability */
export function wrongManager(qualified: string, place: Place): ContractError {
  return evalError(
    `${qualified} is not a valid managed capability manager function. ${qualified} must be a defun`,
    place,
  )
}

/** A name that should be a member means a module. */
export function notFree(name: string, place: Place): ContractError {
  return evalError(
    `Expected free variable in expression, found locally bound:  ${name}`,
    place,
    `Expected free variable in expression, found locally bound variable:  ${name}`,
  )
}

export function wrongHash(text: string, place: Place): ContractError {
  const refusal = `Invalid blessed hash, incorrect format: ${text}`
  return evalError(`${refusal} (43 characters of base64url are expected)`, place, refusal)
}

/** An import with another hash than that of the module. */
export function otherHash(module: string, hash: string, place: Place): ContractError {
  return evalError(
    `Import error for module ${module} , hash not blessed: ${hash} (this is the hash of the module now)`,
    place,
    `Import error for module ${module} . The module hash has not been blessed: ${hash}`,
  )
}

export function noSuchImports(module: string, names: readonly string[], place: Place): ContractError {
  const [one, other] = [`module or interface ${module}`, 'does not implement the following members:']
  return evalError(
    `Invalid imports, ${one} ${other} [${names.join(', ')}]`,
    place,
    `Invalid imports. M${one.slice(1)} ${other} ${names.join(', ')}`,
  )
}

/** @param face name of the interface */
export function notImplemented(module: string, face: string, member: string, place: Place): ContractError {
  const text = `module ${module} does not implement interface ${face} member: ${member}`
  return evalError(
    `Interface member not implemented, ${text}`,
    place,
    `Interface member not implemented. M${text.slice(1)}`,
  )
}

/** @param wanted declaration in the interface, for test files */
export function wronglyImplemented(
  module: string,
  face: string,
  member: string,
  place: Place,
  wanted: string,
): ContractError {
  const text = `Module ${module} does not correctly implement the function ${member} from`
  return evalError(
    `${text} Interface ${face} (the interface declares ${wanted})`,
    place,
    `${text} the interface: ${face}`,
  )
}

/** @param qualified name of the defpact */
export function entityInStep(qualified: string, place: Place): ContractError {
  const [text, advice] = [
    `Pact 5 does not support entity expressions in defpact ${qualified}.`,
    'Please ensure your defpact steps have the correct number of expressions',
  ]
  return evalError(`${text} ${advice}`, place, `${text}  ${advice}`)
}

/** @param qualified name of the defpact */
export function lastRollback(qualified: string, place: Place): ContractError {
  const text = `ollbacks aren't allowed on the last step in: ${qualified}`
  return evalError(`r${text}`, place, `R${text}`)
}

/** @param name native with the same name as something that a program defines */
export function shadowsNative(name: string, place: Place): ContractError {
  const text = shadowText(name)
  return evalError(`${text} (${SHADOW_ADVICE})`, place, text)
}

export function shadowText(name: string): string {
  return `Variable ${name} shadows native with same name`
}

export const SHADOW_ADVICE = 'on the network the name means the native everywhere; another name is needed'
