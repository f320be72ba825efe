/** The request budgets of sessions and addresses, and the shares that are free of them, on virtual time. */
import { afterEach, describe, expect, it } from 'vitest'
import { modelHash, modelNonce } from '../../../bench/rigs/model-hash.ts'
import type { RigLimits } from '../../../src/mining/engine/stratum/limits.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { randomFrom } from '../../random.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { MemoryRig } from './memory-rigs.ts'
import { loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** A server with work whose shares encode their difficulty. */
async function served(limits: Partial<RigLimits>, difficulty = 1000) {
  const clock = new VirtualClock()
  const started = await startedServer(limits, { clock, difficulty, shareHash: modelHash })
  await started.engine.setWork(workOf(1, UNREACHABLE))
  return { ...started, clock }
}

const pings = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: 1000 + n, method: 'mining.ping', params: [] }))
const textOf = (messages: readonly object[]) => messages.map((each) => `${JSON.stringify(each)}\n`).join('')
/** Number of answered pings. */
const pongs = (...rigs: readonly MemoryRig[]) =>
  rigs.flatMap(({ lines }) => lines).filter(({ result }) => result === 'pong').length

describe('requests', () => {
  it('all requests of an address have one budget, which grows once a second, however many sessions it has', async () => {
    const { engine, clock } = await served({ requestsPerSecond: 1000, requestsPerSecondOfAddress: 10 })
    const rigs = [1, 2, 3].map(() => new MemoryRig(engine))
    const other = new MemoryRig(engine, { address: '10.0.0.2' })
    for (const rig of [...rigs, other]) await rig.say(...pings(30))
    expect(pongs(other)).toBe(20)
    for (let seconds = 0; seconds <= 4; seconds++) {
      // The server notices the end of the budget after a read, so each further session has one more.
      expect(pongs(...rigs) - 10 * seconds).toBeGreaterThanOrEqual(20)
      expect(pongs(...rigs) - 10 * seconds).toBeLessThanOrEqual(22)
      await clock.pass(1_000)
    }
  })

  it('all requests of an address wait until it has a budget again, also those of a session that has one', async () => {
    const { engine, clock } = await served({ requestsPerSecond: 1000, requestsPerSecondOfAddress: 10 })
    const [many, few] = [new MemoryRig(engine), new MemoryRig(engine)]
    // Lines that arrive together are read together: 40 more than the budget.
    await many.write(textOf(pings(60)))
    await few.say(...pings(10))
    expect([pongs(many), pongs(few)]).toEqual([60, 1])
    await clock.pass(4_000)
    expect(pongs(few)).toBe(1)
    await clock.pass(2_000)
    expect(pongs(few)).toBe(10)
  })

  it.each<[string, Partial<RigLimits>]>([
    ['a session', { requestsPerSecond: 10 }],
    ['an address', { requestsPerSecond: 1e6, requestsPerSecondOfAddress: 10 }],
  ])('the requests that %s does not use add up to those of two seconds', async (_, limits) => {
    const { engine, clock } = await served(limits)
    const rig = await new MemoryRig(engine).login()
    await clock.pass(60_000)
    await rig.say(...pings(100))
    expect(pongs(rig)).toBe(20)
  })

  it('the requests of a proxy have the budget of an address', async () => {
    const limits = { requestsPerSecond: 10, requestsPerSecondOfAddress: 1000 }
    const options = { clock: new VirtualClock(), proxies: { host: '127.0.0.1', port: 0 } }
    const { engine } = await startedServer(limits, options)
    const link = await loggedIn(Number((await engine.listen()).proxies?.port), 'k:abc.proxy')
    link.socket.write(textOf(pings(40)))
    await until(() => link.strays.length === 40)
    expect(engine.status().refusals.requests.held).toBe(0)
  })
})

describe('a share', () => {
  const share = (job: string, nonce2: string, n: number) => ({
    id: n,
    method: 'mining.submit',
    params: ['k:abc.rig', job, nonce2],
  })

  /** Sends 60 shares, each with these hashes at least, at 20 requests. Returns the number of answers. */
  async function answersTo(difficulty: number, hashes: number, isSame = false) {
    const { engine } = await served({ requestsPerSecond: 10 }, difficulty)
    const rig = await new MemoryRig(engine).login()
    const random = randomFrom(7)
    const first = modelNonce(hashes, random).nonce2
    const nonces = Array.from({ length: 60 }, () => (isSame ? first : modelNonce(hashes, random).nonce2))
    const before = rig.lines.length
    await rig.say(...nonces.map((nonce2, n) => share(rig.jobs[0], nonce2, 100 + n)))
    return { rig, count: rig.lines.length - before }
  }

  it('a share of 2^32 hashes is free of the budget, and no request after it is', async () => {
    const { rig, count } = await answersTo(2 ** 32, 2 ** 32)
    expect(count).toBe(60)
    // The log-in took two.
    await rig.say(...pings(100))
    expect(pongs(rig)).toBe(18)
  })

  it.each([
    ['with fewer hashes', 2 ** 16, 2 ** 16, false, 18],
    ['that is low', 2 ** 50, 2 ** 34, false, 18],
    ['that is a duplicate', 2 ** 32, 2 ** 32, true, 19],
  ])('a share %s is not free of the budget', async (_, difficulty, hashes, isSame, count) => {
    expect((await answersTo(difficulty, hashes, isSame)).count).toBe(count)
  })
})

it('a rig that sends a line now and then is not silent', async () => {
  const { engine, clock } = await served({ idleMs: 100_000 })
  const rig = await new MemoryRig(engine).login()
  for (let round = 0; round < 3; round++) {
    await clock.pass(60_000)
    await rig.say(...pings(1))
    expect(rig.isClosed).toBe(false)
  }
  await clock.pass(102_000)
  expect(rig.isClosed).toBe(true)
  await until(() => engine.status().sessions === 0)
})
