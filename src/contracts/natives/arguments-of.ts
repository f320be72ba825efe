/** Arguments of natives by their types. Each throws EvalError that names the native and what it got. */
import { evalError } from '../errors.ts'
import { Callable, type Term } from '../machine/term.ts'
import { typeName } from '../values/types.ts'
import { CapabilityToken, Guard, ModuleRef, type ObjectValue, type Value } from '../values/value.ts'

function refuse(native: string, term: Term | undefined): never {
  const got = term === undefined ? 'nothing' : typeName(term)
  throw evalError(`Type error: invalid arguments to native ${native}: got ${got}`)
}

export function textArg(native: string, term: Term | undefined): string {
  return typeof term === 'string' ? term : refuse(native, term)
}

export function guardArg(native: string, term: Term | undefined): Guard {
  return term instanceof Guard ? term : refuse(native, term)
}

export function tokenArg(native: string, term: Term | undefined): CapabilityToken {
  if (term instanceof CapabilityToken) return term
  throw evalError(
    `Expected capability token value in ${native}, but got: ${term === undefined ? 'nothing' : typeName(term)}`,
  )
}

export function objectArg(native: string, term: Term | undefined): ObjectValue {
  return term instanceof Map ? (term as ObjectValue) : refuse(native, term)
}

export function callableArg(native: string, term: Term | undefined): Callable {
  return term instanceof Callable ? term : refuse(native, term)
}

export function moduleArg(native: string, term: Term | undefined): ModuleRef {
  return term instanceof ModuleRef ? term : refuse(native, term)
}

export function textsArg(native: string, term: Term | undefined): readonly string[] {
  if (!Array.isArray(term)) return refuse(native, term)
  return (term as readonly Value[]).map((item) => textArg(native, item))
}
