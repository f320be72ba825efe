/** Clients that send too much, too long, nonsense or nothing: each costs no more than its bound. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { UNREACHABLE } from '../../../bench/work.ts'
import { Addresses, addressKey } from '../../../src/engine/stratum/addresses.ts'
import { defaultLimits } from '../../../src/engine/stratum/limits.ts'
import { accountName, MAX_USERS, Users } from '../../../src/engine/stratum/users.ts'
import { MAX_NAMED, Workers, workerName } from '../../../src/engine/stratum/workers.ts'
import { until } from '../../gpu/wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

const MAX_WAIT_MS = 15_000
afterEach(stopServers)

describe('a client is closed', () => {
  it('that sends a line without end', async () => {
    const { port } = await startedServer()
    const rig = await connected(port)
    rig.socket.write('x'.repeat(5000))
    await rig.ended
  })

  it('that has not authorized in time, and others are not', async () => {
    const { port, engine } = await startedServer({ authorizeMs: 1500 })
    const silent = await connected(port)
    const half = await connected(port)
    await half.subscribe()
    const whole = await loggedIn(port)
    await Promise.all([silent.ended, half.ended])
    await until(() => engine.rigs().sessions === 1, MAX_WAIT_MS)
    expect(await whole.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
  })

  it('that is silent for too long', async () => {
    const { port } = await startedServer({ idleMs: 500 })
    const rig = await loggedIn(port)
    await rig.ended
  })

  it('that sends lines that are no messages, after it was told of three', async () => {
    const { port } = await startedServer()
    const rig = await connected(port)
    rig.socket.write('GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nCookie: y\r\n\r\n')
    await rig.ended
    expect(rig.strays.map(({ error }) => error?.code)).toEqual([20, 20, 20])
  })

  it('that does not read, while all others get new work', async () => {
    const { engine, port } = await startedServer({ unsentBytes: 10_000 })
    const stuck = await loggedIn(port, 'abc.stuck')
    const good = await loggedIn(port, 'abc.good')
    stuck.socket.pause()
    let sequence = 0
    await until(async () => {
      for (let i = 0; i < 500; i++) void engine.setWork(workOf(++sequence, UNREACHABLE))
      await new Promise((resolve) => setTimeout(resolve, 5))
      return engine.rigs().sessions === 1
    }, MAX_WAIT_MS)
    expect(await engine.setWork(workOf(++sequence, UNREACHABLE))).toBe(true)
    expect(good.hasEnded).toBe(false)
    expect(engine.devices().find(({ device }) => device === 'rig:stuck')).toMatchObject({
      state: 'unable',
      reason: 'it is not connected',
      faults: 1,
    })
  })
})

it('a client that does not read holds up no news of new work', async () => {
  const { engine, port } = await startedServer({ unsentBytes: 1e9 })
  const stuck = await loggedIn(port, 'abc.stuck')
  stuck.socket.pause()
  await loggedIn(port, 'abc.good')
  // Megabytes fit into the buffers of the network.
  for (let sequence = 1; sequence <= 12_000; sequence++) {
    void engine.setWork(workOf(sequence, UNREACHABLE))
    if (sequence % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(await engine.setWork(workOf(12_001, UNREACHABLE))).toBe(true)
  expect(engine.rigs().sessions).toBe(2)
}, 60_000)

it('a client that asks too much waits, and gets all its answers', async () => {
  const { port } = await startedServer({ requestsPerSecond: 100 })
  const rig = await loggedIn(port)
  const startMs = performance.now()
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 100 }, () => rig.ask('mining.ping', [])))
  }
  // 200 at once, and 100 a second from then on.
  expect(performance.now() - startMs).toBeGreaterThan(1500)
})

it('an address has so many sessions and no more', async () => {
  const { port, engine } = await startedServer({ sessionsPerAddress: 3 })
  const rigs = await Promise.all([1, 2, 3].map(() => loggedIn(port)))
  await (await connected(port)).ended
  expect(engine.rigs().sessions).toBe(3)
  expect(rigs.some(({ hasEnded }) => hasEnded)).toBe(false)
})

describe('an address is banned for a while', () => {
  it('that hands in bad shares, and those of its sessions are closed that are no good', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 20, banMs: 700 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const [bad, other, good] = [await loggedIn(port), await loggedIn(port), await loggedIn(port)]
    await until(() => bad.jobs.length > 0 && good.jobs.length > 0, MAX_WAIT_MS)
    expect(await good.submit(good.jobs[0].id, good.nextShare(good.jobs[0]))).toMatchObject({ result: true })
    for (let i = 0; i < 20; i++) void bad.submit(bad.jobs[0].id, bad.badShare(bad.jobs[0]))
    await Promise.all([bad.ended, other.ended])
    await (await connected(port)).ended
    await new Promise((resolve) => setTimeout(resolve, 800))
    const again = await loggedIn(port)
    expect([again.hasEnded, good.hasEnded]).toEqual([false, false])
  })

  it('but not one with a good share for every fourth bad one', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 20 }, { difficulty: 50 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0, MAX_WAIT_MS)
    const [job] = rig.jobs
    for (let i = 0; i < 40; i++) {
      await rig.submit(job.id, i % 4 === 0 ? rig.nextShare(job) : rig.badShare(job))
    }
    expect(await rig.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
    expect(engine.rigs().shares).toMatchObject({ accepted: 10, low: 30 })
  })
})

describe('what is remembered is bounded', () => {
  it('of addresses: those that misbehaved, 10,000 at most', () => {
    const addresses = new Addresses({ ...defaultLimits, badUntilBan: 1 })
    const ban = (n: number) => {
      const address = addresses.enter(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 0)
      if (address === null) return false
      addresses.judge(address, { bad: 1 }, 0)
      addresses.leave(address)
      return true
    }
    for (let n = 0; n < 10_001; n++) expect(ban(n)).toBe(true)
    // The first was forgotten, the last was not.
    expect([ban(10_000), ban(0)]).toEqual([false, true])
  })

  it('of workers: those beyond 256 that are connected count as one', () => {
    const workers = new Workers()
    const joined = Array.from({ length: MAX_NAMED + 50 }, (_, n) => workers.join(`k:abc.${n}`, 0))
    expect(new Set(joined).size).toBe(MAX_NAMED + 1)
    expect(workers.statuses(0, null)).toHaveLength(MAX_NAMED + 1)
    expect(workers.statuses(0, null).at(-1)).toMatchObject({ device: 'rigs' })
    workers.leave(joined[0], 1)
    expect(workers.join('k:abc.new', 2).device).toBe('rig:new')
    expect(workers.statuses(2, null)).toHaveLength(MAX_NAMED + 1)
  })

  it('of users: those beyond 64 count as one, and whoever is gone and has done least makes room', () => {
    const users = new Users()
    const joined = Array.from({ length: MAX_USERS }, (_, n) => users.join(`k:${n}.rig`))
    expect(users.join('k:abc.rig').user).toBe('others')
    for (const [index, user] of joined.entries()) user.hashes = 1000 - index
    for (const user of joined.slice(10, 20)) user.sessions = 0
    expect(users.join('k:new').user).toBe('k:new')
    const names = users.statuses().map(({ user }) => user)
    expect([names.length, names.includes('k:19'), names.includes('k:18')]).toEqual([MAX_USERS + 1, false, true])
  })

  it('of workers that are gone, for ten minutes', () => {
    const workers = new Workers()
    workers.leave(workers.join('k:abc.a', 0), 0)
    expect(workers.statuses(599_999, null)).toMatchObject([{ device: 'rig:a', state: 'unable' }])
    expect(workers.statuses(600_000, null)).toMatchObject([{ device: 'rigs', reason: 'no rig is connected' }])
  })
})

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('the address %j counts as %j', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

it.each([
  ['k:abc.left shelf', 'left shelf'],
  ['k:abc.a.b', 'a.b'],
  ['k:abc', 'k:abc'],
  ['k:abc.', 'k:abc'],
  ['', 'unnamed'],
  ['.x', 'x'],
  ['a.\u001b[31mred\n\u202e', '[31mred'],
  [`a.${'x'.repeat(400)}`, `${'x'.repeat(31)}…`],
])('the worker of %j is %j', (user, name) => {
  expect(workerName(user)).toBe(name)
})

it.each([
  ['k:abc.left shelf', 'k:abc'],
  ['k:abc.a.b', 'k:abc'],
  ['rig7', 'rig7'],
  ['', 'unnamed'],
  ['.x', 'unnamed'],
  [`k:${'a'.repeat(64)}.x`, `k:${'a'.repeat(64)}`],
  ['x'.repeat(400), `${'x'.repeat(71)}…`],
])('the account of %j is %j', (user, name) => {
  expect(accountName(user)).toBe(name)
})

describe('whatever a client sends', () => {
  const word = fc.oneof(
    fc.constantFrom('mining.submit', 'mining.subscribe', 'mining.authorize', 'mining.suggest_target', 'client.x'),
    fc.string({ maxLength: 20 }),
  )
  const message = fc.record({
    id: fc.jsonValue(),
    method: word,
    params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
  })
  const line = fc.oneof(
    message.map((value) => JSON.stringify(value)),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.string({ maxLength: 200 }),
  )

  it('the server lives, and answers the next client', async () => {
    const { engine, port, warnings } = await startedServer({ badUntilBan: 1e9, requestsPerSecond: 1e6 })
    await engine.setWork(workOf(1, UNREACHABLE))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), fc.boolean(), async (lines, isKnown) => {
        const rig = isKnown ? await loggedIn(port) : await connected(port)
        rig.socket.write(lines.map((text) => `${text}\n`).join(''))
        rig.socket.end()
        await rig.ended
      }),
      { numRuns: 300 },
    )
    for (let i = 0; i < 50; i++) {
      const rig = await connected(port)
      rig.socket.write(randomBytes(10_000))
      await rig.ended
    }
    const rig = await loggedIn(port)
    expect(await rig.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
    expect(warnings).toEqual([])
    expect(engine.hashes()).toBe(0)
  })
})
