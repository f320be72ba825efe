/** A command ends when it has made too many values, however few of them it holds. */
import { describe, expect, it } from 'vitest'
import { freeGas, type GasMeter } from '../../src/language/contracts/machine/environment.ts'
import { countMemory, MAX_MEMORY_BYTES } from '../../src/language/contracts/machine/gas/memory-meter.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { CapabilityToken, type Value } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

const HUGE = '(h (shift 1 499999))'
const gas = (): GasMeter => ({ used: 0, limit: 1e12 })
const TOO_MUCH = 'Memory limit exceeded: the command makes more than 256 MiB of values'

function failureOf(text: string): string | null {
  const result = outcome(evaluatorOn(new Layer(), gas()), text)
  return 'error' in result ? result.error.message : null
}

/** Bytes that a program makes. */
function bytesOf(text: string): number {
  const evaluator = evaluatorOn(new Layer(), gas())
  const result = outcome(evaluator, text)
  if ('error' in result) throw result.error
  return evaluator.transaction.memory.made
}

describe('the memory meter', () => {
  it.each([
    ['numbers', `(map (lambda (i) (- h)) (enumerate 1 9999))`],
    ['numbers that are dropped at once', `(fold (lambda (a i) (let ((x (- h))) 1)) 0 (enumerate 1 9999))`],
    ['decimals', `(map (lambda (i) (dec h)) (enumerate 1 9999))`],
    [
      'texts',
      `(let ((t (concat (make-list 10000 "0123456789")))) (map (lambda (i) (take 99999 t)) (enumerate 1 9999)))`,
    ],
    ['lists', `(let ((l (make-list 99999 1))) (map (lambda (i) (reverse l)) (enumerate 1 9999)))`],
    ['a failure in try', `(try 1 (map (lambda (i) (- h)) (enumerate 1 9999)))`],
  ])('the memory meter ends %s', (_, body) => {
    expect(failureOf(`(let (${HUGE}) ${body})`)).toBe(TOO_MUCH)
  })

  it('the memory meter does not count values that code only reads', () => {
    expect(failureOf(`(let* (${HUGE} (l [h])) (fold (lambda (a i) (at 0 l)) 0 (enumerate 1 9999)))`)).toBeNull()
    expect(failureOf(`(let (${HUGE}) (fold (lambda (a i) (identity h)) 0 (enumerate 1 9999)))`)).toBeNull()
  })

  it('the memory meter never falls, not even when an attempt is undone', () => {
    const attempt = bytesOf(`(let (${HUGE}) (try 1 (let ((x (- h))) (enforce false "no"))))`)
    expect(attempt).toBeGreaterThan(bytesOf(`(let (${HUGE}) 1)`) + 499_999 / 8)
  })

  it('the memory meter counts the same each time', () => {
    const text = '(map (lambda (i) {"a": [i (+ i 1)], "b": (format "{}" [i])}) (enumerate 1 100))'
    expect(bytesOf(text)).toBe(bytesOf(text))
  })

  const meter = (limit = 1) => ({ memory: { made: 0 }, gas: { used: 0, limit } })
  const sizeOfOne = (value: Value) => {
    const transaction = meter()
    expect(countMemory(transaction, value)).toBe(value)
    return transaction.memory.made
  }

  it('the memory meter counts a value by its own content, without that of its parts', () => {
    const long = 'x'.repeat(1000)
    expect(sizeOfOne(long)).toBe(2032)
    expect(sizeOfOne([long, long])).toBe(32 + 2 * 8)
    expect(sizeOfOne(new Map([['a', long]]))).toBe(32 + 48)
    expect(sizeOfOne(new CapabilityToken('m.C', [long, 1n]))).toBe(32 + 16)
    expect(sizeOfOne(1n << 799n)).toBe(32 + 100)
    expect(sizeOfOne(-(1n << 799n))).toBe(32 + 100)
    expect(sizeOfOne(new Decimal(1n << 799n, 2))).toBe(64 + 100)
    expect(sizeOfOne(true)).toBe(0)
  })

  it('the memory meter ends code at the limit and not before, and never where gas has no limit', () => {
    const text = 'x'.repeat(1000)
    const transaction = meter()
    transaction.memory.made = MAX_MEMORY_BYTES - 2032
    expect(() => countMemory(transaction, text)).not.toThrow()
    expect(() => countMemory(transaction, true)).not.toThrow()
    expect(() => countMemory(transaction, 1n)).toThrow(TOO_MUCH)
    const free = { memory: { made: MAX_MEMORY_BYTES }, gas: freeGas() }
    expect(() => countMemory(free, text)).not.toThrow()
  })
})
