/** Rigs that read slowly: the server waits for each until it falls behind, and again once it has caught up. */
import { afterEach, describe, expect, it } from 'vitest'
import { noWork } from '../../../src/mining/engine/engine.ts'
import { settle, VirtualClock } from '../../mine/virtual-clock.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { MemoryRig } from './memory-rigs.ts'
import { startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

async function served() {
  const clock = new VirtualClock()
  const started = await startedServer({}, { clock, random: () => 0.5 })
  /** Gives new work. Returns what the server says about the rigs: true once they have it, null while it waits. */
  const give = async (sequence: number) => {
    const outcome: { isTaken: boolean | null } = { isTaken: null }
    void started.engine.setWork(workOf(sequence, UNREACHABLE)).then((isTaken) => {
      outcome.isTaken = isTaken
    })
    await settle()
    return outcome
  }
  return { ...started, clock, give }
}

it('a rig that reads slowly gets no fresh job until it has read the last one', async () => {
  const { engine, clock, give } = await served()
  await give(1)
  const rig = await new MemoryRig(engine).login('k:abc.ka3', 'GodMiner/2.0.0')
  rig.server.cork()
  expect(await give(2)).toEqual({ isTaken: true })
  await clock.pass(10_000)
  rig.server.uncork()
  await settle()
  expect(rig.jobs).toHaveLength(2)
  await clock.pass(500)
  expect(rig.jobs).toHaveLength(3)
})

it('new work does not wait for a rig that has left', async () => {
  const { engine, give } = await served()
  const rigs = [1, 2].map(() => new MemoryRig(engine, { isEncrypted: true }))
  for (const rig of rigs) await rig.login()
  expect(await give(1)).toEqual({ isTaken: true })
  await rigs[0].close()
  expect(await give(2)).toEqual({ isTaken: true })
  expect(rigs.map(({ jobs }) => jobs.length)).toEqual([1, 2])
})

it('a client that leaves more than 64 KiB unread is closed', async () => {
  const { engine, give } = await served()
  await give(1)
  const rig = await new MemoryRig(engine).login()
  const bytesOfJob = JSON.stringify(rig.named('mining.notify')[0]).length + 1
  const most = Math.floor((64 * 1024) / bytesOfJob)
  rig.server.cork()
  for (let count = 1; count <= most; count++) await give(1 + count)
  expect(rig.isClosed).toBe(false)
  await give(2 + most)
  expect(rig.isClosed).toBe(true)
  expect(engine.status().refusals.connections).toMatchObject({ slow_reader: 1 })
})

describe('new work for a rig over TLS', () => {
  it('new work for a rig over TLS is sent once the network has it; a rig that lags delays nothing until it has caught up', async () => {
    const { engine, give } = await served()
    const { server } = await new MemoryRig(engine, { isEncrypted: true }).login()
    server.cork()
    const first = await give(1)
    expect(first.isTaken).toBeNull()
    // The rig is behind now: newer work does not wait for it.
    expect(await give(2)).toEqual({ isTaken: true })
    expect(first.isTaken).toBe(false)
    server.uncork()
    await settle()
    server.cork()
    const third = await give(3)
    expect(third.isTaken).toBeNull()
    server.uncork()
    await settle()
    expect(third.isTaken).toBe(true)
  })

  it('a rig over TLS does not delay an update once there is no more work', async () => {
    const { engine, give } = await served()
    const { server } = await new MemoryRig(engine, { isEncrypted: true }).login()
    server.cork()
    const first = await give(1)
    await engine.setWork(noWork(2))
    await settle()
    expect(first.isTaken).toBe(false)
    server.uncork()
  })
})
