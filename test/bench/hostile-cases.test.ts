import { describe, expect, it } from 'vitest'
import { hostileCases } from '../../bench/hostile/cases.ts'
import { FLAT_CALLS } from '../../bench/hostile/flat-cases.ts'
import { knownFailures } from '../../bench/hostile/known-failures.ts'
import { NATIVE_CALLS } from '../../bench/hostile/native-cases.ts'
import { isClear, lineOf, type Probed, seconds, verdict } from '../../bench/hostile/probe.ts'
import type { Measured } from '../../bench/hostile/probe-process.ts'
import { language } from '../../src/language/contracts/language.ts'
import { NativeFunction } from '../../src/language/contracts/machine/callables.ts'
import { flatNatives } from '../../src/language/contracts/natives/work-of-natives.ts'

const measured: Measured = {
  cpuMs: 1,
  estimatedMs: 2000,
  gas: 7.4,
  peakMiB: 512,
  memoryBefore: 100,
  written: 128 * 2 ** 20,
  outcome: '7 gas, success',
  thrown: null,
  isWhole: true,
}

describe('the hostile commands', () => {
  it('the hostile commands call every native, and nothing else', () => {
    const natives = [...language.natives].filter(([, term]) => term instanceof NativeFunction).map(([name]) => name)
    expect(Object.keys(NATIVE_CALLS).toSorted()).toEqual(natives.toSorted())
  })

  it('the hostile commands call every native of flat work, and no other, with the largest arguments', () => {
    expect(Object.keys(FLAT_CALLS).toSorted()).toEqual(flatNatives.toSorted())
  })

  it('the hostile commands have a name each, also those that are known to fail', () => {
    const names = hostileCases.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(Object.keys(knownFailures)))
    for (const reason of Object.values(knownFailures)) expect(reason.length).toBeGreaterThan(20)
  })

  it.each([
    ['at the limits', {}, null],
    ['too slow', { estimatedMs: 2001 }, 'time: 2.00 s'],
    ['too large', { peakMiB: 513 }, 'memory: 513 MiB'],
    ['ended for its memory', { outcome: 'memory', peakMiB: 500 }, 'memory: 500 MiB'],
    ['writes too much', { written: 128 * 2 ** 20 + 1 }, 'writes 128 MiB'],
    ['an exception', { thrown: 'RangeError: no' }, 'throws RangeError: no'],
    [
      'one within the command',
      { outcome: '9 gas, "Internal error: RangeError: no' },
      'throws Internal error: RangeError: no',
    ],
    ['refused before', { outcome: '9 gas, "Cannot resolve x' }, 'does not run: 9 gas, "Cannot resolve x'],
  ])('a hostile command is judged: %s', (_, changes, fault) => {
    expect(verdict({ ...measured, ...changes })).toBe(fault)
  })

  it.each([
    ['half of the limits', {}, true],
    ['more time', { estimatedMs: 1001 }, false],
    ['more memory', { peakMiB: 257 }, false],
    ['too much written', { written: 128 * 2 ** 20 + 1 }, false],
    ['an exception', { thrown: 'RangeError: no' }, false],
    ['an end before its own', { isWhole: false }, false],
  ])('whether a hostile command needs a process of its own after others: %s', (_, changes, clear) => {
    expect(isClear({ ...measured, estimatedMs: 1000, peakMiB: 256, ...changes })).toBe(clear)
  })

  it('the hostile commands are printed with their fault, or else with their outcome', () => {
    const probed: Probed = { ...measured, name: 'a', fault: null, isAlone: true }
    expect(lineOf(probed)).toMatch(/^ {4} +2\.00 +512 +128\.0 +7 {2}a: 7 gas, success$/)
    expect(lineOf({ ...probed, isWhole: false, fault: 'time: 9 s' })).toMatch(/^FAIL +~2\.00 .* {2}a: time: 9 s$/)
    expect([seconds(1234), seconds(12_345), seconds(1e12)]).toEqual(['1.23', '12.3', 'more than 3600'])
  })
})
