/** Calls natives without an evaluator: functions are plain JavaScript, and gas is counted. */
import { type ContractError, evalError } from '../../src/language/contracts/errors.ts'
import { Arguments, type NativeHost } from '../../src/language/contracts/machine/native.ts'
import { Callable, type Term } from '../../src/language/contracts/machine/term.ts'
import { PURE_NATIVES } from '../../src/language/contracts/natives/pure-natives.ts'
import { VERSION } from '../../src/language/contracts/repl/version.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'

/** A function of the contract language that runs a JavaScript function. */
export class Lambda extends Callable {
  readonly name = 'lambda'
  readonly body: (...args: Term[]) => Term

  constructor(body: (...args: Term[]) => Term) {
    super()
    this.body = body
  }
}

/** A native as a function, with its first arguments applied. */
export function fn(name: string, ...first: Term[]): Lambda {
  return new Lambda((...rest) => run(name, ...first, ...rest))
}

export interface Meter {
  limit: number
  used: number
  work?: number
}

export function runWith(meter: Meter, name: string, ...args: Term[]): Term {
  const native = [...PURE_NATIVES, ...VERSION].find((one) => one.name === name)
  if (native === undefined) throw new Error(`no native ${name}`)
  const [fewest, most] = native.arity
  if (args.length < fewest || args.length > most) throw new Error(`${name} takes ${fewest} to ${most} arguments`)
  const count = (units: number): number => {
    if (!(units >= 0) || !Number.isInteger(units)) throw new Error(`gas ${units}`)
    return units
  }
  const host: NativeHost = {
    apply: (callable, given) => (callable as Lambda).body(...given),
    get gasLeft() {
      return meter.limit - meter.used
    },
    charge: (milligas) => {
      meter.used += count(milligas)
      if (meter.used > meter.limit) throw evalError('out of gas')
    },
    work: (units) => {
      meter.work = (meter.work ?? 0) + count(units)
      if (meter.work > meter.limit) throw evalError('out of gas')
    },
  }
  return native.run(new Arguments(name, args, host, { line: 3, column: 7 }))
}

/** Calls a native with unlimited gas. */
export function run(name: string, ...args: Term[]): Term {
  return runWith({ limit: Number.POSITIVE_INFINITY, used: 0 }, name, ...args)
}

/** The error that a call fails with. */
export function failure(name: string, ...args: Term[]): ContractError {
  try {
    run(name, ...args)
  } catch (error) {
    return error as ContractError
  }
  throw new Error(`${name} did not fail`)
}

export function dec(text: string): Decimal {
  const decimal = Decimal.parse(text)
  if (decimal === null) throw new Error(`not a decimal: ${text}`)
  return decimal
}

export function obj(fields: Record<string, Value>): ReadonlyMap<string, Value> {
  return new Map(Object.entries(fields))
}
