/**
 * Memory size of a value as chainweb-node computes it, in bytes. Repetition, such as `(make-list n v)`, is charged by
 * it.
 *
 * The node counts 8-byte words: 2 per value, 2 per literal, plus its content.
 */
import { bitLength } from './bits.ts'
import { Decimal } from './decimal.ts'
import { sizeOf } from './size.ts'
import { Time, Unit, type Value } from './value.ts'

const WORD = 8
const VALUE = 2 * WORD
const LITERAL = VALUE + 2 * WORD

/** O(tree size); shared parts count each time. */
export function memoryOf(value: Value): number {
  if (typeof value === 'string') return LITERAL + textMemory(value)
  if (typeof value === 'bigint') return LITERAL + integerMemory(value)
  if (value instanceof Decimal) return LITERAL + 5 * WORD + integerMemory(value.mantissa)
  if (typeof value === 'boolean' || value instanceof Unit) return LITERAL
  if (value instanceof Time) return VALUE + 4 * WORD
  if (Array.isArray(value)) {
    let memory = VALUE + (7 + value.length) * WORD
    for (const item of value) memory += memoryOf(item)
    return memory
  }
  if (value instanceof Map) {
    let memory = VALUE + 6 * value.size * WORD
    for (const [name, item] of value as ReadonlyMap<string, Value>) memory += textMemory(name) + memoryOf(item)
    return memory
  }
  return VALUE + sizeOf(value).weight
}

function textMemory(text: string): number {
  return 6 * WORD + 2 * text.length
}

function integerMemory(n: bigint): number {
  return Math.floor(Math.max(64, bitLength(n)) / 8)
}
