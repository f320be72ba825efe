/**
 * Interface between natives and the evaluator, and typed access to arguments. A type error yields one message with the
 * native's name and the argument types.
 */
import { type ContractError, evalError, type TextPlace } from '../errors.ts'
import { failure } from '../failures/failure.ts'
import { chargedSize } from '../values/charged-size.ts'
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken, Guard, ModuleRef, type ObjectValue, Time, type Value } from '../values/value.ts'
import type { BlockScope } from './environment.ts'
import type { CostName } from './gas/cost-names.ts'
import { COST, LIMIT } from './gas/costs.ts'
import { SIZE_BYTE } from './gas/prices.ts'
import { asValue, Callable, isValue, type Term } from './term.ts'
import { argumentTypeName, typeName } from './types.ts'

export function isList(term: Term): term is readonly Value[] {
  return Array.isArray(term)
}

export function isObject(term: Term): term is ObjectValue {
  return term instanceof Map
}

/** The part of the evaluator that pure natives need. */
export interface NativeHost {
  /** Calls a function, a partial application (`(+ 1)`) or a lambda. */
  apply(fn: Callable, args: readonly Term[], place: TextPlace): Term
  /** Default: the rules of the newest published release. */
  readonly block?: Pick<BlockScope, 'rules'>
  /** Milligas until the limit. */
  readonly gasLeft: number
  /**
   * Charges gas, in milligas: the price of the public network.
   * @param name of the cost in gas logs; default: a constant
   * @param place default: that of the innermost native
   * @throws EvalError if the limit is exceeded
   */
  charge(milligas: number, name?: CostName, place?: TextPlace): void
  /**
   * Counts work that the price of the network does not cover. It is not part of the gas used, but has about the same limit.
   * @throws EvalError if the limit is exceeded
   */
  work(units: number): void
}

export interface Native<H extends NativeHost = NativeHost> {
  readonly name: string
  /** Minimum and maximum number of arguments of a call by name. */
  readonly arity: readonly [fewest: number, most: number]
  /**
   * Number of arguments where the native is a value or partially applied, and so cannot be overloaded. Default: the
   * minimum.
   */
  readonly arityAsValue?: number
  /** A call by name takes any number of arguments, which become one list. */
  readonly gathersArguments?: boolean
  readonly run: (args: Arguments<H>) => Term
}

/** Long lists that contain only strings. */
const textLists = new WeakSet<readonly Value[]>()
const MIN_REMEMBERED = 32

/**
 * Refuses a size that the gas left does not suffice for.
 * @param bytes size of a value, before its price is charged
 * @returns the same number
 * @throws EvalError if the limit is exceeded
 */
export function checkGasForSize(run: NativeHost, bytes: number): number {
  if (bytes > Math.floor(run.gasLeft / SIZE_BYTE)) run.charge(bytes * SIZE_BYTE)
  return bytes
}

/** Arguments of one call, with the calling evaluator. */
export class Arguments<H extends NativeHost = NativeHost> {
  readonly native: string
  readonly all: readonly Term[]
  readonly run: H
  readonly place: TextPlace

  constructor(native: string, all: readonly Term[], run: H, place: TextPlace) {
    this.native = native
    this.all = all
    this.run = run
    this.place = place
  }

  /** Error for argument types that the native does not accept. */
  typeError(): ContractError {
    const types = this.all.map(argumentTypeName).join(', ')
    return failure('WRONG_ARGUMENTS', { native: this.native, types }, this.place)
  }

  /** Error for invalid values of the right type. */
  error(message: string): ContractError {
    return evalError(message, this.place)
  }

  charge(milligas: number, name?: CostName): void {
    this.run.charge(milligas, name, this.place)
  }

  work(units: number): void {
    this.run.work(units)
  }

  /**
   * Measures a value as the network does, which fails if the gas left does not suffice for its size.
   * @returns its bytes
   * @throws EvalError if the limit is exceeded
   */
  size(value: Value): number {
    return checkGasForSize(this.run, chargedSize(value))
  }

  /**
   * Counts the work for the elements of a list before it is built.
   * @throws EvalError if the list would exceed the maximum length
   */
  workList(count: number | bigint, perElement: number = COST.listElement): void {
    const counted = count > LIMIT.elements ? LIMIT.elements : Number(count)
    this.work(Math.ceil(counted * perElement))
    if (count > LIMIT.elements) throw this.error(`List too long: more than ${LIMIT.elements} elements`)
  }

  /**
   * Counts the work for the characters of a string before it is built.
   * @throws EvalError if the string would exceed the maximum length
   */
  workText(count: number, perCharacter: number = COST.textCharacter): void {
    this.work(Math.ceil(count * perCharacter))
    if (count > LIMIT.characters) throw this.error(`String too long: more than ${LIMIT.characters} characters`)
  }

  has(index: number): boolean {
    return index < this.all.length
  }

  /** @throws EvalError unless this argument is an integer */
  integer(index: number): bigint {
    const term = this.all[index]
    if (typeof term !== 'bigint') throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a number */
  number(index: number): bigint | Decimal {
    const term = this.all[index]
    if (typeof term !== 'bigint' && !(term instanceof Decimal)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a string */
  text(index: number): string {
    const term = this.all[index]
    if (typeof term !== 'string') throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a boolean */
  bool(index: number): boolean {
    const term = this.all[index]
    if (typeof term !== 'boolean') throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a time */
  time(index: number): Time {
    const term = this.all[index]
    if (!(term instanceof Time)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a guard */
  guard(index: number): Guard {
    const term = this.all[index]
    if (!(term instanceof Guard)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a capability token */
  token(index: number): CapabilityToken {
    const term = this.all[index]
    if (!(term instanceof CapabilityToken)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a module reference */
  module(index: number): ModuleRef {
    const term = this.all[index]
    if (!(term instanceof ModuleRef)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a list */
  list(index: number): readonly Value[] {
    const term = this.all[index]
    if (!isList(term)) throw this.typeError()
    return term
  }

  /** A list that contains only strings. @throws EvalError unless this argument is one */
  texts(index: number): readonly string[] {
    const items = this.list(index)
    // Lists do not change, and a list of many texts may be an argument again and again.
    if (textLists.has(items)) return items as readonly string[]
    for (const item of items) if (typeof item !== 'string') throw this.typeError()
    if (items.length >= MIN_REMEMBERED) textLists.add(items)
    return items as readonly string[]
  }

  /** @throws EvalError unless this argument is an object */
  object(index: number): ObjectValue {
    const term = this.all[index]
    if (!isObject(term)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a value */
  value(index: number): Value {
    const term = this.all[index]
    if (!isValue(term)) throw this.typeError()
    return term
  }

  /** @throws EvalError unless this argument is a function */
  fn(index: number): Callable {
    const term = this.all[index]
    if (!(term instanceof Callable)) throw this.typeError()
    return term
  }

  /** Calls a function that must return a value. */
  apply(fn: Callable, args: readonly Term[]): Value {
    return asValue(this.run.apply(fn, args, this.place))
  }

  /** Calls a function that must return a boolean. @throws EvalError if it returns something else */
  test(fn: Callable, args: readonly Term[]): boolean {
    const result = asValue(this.run.apply(fn, args, this.place))
    if (typeof result !== 'boolean') throw this.error(`Expected Boolean value from ${fn.name}, got ${typeName(result)}`)
    return result
  }
}

/** Builds a native from its name, its arity and its implementation. */
export function native<H extends NativeHost = NativeHost>(
  name: string,
  fewest: number,
  most: number,
  run: (args: Arguments<H>) => Term,
  arityAsValue = fewest,
): Native<H> {
  return { name, arity: [fewest, most], run, arityAsValue }
}
