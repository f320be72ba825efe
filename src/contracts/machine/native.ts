/**
 * Native functions: what they are to the evaluator, what the evaluator is to them, and how they read their arguments. A
 * wrong type ends in one message that names the native and what it was given.
 */
import { type ContractError, evalError, type TextPlace } from '../errors.ts'
import { Decimal } from '../values/decimal.ts'
import { CapabilityToken, Guard, ModuleRef, type ObjectValue, Time, type Value } from '../values/value.ts'
import { COST, LIMIT } from './costs.ts'
import { Callable, isValue, type Term } from './term.ts'
import { typeName } from './type-name.ts'

export function isList(term: Term): term is readonly Value[] {
  return Array.isArray(term)
}

export function isObject(term: Term): term is ObjectValue {
  return term instanceof Map
}

/** For messages. Lists are not looked into: they can be larger than any time to walk through them. */
export function termType(term: Term): string {
  return isList(term) ? 'list' : typeName(term)
}

/** Natives that need nothing but their arguments, and functions among them, take this much of the evaluator. */
export interface Host {
  /** Calls a function, which may be partly applied (`(+ 1)`) or a lambda. */
  apply(fn: Callable, args: readonly Term[], place: TextPlace): Term
  /** Takes thousandths of gas. Throws when the limit is exceeded. */
  charge(milligas: number): void
}

export interface Native<H extends Host = Host> {
  readonly name: string
  /** Fewest and most arguments. Fewer than the fewest give a partly applied function where one is expected. */
  readonly arity: readonly [fewest: number, most: number]
  readonly run: (args: Arguments<H>) => Term
}

/** The arguments of one call, with the evaluator that calls. */
export class Arguments<H extends Host = Host> {
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

  /** What to throw when the types fit no form of the native. */
  wrong(): ContractError {
    const types = this.all.map((term) => `[${termType(term)}]`).join(' , ')
    return evalError(
      `Type error: invalid arguments to native ${this.native}, received argument(s) of type(s) ${types}`,
      this.place,
    )
  }

  /** What to throw when the types fit but the values do not. */
  error(message: string): ContractError {
    return evalError(message, this.place)
  }

  charge(milligas: number): void {
    this.run.charge(milligas)
  }

  /** Takes gas for so many elements of a list, and refuses lists beyond all sense before they exist. */
  chargeList(count: number | bigint, perElement: number = COST.listElement): void {
    const counted = count > LIMIT.elements ? LIMIT.elements : Number(count)
    this.charge(Math.ceil(counted * perElement))
    if (count > LIMIT.elements) throw this.error(`List too long: more than ${LIMIT.elements} elements`)
  }

  /** The same for characters. */
  chargeText(count: number, perCharacter: number = COST.textCharacter): void {
    this.charge(Math.ceil(count * perCharacter))
    if (count > LIMIT.characters) throw this.error(`String too long: more than ${LIMIT.characters} characters`)
  }

  has(index: number): boolean {
    return index < this.all.length
  }

  integer(index: number): bigint {
    const term = this.all[index]
    if (typeof term !== 'bigint') throw this.wrong()
    return term
  }

  number(index: number): bigint | Decimal {
    const term = this.all[index]
    if (typeof term !== 'bigint' && !(term instanceof Decimal)) throw this.wrong()
    return term
  }

  text(index: number): string {
    const term = this.all[index]
    if (typeof term !== 'string') throw this.wrong()
    return term
  }

  bool(index: number): boolean {
    const term = this.all[index]
    if (typeof term !== 'boolean') throw this.wrong()
    return term
  }

  time(index: number): Time {
    const term = this.all[index]
    if (!(term instanceof Time)) throw this.wrong()
    return term
  }

  guard(index: number): Guard {
    const term = this.all[index]
    if (!(term instanceof Guard)) throw this.wrong()
    return term
  }

  token(index: number): CapabilityToken {
    const term = this.all[index]
    if (!(term instanceof CapabilityToken)) throw this.wrong()
    return term
  }

  module(index: number): ModuleRef {
    const term = this.all[index]
    if (!(term instanceof ModuleRef)) throw this.wrong()
    return term
  }

  list(index: number): readonly Value[] {
    const term = this.all[index]
    if (!isList(term)) throw this.wrong()
    return term
  }

  /** A list of nothing but strings. */
  texts(index: number): readonly string[] {
    const items = this.list(index)
    for (const item of items) if (typeof item !== 'string') throw this.wrong()
    return items as readonly string[]
  }

  object(index: number): ObjectValue {
    const term = this.all[index]
    if (!isObject(term)) throw this.wrong()
    return term
  }

  value(index: number): Value {
    const term = this.all[index]
    if (!isValue(term)) throw this.wrong()
    return term
  }

  fn(index: number): Callable {
    const term = this.all[index]
    if (!(term instanceof Callable)) throw this.wrong()
    return term
  }

  /** Calls a function that has to give a value. */
  apply(fn: Callable, args: readonly Term[]): Value {
    const result = this.run.apply(fn, args, this.place)
    if (!isValue(result)) throw this.error(`Expected a value from ${fn.name}, got a ${termType(result)}`)
    return result
  }

  /** Calls a function that has to give true or false. */
  test(fn: Callable, args: readonly Term[]): boolean {
    const result = this.run.apply(fn, args, this.place)
    if (typeof result !== 'boolean') throw this.error(`Expected Boolean value from ${fn.name}, got ${termType(result)}`)
    return result
  }
}

/** One native from its name, the bounds of its argument count and what it does. */
export function native<H extends Host = Host>(
  name: string,
  fewest: number,
  most: number,
  run: (args: Arguments<H>) => Term,
): Native<H> {
  return { name, arity: [fewest, most], run }
}
