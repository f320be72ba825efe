import { describe, expect, it } from 'vitest'
import { WorkAcknowledgement } from '../../src/mining/engine/work-acknowledgement.ts'

/** Devices `d0`, `d1`, ... that are up. */
function uptakeOf(devices: number): WorkAcknowledgement {
  const uptake = new WorkAcknowledgement()
  for (let device = 0; device < devices; device++) uptake.deviceUp(`d${device}`)
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
    const taken = uptake.await(1)
    for (let device = 0; device < wanted - 1; device++) uptake.acknowledge(`d${device}`, 1)
    expect(await isPending(taken)).toBe(true)
    uptake.acknowledge(`d${wanted - 1}`, 1)
    expect(await taken).toBe(true)
  })

  it('new work counts as taken at once if no device is up', async () => {
    expect(await uptakeOf(0).await(1)).toBe(true)
  })

  it('new work resolves false if newer work comes first', async () => {
    const uptake = uptakeOf(2)
    const first = uptake.await(1)
    void uptake.await(2)
    expect(await first).toBe(false)
  })

  it('new work resolves false if it is cancelled', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.await(1)
    uptake.cancel()
    expect(await taken).toBe(false)
  })

  it('new work does not wait for a device that fails', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.await(1)
    uptake.acknowledge('d0', 1)
    uptake.deviceDown('d1')
    expect(await taken).toBe(true)
  })

  it('new work waits for a device that comes up meanwhile', async () => {
    const uptake = uptakeOf(1)
    const taken = uptake.await(1)
    uptake.deviceUp('late')
    uptake.acknowledge('d0', 1)
    expect(await isPending(taken)).toBe(true)
    uptake.acknowledge('late', 1)
    expect(await taken).toBe(true)
  })

  it('new work is not taken if devices report older work', async () => {
    const uptake = uptakeOf(2)
    void uptake.await(1)
    const taken = uptake.await(2)
    uptake.acknowledge('d0', 1)
    uptake.acknowledge('d1', 1)
    expect(await isPending(taken)).toBe(true)
  })

  it('new work counts a device once, even if it reports twice', async () => {
    const uptake = uptakeOf(2)
    const taken = uptake.await(2)
    uptake.acknowledge('d0', 2)
    uptake.acknowledge('d0', 2)
    expect(await isPending(taken)).toBe(true)
    uptake.acknowledge('d1', 2)
    expect(await taken).toBe(true)
  })
})
