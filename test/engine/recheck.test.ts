import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { midstate } from '../../src/core/blake2s.ts'
import type { Kernel } from '../../src/engine/cpu/kernel.ts'
import { chooseKernel } from '../../src/engine/cpu/kernels.ts'
import { kernelNames } from '../../src/engine/cpu/names.ts'
import { CHECKED_NONCES, Recheck } from '../../src/engine/cpu/recheck.ts'

const BOUND = 7
const spot = { low: 0x1234, middle: 0xfedcba98, from: 63 * CHECKED_NONCES }
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
  it('agrees with the JavaScript kernel, and keeps its bound', () => {
    const { kernel, given } = altered(right, (real) => real)
    expect(new Recheck().disagreement(kernel, mid, BOUND, spot)).toBeNull()
    expect(given.bound).toBe(BOUND)
  })

  it.each<[string, (real: Kernel['sweep']) => Kernel['sweep']]>([
    ['misses all candidates', () => (_low, _middle, _from, to) => to],
    ['claims what is no candidate', () => (_low, _middle, from) => from],
    ['takes another low part', (real) => (low, middle, from, to) => real(low ^ 1, middle, from, to)],
    ['takes another middle part', (real) => (low, middle, from, to) => real(low, middle ^ 0x8000, from, to)],
    ['is one chunk off', (real) => (low, middle, from, to) => Math.min(to, real(low, middle, from, to) + right.lanes)],
  ])('is found out when it %s', (_, sweep) => {
    const { kernel, given } = altered(right, sweep)
    const complaint = new Recheck().disagreement(kernel, mid, BOUND, spot)
    expect(complaint).toMatch(
      new RegExp(`^kernel ${right.name}: \\d+ to \\d+ of low 4660, middle \\d+ gave \\d+ instead of \\d+$`),
    )
    expect(given.bound).toBe(BOUND)
  })
})
