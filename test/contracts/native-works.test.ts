/** The declared work of natives: every native has a line, and the lines grow with what they bound. */
import { describe, expect, it } from 'vitest'
import { language } from '../../src/language/contracts/language.ts'
import { NativeFunction } from '../../src/language/contracts/machine/callables.ts'
import type { GasMeter } from '../../src/language/contracts/machine/environment.ts'
import type { Term } from '../../src/language/contracts/machine/term.ts'
import { declaredWorks, nativeWork } from '../../src/language/contracts/natives/work-of-natives.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

const natives = [...language.natives.values()].filter((term) => term instanceof NativeFunction)
const huge = 1n << 300_000n
const hugeDecimal = new Decimal(huge, 255)
const object = (size: number) => new Map<string, Value>(Array.from({ length: size }, (_, i) => [`f${i}`, 1n]))
const names = (size: number) => Array.from({ length: size }, (_, i) => `f${i}`)

describe('the work of a native', () => {
  it('the work of a native is declared for each native of the network, and for nothing else', () => {
    expect([...declaredWorks].sort()).toEqual(natives.map(({ name }) => name).sort())
    expect(() => nativeWork('no-such-native')).toThrow('native no-such-native declares no work')
  })

  it.each<readonly [name: string, args: readonly Term[], units: number]>([
    ['negate', [1n], 1],
    ['negate', [huge], 1001],
    ['negate', ['text'], 0],
    ['-', [huge], 1001],
    ['-', [huge, huge], 0],
    ['abs', [new Decimal(-huge, 3)], 1001],
    ['+', [object(30), object(5)], 350],
    ['+', [object(30), 'text'], 0],
    ['+', [huge, huge], 0],
    ['^', [hugeDecimal, new Decimal(0n, 0)], 37_501],
    ['^', [huge, 2n], 0],
    ['^', [new Decimal(huge, 0), 2n], 0],
    ['ln', [hugeDecimal], 37_501],
    ['log', [hugeDecimal, hugeDecimal], 75_001],
    ['sqrt', [hugeDecimal], 37_501],
    ['exp', [hugeDecimal], 37_501],
    ['round', [hugeDecimal], 37_501],
    ['round', [hugeDecimal, 3n], 37_501],
    ['floor', [hugeDecimal], 37_501],
    ['ceiling', [hugeDecimal], 37_501],
    ['ceiling', [new Decimal(huge, 0)], 0],
    ['format-time', ['%Y-%m %%', 1n], 600],
    ['format-time', [1n], 0],
    ['read', ['table', 'key'], 0],
    ['read', ['table', 'key', names(70)], 700],
    ['select', ['table', names(70), 'query'], 700],
  ])('the native %s declares its work, case %#', (name, args, units) => {
    expect(nativeWork(name)?.(args)).toBe(units)
  })

  it('the work of a native is counted before the call, also where the native is applied by another', () => {
    const workOfCall = (code: string) => {
      const gas: GasMeter = { used: 0, limit: 150_000_000 }
      expect(outcome(evaluatorOn(new Layer(), gas), code)).toHaveProperty('value')
      return gas.work ?? 0
    }
    const before = workOfCall('(let ((h (shift 1 300000))) (length [h h]))')
    expect(workOfCall('(let ((h (shift 1 300000))) (length [(negate h) (negate h)]))') - before).toBe(2 * 1001)
    expect(workOfCall('(let ((h (shift 1 300000))) (length (map (negate) [h h])))') - before).toBe(2 * 1001)
  })
})
