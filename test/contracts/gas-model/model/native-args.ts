/** Arguments of natives. */
import { type Closure, type Env, isClosure, type Result } from './env.ts'
import type { Machine } from './machine.ts'
import { Fatal } from './state.ts'
import type { Guard, Value } from './terms.ts'

export type Code = (machine: Machine, env: Env, args: readonly Result[]) => Result

export type Kind = Value['v']
export type ValueOf<K extends Kind> = Extract<Value, { readonly v: K }>

export function is<K extends Kind>(result: Result | undefined, kind: K): result is ValueOf<K> {
  return result !== undefined && !isClosure(result) && result.v === kind
}

export function as<K extends Kind>(result: Result | undefined, kind: K): ValueOf<K> {
  if (!is(result, kind)) throw new Fatal(`expected ${kind}`)
  return result
}

export const textOf = (result: Result | undefined): string => as(result, 'string').s
export const intOf = (result: Result | undefined): bigint => as(result, 'integer').n
export const itemsOf = (result: Result | undefined): readonly Value[] => as(result, 'list').items
export const fieldsOf = (result: Result | undefined): ReadonlyMap<string, Value> => as(result, 'object').fields
export const guardOf = (result: Result | undefined): Guard => as(result, 'guard').g

export function closureOf(result: Result | undefined): Closure {
  if (result === undefined || !isClosure(result)) throw new Fatal('expected a function')
  return result
}

/** Characters, as the language counts them: code points. */
export const lengthOf = (text: string): number => [...text].length
