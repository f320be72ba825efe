/** How conduct leads to a ban, whom it affects and when it ends, on virtual time. */
import { afterEach, describe, expect, it } from 'vitest'
import { modelHash, modelNonce } from '../../../bench/rigs/model-hash.ts'
import { Addresses, isWorkerBanned } from '../../../src/mining/engine/stratum/addresses.ts'
import { countConduct, newConduct } from '../../../src/mining/engine/stratum/conduct.ts'
import { defaultLimits, type RigLimits } from '../../../src/mining/engine/stratum/limits.ts'
import { MAX_NAMED } from '../../../src/mining/engine/stratum/workers.ts'
import { failures } from '../../../src/mining/stratum/messages.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { randomFrom } from '../../random.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { MemoryRig } from './memory-rigs.ts'
import { startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const MINUTE = 60_000
const BANNED = failures.banned.code

describe('conduct', () => {
  const limits = { ...defaultLimits, badUntilBan: 5, banMs: 10_000 }

  it('the conduct of a worker leads to a ban with more than four bad acts for each good one', () => {
    const conduct = newConduct()
    expect(countConduct(conduct, { good: 2 }, limits, 0)).toBe(false)
    for (let bad = 1; bad <= 8; bad++) expect(countConduct(conduct, { bad: 1 }, limits, 0)).toBe(false)
    expect(countConduct(conduct, { bad: 1 }, limits, 0)).toBe(true)
    expect(conduct.bannedUntilMs).toBe(10_000)
  })

  it('bad and good conduct counts no more after five minutes', () => {
    for (const before of [{ good: 100 }, { bad: 4 }]) {
      const conduct = newConduct()
      countConduct(conduct, before, limits, 10 * MINUTE)
      expect(countConduct(conduct, { bad: 4 }, limits, 15 * MINUTE + 1)).toBe(false)
      expect(countConduct(conduct, { bad: 1 }, limits, 15 * MINUTE + 1)).toBe(true)
    }
  })

  it('the conduct of a worker counts for five minutes', () => {
    const conduct = newConduct()
    countConduct(conduct, { bad: 4 }, limits, 10 * MINUTE)
    expect(countConduct(conduct, { bad: 1 }, limits, 15 * MINUTE)).toBe(true)
  })

  it('good conduct causes no ban, and a ban ends at its time whatever the worker does', () => {
    const conduct = newConduct()
    expect(countConduct(conduct, { bad: 5 }, limits, 0)).toBe(true)
    expect(countConduct(conduct, { bad: 5 }, limits, 9_999)).toBe(false)
    expect(conduct.bannedUntilMs).toBe(10_000)
    expect(countConduct(conduct, { good: 1 }, limits, 10_000)).toBe(false)
    expect(countConduct(conduct, { bad: 1 }, limits, 10_000)).toBe(true)
  })

  it('the conduct of a worker is forgotten five minutes after its last share, not after its first', () => {
    const addresses = new Addresses({ ...defaultLimits, badUntilBan: 2 })
    const address = addresses.enter('10.0.0.1', 0)
    if (address === null) throw new Error('it is let in')
    const bad = (n: number) => addresses.judgeWorker(address, `k:abc\n${n}`, { bad: 1 }, 0)
    for (let n = 0; n < 256; n++) bad(n)
    expect(bad(0)).not.toBeNull()
    bad(256)
    expect([0, 256].map((n) => isWorkerBanned(address, `k:abc\n${n}`, 1))).toEqual([true, false])
    // The server has forgotten the second worker, which was the oldest.
    expect([bad(1), bad(3)]).toEqual([null, expect.anything()])
  })
})

/** A server with work whose shares encode their difficulty. */
async function served(limits: Partial<RigLimits> = {}) {
  const clock = new VirtualClock()
  const started = await startedServer(limits, { clock, difficulty: 2 ** 32, shareHash: modelHash })
  await started.engine.setWork(workOf(1, UNREACHABLE))
  const random = randomFrom(3)
  return { ...started, clock, good: () => modelNonce(2 ** 32, random).nonce2 }
}

describe('a banned worker', () => {
  it('a banned worker gets a message before its connection ends, and those without a log-in stay', async () => {
    const { engine } = await served({ badUntilBan: 5 })
    const early = new MemoryRig(engine)
    const rig = await new MemoryRig(engine).login()
    for (let n = 0; n < 5; n++) expect(await rig.submit(rig.jobs[0], 'z')).toBe(20)
    expect([rig.isClosed, early.isClosed]).toEqual([true, false])
    expect(rig.named('client.show_message')).toMatchObject([{ params: [failures.banned.message] }])
  })

  it('a banned worker is refused for ten minutes after 100 bad shares by default', async () => {
    const { engine, clock } = await served()
    const rig = await new MemoryRig(engine).login()
    for (let n = 0; n < 99; n++) await rig.submit(rig.jobs[0], 'z')
    expect(rig.isClosed).toBe(false)
    await rig.submit(rig.jobs[0], 'z')
    expect(rig.isClosed).toBe(true)
    await clock.pass(10 * MINUTE - 1)
    expect((await new MemoryRig(engine).login()).answerTo(2)?.error?.[0]).toBe(BANNED)
    await clock.pass(1)
    expect((await new MemoryRig(engine).login()).answerTo(2)?.result).toBe(true)
  })

  it('a banned worker among those that share an entry loses its connection only', async () => {
    const { engine } = await served({ badUntilBan: 5, requestsPerSecond: 1e6 })
    const farm = await new MemoryRig(engine).login('k:abc.0')
    const users = Array.from({ length: MAX_NAMED }, (_, n) => `k:abc.${n}`)
    await farm.say(...users.map((user) => ({ id: user, method: 'mining.authorize', params: [user, 'x'] })))
    const [bad, other] = [await new MemoryRig(engine).login('k:abc.bad'), await new MemoryRig(engine).login('k:abc.x')]
    expect(engine.devices().filter(({ device }) => device === 'rigs')).toHaveLength(1)
    for (let n = 0; n < 5; n++) await bad.submit(bad.jobs[0], 'z')
    expect([bad.isClosed, other.isClosed, farm.isClosed]).toEqual([true, false, false])
    expect(engine.status().refusals.connections.worker_banned).toBe(1)
  })
})

describe('an address', () => {
  it('the ban of an address that is full is reported, and no other after it', async () => {
    const { engine, warnings } = await served({ sessionsPerAddress: 1 })
    const rigs = ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'].map((address) => new MemoryRig(engine, { address }))
    for (const rig of rigs) await rig.login()
    expect(rigs.map(({ isClosed }) => isClosed)).toEqual([false, true, false, true])
    expect(warnings).toEqual([expect.stringMatching(/^1 rigs are connected from 10\.0\.0\.1, /)])
  })

  it('an address is banned for lines that are too long', async () => {
    const { engine } = await served({ badUntilBan: 10 })
    const rig = new MemoryRig(engine)
    await rig.write('x'.repeat(5000))
    const again = new MemoryRig(engine)
    await again.say({ id: 1, method: 'mining.ping', params: [] })
    expect(rig.isClosed).toBe(true)
    expect(again.lines).toEqual([])
    expect(engine.status().refusals.connections).toMatchObject({ long_line: 1, address_banned: 1 })
  })

  it('an address is not banned for invalid lines if its rigs have enough good shares', async () => {
    const { engine, good } = await served({ badUntilBan: 10 })
    const rig = await new MemoryRig(engine).login()
    for (let n = 0; n < 3; n++) expect(await rig.submit(rig.jobs[0], good())).toBe(0)
    const strange = new MemoryRig(engine)
    await strange.write('nonsense\n')
    expect((await new MemoryRig(engine).login('k:abc.other')).answerTo(2)?.result).toBe(true)
    expect(strange.isClosed).toBe(false)
  })

  it('an address that is banned for invalid lines loses a session with fewer good shares than such a line weighs', async () => {
    const { engine, good } = await served({ badUntilBan: 10 })
    const rig = await new MemoryRig(engine).login()
    for (let n = 0; n < 2; n++) expect(await rig.submit(rig.jobs[0], good())).toBe(0)
    await rig.write('nonsense\n')
    expect(rig.isClosed).toBe(true)
    expect(engine.status().refusals.connections).toMatchObject({ address_banned: 1 })
  })
})
