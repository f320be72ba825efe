/** Clients that send too much, too long, nonsense or nothing: the server bounds the cost of each. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { headerLayout } from '../../../src/ground/chain/header.ts'
import type { EngineWork } from '../../../src/mining/engine/engine.ts'
import { Addresses, addressKey, isWorkerBanned } from '../../../src/mining/engine/stratum/addresses.ts'
import { defaultLimits, fullText, limitsFor, MAX_SESSIONS } from '../../../src/mining/engine/stratum/limits.ts'
import { accountName, MAX_USERS, Users } from '../../../src/mining/engine/stratum/users.ts'
import { MAX_NAMED, Workers, workerName } from '../../../src/mining/engine/stratum/workers.ts'
import { failures } from '../../../src/mining/stratum/messages.ts'
import { settle, VirtualClock } from '../../mine/virtual-clock.ts'
import { roundsOf } from '../../rotation.ts'
import { Rig } from '../../support/stratum-rig.ts'
import { engineWork, UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** Open sockets at both ends of all connections, since the servers run in this process. */
const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

/** Returns new work at each call, which differs from the work before in its parent only. */
function cheapWorks(): () => EngineWork {
  const { bytes, target } = workOf(0, UNREACHABLE)
  const { parent } = headerLayout(0)
  let sequence = 0
  return () => {
    const next = bytes.slice()
    new DataView(next.buffer).setUint32(parent, ++sequence)
    return engineWork(sequence, next, target)
  }
}

describe('a client is closed', () => {
  it('a client that sends a line without end is closed', async () => {
    const { port } = await startedServer()
    const rig = await connected(port)
    rig.socket.write('x'.repeat(5000))
    await rig.ended
  })

  it('a client that has not authorized in time is closed, and others are not', async () => {
    const clock = new VirtualClock()
    const { port, engine } = await startedServer({ authorizeMs: 1500 }, { clock })
    const silent = await connected(port)
    const half = await connected(port)
    await half.subscribe()
    const whole = await loggedIn(port)
    await clock.pass(1400)
    expect(engine.status().sessions).toBe(3)
    await clock.pass(1200)
    await Promise.all([silent.ended, half.ended])
    await until(() => engine.status().sessions === 1)
    expect(await whole.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
  })

  it('a client that is silent for too long is closed', async () => {
    const clock = new VirtualClock()
    const { port, engine } = await startedServer({ idleMs: 500_000 }, { clock })
    const rig = await loggedIn(port)
    await clock.pass(499_000)
    expect(engine.status().sessions).toBe(1)
    await clock.pass(2_000)
    await rig.ended
  })

  it('a client that sends invalid lines is closed, after three error answers', async () => {
    const { port } = await startedServer()
    const rig = await connected(port)
    rig.socket.write('GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nCookie: y\r\n\r\n')
    await rig.ended
    expect(rig.strays.map(({ error }) => error?.code)).toEqual([20, 20, 20])
  })

  it('a client that does not read is closed, while all others get new work', async () => {
    const { engine, port } = await startedServer({ unsentBytes: 10_000 })
    const stuck = await loggedIn(port, 'abc.stuck')
    const good = await loggedIn(port, 'abc.good')
    stuck.socket.pause()
    const next = cheapWorks()
    // So little at once that the other client, which reads, never has much unsent.
    while (engine.status().sessions === 2) {
      const seen = good.jobs.length
      for (let i = 0; i < 20; i++) void engine.setWork(next())
      while (good.jobs.length === seen && !good.hasEnded) await new Promise(setImmediate)
    }
    expect(engine.status().sessions).toBe(1)
    expect(await engine.setWork(next())).toBe(true)
    expect(good.hasEnded).toBe(false)
    expect(engine.devices().find(({ device }) => device === 'rig:stuck')).toMatchObject({
      state: 'unable',
      reason: 'it is not connected',
      faults: 1,
    })
  })
})

it('a client that does not read does not delay new work for others', async () => {
  const { engine, port } = await startedServer({ unsentBytes: 1e9 })
  const stuck = await loggedIn(port, 'abc.stuck')
  stuck.socket.pause()
  await loggedIn(port, 'abc.good')
  const next = cheapWorks()
  // The network buffers hold several megabytes.
  for (let count = 1; count <= 12_000; count++) {
    void engine.setWork(next())
    if (count % 500 === 0) await new Promise(setImmediate)
  }
  expect(await engine.setWork(next())).toBe(true)
  expect(engine.status().sessions).toBe(2)
})

it('a client with too many requests waits, and gets all its answers', async () => {
  const clock = new VirtualClock()
  const { port } = await startedServer({ requestsPerSecond: 100 }, { clock })
  const rig = await loggedIn(port)
  let seconds = 0
  for (let round = 0; round < 5; round++) {
    let answered = 0
    for (let i = 0; i < 100; i++) void rig.ask('mining.ping', []).then(() => answered++)
    while (answered < 100) {
      const before = answered
      await settle()
      if (answered > before) continue
      await clock.pass(1_000)
      seconds++
    }
  }
  // 200 requests at once, then 100 a second. The server reads requests that arrive together in one piece.
  expect(seconds).toBeGreaterThanOrEqual(3)
})

it('an address may have only its limit of sessions', async () => {
  const { port, engine } = await startedServer({ sessionsPerAddress: 3 })
  const rigs = await Promise.all([1, 2, 3].map(() => loggedIn(port)))
  await (await connected(port)).ended
  expect(engine.status().sessions).toBe(3)
  expect(rigs.some(({ hasEnded }) => hasEnded)).toBe(false)
})

it('the server warns once if an address has all its sessions, and once if the total limit is reached', async () => {
  const { port, warnings } = await startedServer({ sessionsPerAddress: 2 })
  for (let i = 0; i < 2; i++) await loggedIn(port)
  for (let i = 0; i < 3; i++) await (await connected(port)).ended
  expect(warnings).toEqual([expect.stringMatching(/^2 rigs are connected from 127\.0\.0\.1, .*`stratum-per-address`/)])
  const full = await startedServer({ sessions: 2 })
  for (let i = 0; i < 2; i++) await loggedIn(full.port)
  for (let i = 0; i < 3; i++) await (await connected(full.port)).ended
  expect(full.warnings).toEqual([expect.stringMatching(/^2 rigs are connected, .*ulimit -n/)])
})

it('the limit of open files is named as the cause only if it allows fewer rigs than there are nonce1 values', () => {
  expect(fullText(MAX_SESSIONS)).toBe('65536 rigs are connected, the most there can be: no more are let in')
  expect(fullText(MAX_SESSIONS - 1)).toMatch(/^65535 rigs are connected, .*ulimit -n/)
})

describe('with TLS', () => {
  const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
  const tls = { cert: fixture('tls-test-cert.pem'), key: fixture('tls-test-key.pem') }

  async function secured(port: number): Promise<Rig> {
    const socket = connect({ host: '127.0.0.1', port, ca: readFileSync(tls.cert) })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return Rig.over(socket)
  }

  it('an address may open connections up to a limit, pending handshakes included, and more once some close', async () => {
    const { engine, port } = await startedServer({ sessionsPerAddress: 3 }, { tls })
    for (let round = 0; round < 3; round++) {
      const silent = [await connected(port), await connected(port)]
      const rig = await secured(port)
      await rig.subscribe()
      await (await connected(port)).ended
      expect([engine.status().sessions, ...silent.map(({ hasEnded }) => hasEnded)]).toEqual([1, false, false])
      // A failing handshake, a client that leaves before its handshake, and one that leaves after it.
      silent[0].socket.write('{"id":1,"method":"mining.subscribe","params":[]}\n')
      silent[1].close()
      rig.close()
      await silent[0].ended
      await until(() => engine.status().sessions === 0)
      // The address gets a place back when the server closes its end, even without a session.
      await until(() => openSockets() === 0)
      await settle()
    }
  })

  it('a banned address is closed before a handshake, and its pending handshake gets no session', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 10 }, { tls, clock: new VirtualClock() })
    const early = await connected(port)
    const bad = await secured(port)
    bad.socket.write('nonsense\n')
    await bad.ended
    // The clock stands still, so the handshake timeout never fires.
    await (await connected(port)).ended
    const late = connect({ socket: early.socket, ca: readFileSync(tls.cert) })
    late.on('error', () => undefined)
    await early.ended
    expect(engine.status().sessions).toBe(0)
  })

  it('a handshake times out, even one that sends byte by byte', async () => {
    const clock = new VirtualClock()
    const { port } = await startedServer({ handshakeMs: 700 }, { tls, clock })
    const [silent, slow] = [await connected(port), await connected(port)]
    // The head of a record of 512 bytes, which never completes.
    slow.socket.write(Buffer.from('1603010200010001fc0303', 'hex'))
    for (let i = 0; i < 6; i++) {
      await clock.pass(100)
      slow.socket.write(Buffer.of(0))
    }
    await settle()
    expect([silent.hasEnded, slow.hasEnded]).toEqual([false, false])
    await clock.pass(100)
    await Promise.all([silent.ended, slow.ended])
  })

  it('a client that renegotiates over and over is closed', async () => {
    const { engine, port } = await startedServer({}, { tls })
    const options = { host: '127.0.0.1', port, ca: readFileSync(tls.cert), maxVersion: 'TLSv1.2' } as const
    const socket = connect(options)
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    const ended = once(socket, 'close')
    const again = () => socket.renegotiate({}, (error) => error === null && setImmediate(again))
    again()
    await ended
    await until(() => engine.status().sessions === 0)
  })

  it('a client that sends anything but TLS after its handshake is closed', async () => {
    const { engine, port } = await startedServer({}, { tls })
    const raw = await connected(port)
    const socket = connect({ socket: raw.socket, ca: readFileSync(tls.cert) })
    socket.on('error', () => undefined)
    await once(socket, 'secureConnect')
    await until(() => engine.status().sessions === 1)
    raw.socket.write(randomBytes(300))
    await until(() => engine.status().sessions === 0)
  })

  it('the server stops at once, whatever handshakes are pending', async () => {
    const { engine, port } = await startedServer({}, { tls, clock: new VirtualClock() })
    const silent = await connected(port)
    const rig = await secured(port)
    // The clock stands still, so the handshake timeout never fires.
    await engine.stop()
    await Promise.all([silent.ended, rig.ended])
  })
})

it('an address with a higher session limit may send more requests, and the open-file limit bounds all sessions', () => {
  expect(limitsFor(1024, null)).toEqual({
    sessions: 65_536,
    sessionsPerAddress: 1024,
    requestsPerSecondOfAddress: 4096,
  })
  expect(limitsFor(65_536, 768)).toEqual({
    sessions: 768,
    sessionsPerAddress: 65_536,
    requestsPerSecondOfAddress: 262_144,
  })
})

describe('a worker gets a temporary ban', () => {
  it('a worker gets a temporary ban for bad shares: it gets its answers and a warning, and only its sessions without good shares are closed', async () => {
    const clock = new VirtualClock()
    const { engine, port, warnings } = await startedServer({ badUntilBan: 20, banMs: 700 }, { clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const [bad, other, good] = [await loggedIn(port), await loggedIn(port), await loggedIn(port)]
    const neighbour = await loggedIn(port, 'k:abc.neighbour')
    await until(() => bad.jobs.length > 0 && good.jobs.length > 0)
    expect(await good.submit(good.jobs[0].id, good.nextShare(good.jobs[0]))).toMatchObject({ result: true })
    const answers: unknown[] = []
    for (let i = 0; i < 20; i++) {
      void bad.submit(bad.jobs[0].id, bad.badShare(bad.jobs[0])).then(({ error }) => answers.push(error?.code))
    }
    await Promise.all([bad.ended, other.ended])
    expect(answers).toEqual(Array.from({ length: 20 }, () => 23))
    expect(warnings).toEqual([expect.stringMatching(/^rig:rig of k:abc is banned .*20 of its last 21 shares were low/)])
    // The address may still connect, but the banned worker is refused.
    const back = await connected(port)
    await back.subscribe()
    expect(await back.authorize()).toMatchObject({ result: false, error: failures.banned })
    await back.ended
    await clock.pass(700)
    const again = await loggedIn(port)
    expect([again.hasEnded, good.hasEnded, neighbour.hasEnded]).toEqual([false, false, false])
  })

  it('a worker gets no ban for stale or duplicate shares, and none before it has authorized', async () => {
    const { engine, port, warnings } = await startedServer({ badUntilBan: 5 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const share = rig.nextShare(rig.jobs[0])
    for (let i = 0; i < 50; i++) await rig.submit(rig.jobs[0].id, share)
    for (let i = 0; i < 50; i++) await rig.submit('f00d', share)
    const early = await connected(port)
    for (let i = 0; i < 50; i++) await early.submit('1', 'x')
    expect(engine.status().shares).toMatchObject({ accepted: 1, duplicate: 49, stale: 50, unsubscribed: 50 })
    expect([rig.hasEnded, early.hasEnded, ...warnings]).toEqual([false, false])
  })

  it('a worker is banned at the address of the bad shares only, so a stranger who uses its name does not ban it elsewhere', async () => {
    const { engine, port, warnings } = await startedServer({ badUntilBan: 5, banMs: 700 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const owner = await loggedIn(port)
    const from = (address: string) => {
      const socket = connectTcp({ host: '127.0.0.1', port, localAddress: address })
      onTestFinished(() => void socket.destroy())
      return socket
    }
    for (const address of ['127.0.0.2', '127.0.0.3']) {
      const stranger = from(address)
      stranger.write('{"id":1,"method":"mining.subscribe","params":[]}\n')
      stranger.write('{"id":2,"method":"mining.authorize","params":["k:abc.rig","x"]}\n')
      for (let i = 0; i < 5; i++) stranger.write('{"id":3,"method":"mining.submit","params":["k:abc.rig","1","z"]}\n')
      stranger.resume()
      await once(stranger, 'close')
    }
    expect(engine.status()).toMatchObject({
      shares: { malformed: 10 },
      refusals: { connections: { worker_banned: 2 } },
    })
    expect(warnings, 'one warning for a worker').toEqual([
      expect.stringMatching(/^rig:rig of k:abc is banned for a while at 127\.0\.0\.2, since 5 of its last 5 /),
    ])
    await until(() => owner.jobs.length > 0)
    expect(await owner.submit(owner.jobs[0].id, owner.nextShare(owner.jobs[0]))).toMatchObject({ result: true })
    const spare = await connected(port)
    await spare.subscribe()
    expect(await spare.authorize()).toMatchObject({ result: true })
    const again = from('127.0.0.3')
    again.write('{"id":2,"method":"mining.authorize","params":["k:abc.rig","x"]}\n')
    const [answer] = await once(again, 'data')
    expect(JSON.parse(String(answer).split('\n')[0])).toMatchObject({
      id: 2,
      result: false,
      error: [26, expect.any(String), null],
    })
  })

  it('a banned worker gets refusals, while the other users of its connection continue', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 5 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'k:abc.one')
    await rig.authorize('k:abc.two')
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    const of = (user: string, nonce2: string) => rig.ask('mining.submit', [user, job.id, nonce2])
    for (let i = 0; i < 5; i++) await of('k:abc.two', 'x')
    expect(await of('k:abc.two', rig.nextShare(job))).toMatchObject({ result: false, error: failures.banned })
    expect(await of('k:abc.one', rig.nextShare(job))).toMatchObject({ result: true })
    expect(engine.status().shares).toMatchObject({ malformed: 5, unauthorized: 1, accepted: 1 })
  })

  it('a worker gets no ban with a good share for every fourth bad one', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 20 }, { difficulty: 50 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    for (let i = 0; i < 40; i++) {
      await rig.submit(job.id, i % 4 === 0 ? rig.nextShare(job) : rig.badShare(job))
    }
    expect(await rig.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
    expect(engine.status().shares).toMatchObject({ accepted: 10, low: 30 })
  })
})

describe('memory is bounded', () => {
  it('the server remembers at most 10,000 addresses that misbehaved', () => {
    const addresses = new Addresses({ ...defaultLimits, badUntilBan: 1 })
    const ban = (n: number) => {
      const address = addresses.enter(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, 0)
      if (address === null) return false
      addresses.judge(address, { bad: 1 }, 0)
      addresses.leave(address)
      return true
    }
    for (let n = 0; n < 10_001; n++) expect(ban(n)).toBe(true)
    // The server has forgotten the first address but not the last.
    expect([ban(10_000), ban(0)]).toEqual([false, true])
  })

  it('the server remembers the newest 256 workers of an address, and 16 with bad shares once it has left', () => {
    const addresses = new Addresses({ ...defaultLimits, badUntilBan: 1 })
    const address = addresses.enter('10.0.0.1', 0)
    if (address === null) throw new Error('it is let in')
    for (let n = 0; n < 300; n++)
      expect(addresses.judgeWorker(address, `k:abc\n${n}`, { bad: 1 }, 0)).toMatchObject({ bad: 1 })
    addresses.judgeWorker(address, 'k:abc\ngood', { good: 1 }, 0)
    expect([43, 44, 45, 299].map((n) => isWorkerBanned(address, `k:abc\n${n}`, 1))).toEqual([false, false, true, true])
    addresses.leave(address)
    expect([283, 284, 299].map((n) => isWorkerBanned(address, `k:abc\n${n}`, 1))).toEqual([false, true, true])
    expect(addresses.enter('10.0.0.1', 0)).toBe(address)
  })

  it('connected workers beyond 256 count as one', () => {
    const workers = new Workers()
    const joined = Array.from({ length: MAX_NAMED + 50 }, (_, n) => workers.join(`k:abc.${n}`, 0))
    expect(new Set(joined).size).toBe(MAX_NAMED + 1)
    expect(workers.statuses(0, null)).toHaveLength(MAX_NAMED + 1)
    expect(workers.statuses(0, null).at(-1)).toMatchObject({ device: 'rigs' })
    workers.leave(joined[0], 1)
    expect(workers.join('k:abc.new', 2).device).toBe('rig:new')
    expect(workers.statuses(2, null)).toHaveLength(MAX_NAMED + 1)
  })

  it('users beyond 64 count as one, and the least active disconnected user makes room', () => {
    const users = new Users()
    const joined = Array.from({ length: MAX_USERS }, (_, n) => users.join(`k:${n}.rig`))
    expect(users.join('k:abc.rig').user).toBe('others')
    for (const [index, user] of joined.entries()) user.hashes = 1000 - index
    for (const user of joined.slice(10, 20)) user.sessions = 0
    expect(users.join('k:new').user).toBe('k:new')
    const names = users.statuses().map(({ user }) => user)
    expect(names.length).toEqual(MAX_USERS + 1)
    expect(names.includes('k:19')).toBe(false)
    expect(names.includes('k:18')).toBe(true)
  })

  it('a user named `others` counts as one of the users without a series of their own', () => {
    const users = new Users()
    const named = users.join('others.rig')
    for (let n = 0; n < MAX_USERS; n++) users.join(`k:${n}.rig`)
    expect(users.join('k:abc.rig')).toBe(named)
    expect(users.join('others')).toBe(named)
    const rows = users.statuses().filter(({ user }) => user === 'others')
    expect(rows).toMatchObject([{ sessions: 3 }])
    expect(users.statuses()).toHaveLength(MAX_USERS + 1)
  })

  it('the server remembers disconnected workers for ten minutes', () => {
    const workers = new Workers()
    const goneAtMs = 1_000_000
    workers.leave(workers.join('k:abc.a', 0), goneAtMs)
    for (const afterMs of [0, 599_999]) {
      expect(workers.statuses(goneAtMs + afterMs, null)).toMatchObject([{ device: 'rig:a', state: 'unable' }])
    }
    expect(workers.statuses(goneAtMs + 600_000, null)).toMatchObject([
      { device: 'rigs', reason: 'no rig is connected' },
    ])
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

describe('after any input of a client', () => {
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

  it('the server keeps running after any input of a client, and answers the next client', async () => {
    const { engine, port, warnings } = await startedServer({ badUntilBan: 1e9, requestsPerSecond: 1e6 })
    await engine.setWork(workOf(1, UNREACHABLE))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), fc.boolean(), async (lines, isKnown) => {
        const rig = isKnown ? await loggedIn(port) : await connected(port)
        rig.socket.write(lines.map((text) => `${text}\n`).join(''))
        rig.socket.end()
        await rig.ended
      }),
      { numRuns: roundsOf(300, 100) },
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
