/** Natives that read the message, the block and the transaction. */
import { failure } from '../../failures/failure.ts'
import type { Run } from '../../machine/ast.ts'
import { weightOf } from '../../machine/gas/bounds.ts'
import { ofLookup, ofTextOperation, ofTextParse } from '../../machine/gas/cost-names.ts'
import { countCharacters, lookupPrice, PRICE, parsePrice } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { pactIdOf } from '../../machine/scopes.ts'
import { Decimal } from '../../values/decimal.ts'
import { keysetFromValue } from '../../values/guard-json.ts'
import { showValue } from '../../values/print.ts'
import { type Guard, type GuardKind, type ObjectValue, UNIT, type Value } from '../../values/value.ts'

/** Maximum length of a number; longer ones take too long to parse. */
const MAX_DIGITS = 10_000
const INTEGER = /^-?\d+$/
const KEY = /^[0-9a-f]{64}$|^WEBAUTHN-[0-9a-f]+$/
/** A key of SLH-DSA in a keyset: `q` and its 32, 48 or 64 bytes in hex. */
export const SLH_DSA_KEY = /^q([0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/

/**
 * Field of the message data.
 * @returns undefined if there is none
 */
export function dataField({ transaction }: Run, name: string): Value | undefined {
  const { data } = transaction.message
  return data instanceof Map ? (data as ObjectValue).get(name) : undefined
}

/** Milligas for each character of a text that is read as a number. */
const DIGIT_PRICE = 20

/**
 * Field of the message data. The look-up costs by its name and by the number of fields.
 * @returns undefined if there is none
 */
export function readDataField(run: Run, name: string): Value | undefined {
  const { data } = run.transaction.message
  if (data instanceof Map) run.charge(lookupPrice(name, data.size), ofLookup(name, data.size))
  return dataField(run, name)
}

/** Milligas of a keyset in the message data: the look-up of its fields, and its predicate. */
export function chargeKeyset(run: Run, field: Value | undefined): void {
  if (!(field instanceof Map)) return
  const keyset = field as ObjectValue
  for (const name of ['keys', 'pred']) run.charge(lookupPrice(name, keyset.size), ofLookup(name, keyset.size))
  const predicate = keyset.get('pred') ?? 'keys-all'
  if (keyset.has('keys') && typeof predicate === 'string') run.charge(parsePrice(predicate), ofTextParse(predicate))
}

/**
 * Builds a native that reads a field of the message data.
 * @param read converts the field, or returns null if it does not fit
 */
function readerNative(name: string, read: (value: Value, run: Run) => Value | null): Native<Run> {
  return native(name, 1, 1, (args) => {
    const { run } = args
    const value = readDataField(run, args.text(0))
    if (value !== undefined) run.work(weightOf(value))
    // Texts are parsed only where they can be numbers.
    const parses = typeof value === 'string' && (name === 'read-integer' || name === 'read-decimal')
    if (parses) {
      const length = countCharacters(value)
      run.charge(DIGIT_PRICE * length + PRICE.parsed, ofTextOperation('StrOpConvToInt', length))
    }
    const result = value === undefined ? null : readOnce(args, value, read)
    if (result === null) throw failure('UNREADABLE', { native: name })
    return result
  })
}

/** Results of reading long texts, by data, and then by native and field. */
const results = new WeakMap<object, Map<string, Value | null>>()
const LONG = 100

/** Reads a long text of the data once: it may be a number, which is slow to parse. */
function readOnce(
  { run, native: name, all }: Arguments<Run>,
  value: Value,
  read: (value: Value, run: Run) => Value | null,
): Value | null {
  const { data } = run.transaction.message
  if (typeof value !== 'string' || value.length < LONG || typeof data !== 'object') return read(value, run)
  const known = results.get(data) ?? new Map<string, Value | null>()
  results.set(data, known)
  const key = `${name} ${all[0]}`
  let result = known.get(key)
  if (result === undefined) {
    result = read(value, run)
    known.set(key, result)
  }
  return result
}

function integerOf(value: Value): bigint | null {
  // The data of test files holds maps; data from JSON is decoded already.
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

/** Keysets whose keys have the right format. */
const checked = new WeakSet<GuardKind>()

/** @throws EvalError if a key of a keyset has the wrong format */
export function checkKeys(run: Run, guard: Guard): Guard {
  const { is } = guard
  const { areKeysChecked, hasSlhDsa } = run.block.rules
  if (!areKeysChecked || is.kind !== 'keyset' || checked.has(is)) return guard
  if (!is.keys.every((key) => KEY.test(key) || (hasSlhDsa && SLH_DSA_KEY.test(key)))) {
    throw failure('WRONG_KEYSET', { keyset: () => showValue(guard) })
  }
  checked.add(is)
  return guard
}

function readMessage(args: Arguments<Run>): Value {
  const { run } = args
  if (!args.has(0)) return run.transaction.message.data
  const value = readDataField(run, args.text(0))
  if (value === undefined) throw failure('UNREADABLE', { native: 'read-msg' })
  return value
}

export const environment: readonly Native<Run>[] = [
  native('read-msg', 0, 1, readMessage, 1),
  readerNative('read-string', (value) => (typeof value === 'string' ? value : null)),
  readerNative('read-integer', integerOf),
  readerNative('read-decimal', decimalOf),
  readerNative('read-keyset', (value, run) => {
    chargeKeyset(run, value)
    const guard = keysetFromValue(value)
    return guard === null ? null : checkKeys(run, guard)
  }),
  native('tx-hash', 0, 0, ({ run }) => run.transaction.message.hash),
  native('pact-id', 0, 0, ({ run }) => pactIdOf(run)),
  native('chain-data', 0, 0, ({ run }) => {
    const { chain } = run.block
    const { sender, gasLimit, gasPrice } = run.transaction.message
    return new Map<string, Value>([
      ['chain-id', chain.chainId],
      ['block-height', chain.blockHeight],
      ['block-time', chain.blockTime],
      ['prev-block-hash', chain.prevBlockHash],
      ['sender', sender],
      ['gas-limit', gasLimit],
      ['gas-price', gasPrice],
    ])
  }),
]
