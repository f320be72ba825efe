import { describe, expect, it } from 'vitest'
import { Uptake } from '../../src/mining/engine/uptake.ts'

/** Devices `d0`, `d1`, ... that are up. */
function uptakeOf(devices: number): Uptake {
  const uptake = new Uptake()
  for (let device = 0; device < devices; device++) uptake.up(`d${device}`)
  return uptake
}

const isPending = async (promise: Promise<unknown>) => {
  return (await Promise.race([promise, Promise.resolve('pending')])) === 'pending'
}

describe('new work', () => {
  it.each([
    [1, 1],
    [2, 2],
    [99, 99],
    [100, 99],
    [101, 100],
    [10_000, 9900],
  ])('new work of %i devices that are up counts as taken once %i search it', async (devices, wanted) => {
    const uptake = uptakeOf(devices)
    const taken = uptake.expect(1)
    for (let device = 0; device < wanted - 1; device++) uptake.took(`d${device}`, 1)
    expect(await isPending(taken)).toBe(true)
    uptake.took(`d${wanted - 1}`, 1)
    expect(await taken).toBe(true)
  })

  it('new work counts as taken at once if no device is up', async () => {
    expect(await uptakeOf(0).expect(1)).toBe(true)
  })

  it('new work resolves false if newer work comes first', async () => {
    const uptake = uptakeOf(2)
    const first = uptake.expect(1)
    void uptake.expect(2)
    expect(await first).toBe(false)
  })

  it('new work resolves false if it is cancelled', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.expect(1)
    uptake.cancel()
    expect(await taken).toBe(false)
  })

  it('new work does not wait for a device that fails', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.expect(1)
    uptake.took('d0', 1)
    uptake.down('d1')
    expect(await taken).toBe(true)
  })

  it('new work waits for a device that comes up meanwhile', async () => {
    const uptake = uptakeOf(1)
    const taken = uptake.expect(1)
    uptake.up('late')
    uptake.took('d0', 1)
    expect(await isPending(taken)).toBe(true)
    uptake.took('late', 1)
    expect(await taken).toBe(true)
  })

  it('new work is not taken if devices report older work', async () => {
    const uptake = uptakeOf(2)
    void uptake.expect(1)
    const taken = uptake.expect(2)
    uptake.took('d0', 1)
    uptake.took('d1', 1)
    expect(await isPending(taken)).toBe(true)
  })

  it('new work counts a device once, even if it reports twice', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.expect(2)
    uptake.took('d0', 2)
    uptake.took('d0', 2)
    expect(await isPending(taken)).toBe(true)
    uptake.took('d1', 2)
    expect(await taken).toBe(true)
  })
})
