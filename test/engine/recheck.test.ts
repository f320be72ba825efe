import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { midstate } from '../../src/ground/chain/blake2s.ts'
import type { Kernel } from '../../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../../src/mining/engine/cpu/kernels.ts'
import { kernelNames } from '../../src/mining/engine/cpu/names.ts'
import { CHECKED_NONCES, Recheck } from '../../src/mining/engine/cpu/recheck.ts'

const BOUND = 7
const spot = { low: 0x1234, middle: 0xfedcba98, from: 31 * CHECKED_NONCES }
const mid = midstate(randomBytes(286))
const here = kernelNames.flatMap((name) => chooseKernel(286, name, randomBytes).kernel ?? [])

/** The kernel with another sweep; `given` records the last bound that was set. */
function altered(kernel: Kernel, sweep: (real: Kernel['sweep']) => Kernel['sweep']) {
  const given = { bound: Number.NaN }
  const setWork: Kernel['setWork'] = (state, tail, bound) => {
    given.bound = bound
    kernel.setWork(state, tail, bound)
  }
  const real: Kernel['sweep'] = (...args) => kernel.sweep(...args)
  return { kernel: { ...kernel, setWork, sweep: sweep(real) }, given }
}

describe.each(here.map((kernel) => [kernel.name, kernel] as const))('kernel %s, searched again', (_, right) => {
  it('a correct kernel agrees with the JavaScript kernel, and keeps its bound', () => {
    const { kernel, given } = altered(right, (real) => real)
    expect(new Recheck().findDisagreement(kernel, mid, BOUND, spot)).toBeNull()
    expect(given.bound).toBe(BOUND)
  })

  it.each<[string, (real: Kernel['sweep']) => Kernel['sweep']]>([
    ['misses all candidates', () => (_low, _middle, _from, to) => to],
    ['claims what is no candidate', () => (_low, _middle, from) => from],
    ['takes another low part', (real) => (low, middle, from, to) => real(low ^ 1, middle, from, to)],
    ['takes another middle part', (real) => (low, middle, from, to) => real(low, middle ^ 0x8000, from, to)],
    ['is one chunk off', (real) => (low, middle, from, to) => Math.min(to, real(low, middle, from, to) + right.lanes)],
  ])('a wrong kernel is detected when it %s', (_, sweep) => {
    const { kernel, given } = altered(right, sweep)
    const complaint = new Recheck().findDisagreement(kernel, mid, BOUND, spot)
    expect(complaint).toMatch(
      new RegExp(`^kernel ${right.name}: \\d+ to \\d+ of low 4660, middle \\d+ gave \\d+ instead of \\d+$`),
    )
    expect(given.bound).toBe(BOUND)
  })

  it('a wrong kernel is detected if it errs only at the end of a sweep, where it may hash beside its vectors', () => {
    const to = spot.from + CHECKED_NONCES
    const last = to - right.lanes
    // One nonce in 2,048 is a candidate. Find a sweep whose first is in the last chunk.
    right.setWork(mid.state, mid.tail, 2 ** 21 - 1)
    let middle = 0
    while (right.sweep(spot.low, middle, spot.from, to) !== last) middle++
    const { kernel } = altered(right, (real) => (...args) => {
      const found = real(...args)
      return args[2] === spot.from && found === last ? to : found
    })
    const complaint = new Recheck().findDisagreement(kernel, mid, BOUND, { ...spot, middle })
    expect(complaint).toMatch(new RegExp(`gave ${to} instead of ${last}$`))
  })
})
