/**
 * Counts the memory of all values that a command makes. The sum never falls, so a command ends before it fills the
 * memory, at the same place on every machine.
 */
import { evalError } from '../../errors.ts'
import { lengthOrMore } from '../../values/bits.ts'
import { Decimal } from '../../values/decimal.ts'
import { CapabilityToken, type Value } from '../../values/value.ts'

const MEBIBYTE = 2 ** 20
const MAX_MEBIBYTES = 256
export const MAX_MEMORY_BYTES = MAX_MEBIBYTES * MEBIBYTE

/** Bytes of the parts of values, as the engine stores them, rounded up. */
const BYTES = { value: 32, integer: 24, character: 2, item: 8, field: 48 }
const SMALL = 1n << 62n

/** Natives that return a value that was there before, or one that was counted when it was made. */
const MAKES_NOTHING: ReadonlySet<string> = new Set([
  'at',
  'identity',
  'constantly',
  'fold',
  'compose',
  'if',
  'and',
  'or',
  'read-msg',
  'read-string',
  'read-keyset',
  'describe-keyset',
  'read',
  'chain-data',
  'tx-hash',
  'pact-id',
])

/** Memory of the values of one command, and its limit of gas. */
interface CommandMemory {
  readonly memory: { made: number }
  readonly gas: { readonly limit: number }
}

/**
 * Counts a new value without its parts, which were counted when they were made.
 * @returns the value itself
 * @throws EvalError that `try` does not catch, if the command has made too much; never where gas has no limit
 */
export function countMemory<V extends Value>(transaction: CommandMemory, value: V): V {
  const { memory } = transaction
  memory.made += bytesOf(value)
  if (memory.made > MAX_MEMORY_BYTES && transaction.gas.limit !== Number.POSITIVE_INFINITY) {
    throw evalError(`Memory limit exceeded: the command makes more than ${MAX_MEBIBYTES} MiB of values`)
  }
  return value
}

/** As `countMemory`, for the result of a native. */
export function countResultMemory(transaction: CommandMemory, native: string, value: Value): void {
  if (typeof value === 'boolean' || MAKES_NOTHING.has(native)) return
  if (native === 'enumerate' && Array.isArray(value)) transaction.memory.made += BYTES.integer * value.length
  countMemory(transaction, value)
}

/** Bytes of a value without those of its parts. */
function bytesOf(value: Value): number {
  if (typeof value === 'string') return BYTES.value + BYTES.character * value.length
  if (typeof value === 'bigint') return BYTES.value + integerBytes(value)
  if (typeof value === 'boolean') return 0
  if (Array.isArray(value)) return BYTES.value + BYTES.item * value.length
  if (value instanceof Map) return BYTES.value + BYTES.field * value.size
  if (value instanceof Decimal) return 2 * BYTES.value + integerBytes(value.mantissa)
  if (value instanceof CapabilityToken) return BYTES.value + BYTES.item * value.args.length
  return BYTES.value
}

function integerBytes(n: bigint): number {
  return n < SMALL && n > -SMALL ? 0 : Math.ceil(lengthOrMore(n) / 8)
}
