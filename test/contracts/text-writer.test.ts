import { describe, expect, it } from 'vitest'
import { TextWriter } from '../../src/language/contracts/values/text-writer.ts'
import {
  formatTime,
  ISO_MICROS,
  ISO_SECONDS,
  isoMicros,
  isoSeconds,
} from '../../src/language/contracts/values/time-text.ts'
import { Guard, ModuleRef, Time, type Value } from '../../src/language/contracts/values/value.ts'
import { valueToJson, writeValue } from '../../src/language/contracts/values/wire.ts'

/** The text of a value within a limit, or the message of the failure. */
function within(limit: number, value: Value): string {
  const writer = new TextWriter(limit)
  try {
    writeValue(writer, value)
    return writer.text
  } catch (error) {
    return (error as Error).message
  }
}

describe('TextWriter', () => {
  const values: readonly Value[] = [
    'abc',
    'äöü€𝒳',
    '"\n\u0001',
    12345n,
    10n ** 300n,
    [1n, [2n, 'x']],
    new Map<string, Value>([['field', [true]]]),
    new Time(1_700_000_000_123_456n),
    new Guard({ kind: 'keyset', keys: ['b', 'a'], predicate: 'keys-all' }),
    new ModuleRef('free.module', ['free.interface']),
  ]

  it('a TextWriter accepts a text of exactly the limit, in bytes of UTF-8, and refuses one byte more', () => {
    for (const value of values) {
      const text = valueToJson(value)
      const bytes = Buffer.byteLength(text)
      expect(within(bytes, value)).toBe(text)
      expect(within(bytes - 1, value), text).toBe('Result too large')
    }
  })

  it('a TextWriter refuses a large text, number or object before it makes the JSON of it', () => {
    const huge = 'a'.repeat(1 << 20)
    let reads = 0
    const counted = new Map<string, Value>([['a', huge]])
    const { entries } = counted
    counted[Symbol.iterator] = () => {
      reads++
      return entries.call(counted)
    }
    for (let i = 0; i < 100; i++) counted.set(`${i}`, true)
    expect(within(100, huge)).toBe('Result too large')
    expect(within(100, 1n << 1_000_000n)).toBe('Result too large')
    expect(within(100, counted)).toBe('Result too large')
    expect(reads).toBe(0)
  })
})

describe('times in ISO 8601', () => {
  it('times in ISO 8601 are those of the general formatter, in every year and on both sides of 1970', () => {
    const second = 1_000_000n
    const edges = [-30_610_224_000n, 253_402_300_800n, 0n, -62_135_596_800n, 951_782_400n].map((each) => each * second)
    const around = edges.flatMap((at) => [-1_000_001n, -999_999n, -1n, 0n, 1n, 999n, 1_000n, second].map((d) => at + d))
    for (let i = 0n; i < 500n; i++)
      around.push(((i * 7_919_111_222_333_444_555n) % (400_000_000_000n * second)) - 2n ** 57n)
    for (const micros of around) {
      const time = new Time(micros)
      expect(isoSeconds(time)).toBe(formatTime(ISO_SECONDS, time))
      expect(isoMicros(time)).toBe(formatTime(ISO_MICROS, time))
    }
  })
})
