/** What code can ask about the message, the block and itself. */
import { evalError, txFailure } from '../errors.ts'
import type { Evaluator } from '../machine/evaluator.ts'
import { type Native, native } from '../machine/native.ts'
import { pactIdOf } from '../machine/pacts.ts'
import { Decimal } from '../values/decimal.ts'
import { keysetFromValue } from '../values/guard-json.ts'
import { type Guard, UNIT, type Value } from '../values/value.ts'

/** Longer numbers take too long to read. */
const MAX_DIGITS = 10_000
const INTEGER = /^-?\d+$/
const KEY = /^[0-9a-f]{64}$|^WEBAUTHN-[0-9a-f]+$/

/** A field of the message by a name, read as `read` does; null: it is missing or does not fit. */
function reader(name: string, read: (value: Value, machine: Evaluator) => Value | null): Native<Evaluator> {
  return native(name, 1, 1, (args) => {
    const { machine } = args
    const value = machine.dataField(args.text(0))
    if (value !== undefined) machine.charge(machine.weightOf(value))
    const result = value === undefined ? null : read(value, machine)
    if (result === null) throw txFailure(`${name} failed. Invalid format or missing key.`)
    return result
  })
}

function integerOf(value: Value): bigint | null {
  // Data of tests is not read from JSON.
  if (value instanceof Map) return integerOf((value as ReadonlyMap<string, Value>).get('int') ?? UNIT)
  if (typeof value === 'bigint') return value
  if (value instanceof Decimal) return value.round(0).mantissa
  return typeof value === 'string' && value.length <= MAX_DIGITS && INTEGER.test(value) ? BigInt(value) : null
}

function decimalOf(value: Value): Decimal | null {
  if (value instanceof Decimal) return value
  if (typeof value === 'bigint') return Decimal.of(value)
  return typeof value === 'string' && value.length <= MAX_DIGITS ? Decimal.parse(value) : null
}

export function checkKeys(machine: Evaluator, guard: Guard): Guard {
  const { is } = guard
  if (machine.environment.rules.areKeysChecked && is.kind === 'keyset' && !is.keys.every((key) => KEY.test(key))) {
    throw evalError('Invalid keyset format. Check that keys have the right length and signature scheme.')
  }
  return guard
}

export const environment: readonly Native<Evaluator>[] = [
  native('read-msg', 0, 1, (args) => {
    const { machine } = args
    if (!args.has(0)) return machine.environment.data
    const value = machine.dataField(args.text(0))
    if (value === undefined) throw txFailure('read-msg failed. Invalid format or missing key.')
    return value
  }),
  reader('read-string', (value) => (typeof value === 'string' ? value : null)),
  reader('read-integer', integerOf),
  reader('read-decimal', decimalOf),
  reader('read-keyset', (value, machine) => {
    const guard = keysetFromValue(value)
    return guard === null ? null : checkKeys(machine, guard)
  }),
  native('tx-hash', 0, 0, ({ machine }) => machine.environment.hash),
  native('pact-id', 0, 0, ({ machine }) => pactIdOf(machine)),
  native('chain-data', 0, 0, ({ machine }) => {
    const { chain } = machine.environment
    return new Map<string, Value>([
      ['chain-id', chain.chainId],
      ['block-height', chain.blockHeight],
      ['block-time', chain.blockTime],
      ['prev-block-hash', chain.prevBlockHash],
      ['sender', chain.sender],
      ['gas-limit', chain.gasLimit],
      ['gas-price', chain.gasPrice],
    ])
  }),
  native('error', 1, 1, (args) => {
    throw txFailure(args.text(0))
  }),
]
