/** Scopes and callable values of the machine (Pact/Core/IR/Eval/CEK/Types.hs). */
import { Fatal, type Frame } from './state.ts'
import type { Arg, Core, Fqn, PactExec, Ty, Value } from './terms.ts'

export interface PactScope {
  readonly step: number
  readonly isRollback: boolean
  readonly id: string
  readonly resumed: PactExec['yielded']
}

export interface Env {
  /** The innermost variable is first. */
  readonly locals: readonly Result[]
  /** Tables may be written, only read, or not even that. */
  readonly purity: 'impure' | 'read-only' | 'sys-only'
  readonly step: PactScope | null
  /** Modules that called this code through a module reference. */
  readonly reentrant: ReadonlySet<string>
  readonly inCap: boolean
}

type Params = readonly Arg<Ty>[] | null

export type Closure =
  | {
      readonly c: 'fun'
      readonly fqn: Fqn
      readonly params: Params
      readonly body: Core
      readonly result: Ty | null
      readonly env: Env
    }
  | { readonly c: 'lambda'; readonly params: Params; readonly body: Core; readonly env: Env }
  | {
      readonly c: 'partial'
      readonly frame: Frame | null
      readonly params: readonly Arg<Ty>[]
      readonly body: Core
      readonly result: Ty | null
      readonly env: Env
    }
  | {
      readonly c: 'native'
      readonly name: string
      readonly env: Env
      readonly arity: number
      readonly given: readonly Result[]
    }
  | { readonly c: 'pact'; readonly fqn: Fqn; readonly params: Params; readonly env: Env }
  | { readonly c: 'token'; readonly fqn: Fqn; readonly types: readonly (Ty | null)[] }

export type Result = Value | Closure

export const isClosure = (result: Result): result is Closure => 'c' in result

export function asValue(result: Result): Value {
  if (isClosure(result)) throw new Fatal('expected a value')
  return result
}

export const START: Omit<Env, 'purity' | 'step'> = { locals: [], reentrant: new Set(), inCap: false }

/** Reading stays possible; code that may read nothing stays so (CEK/Utils.hs, readOnlyEnv). */
export function readOnly(env: Env): Env {
  return env.purity === 'sys-only' ? env : { ...env, purity: 'read-only' }
}
