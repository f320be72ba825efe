/**
 * Many rigs behind our own stratum server in the role of the pool, with real shares and one session there for each rig.
 */
import { afterEach, expect, it } from 'vitest'
import { readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { until } from '../../wait.ts'
import { startedServer, stopServers, workOf } from '../stratum/servers.ts'
import { proxy, rig, stopProxies } from './proxies.ts'
import type { RawRig } from './raw-rig.ts'

const RIGS = 100
const SOON = { interval: 25 }
afterEach(async () => {
  await stopProxies()
  await stopServers()
})

it('100 rigs have a nonce1 each, all their shares count at the pool, and no nonce is tried twice', async () => {
  // In virtual time no job or session ends before its rigs have searched, on any machine.
  const clock = new VirtualClock()
  const server = await startedServer({}, { difficulty: 65_536, clock })
  // The rigs search by brute force in the test's thread, so shares are as easy as blocks.
  await server.engine.setWork(workOf(1, 256n))
  const { port, engine, lines } = await proxy([readPoolAddress(`stratum+tcp://k%3Aab.farm@127.0.0.1:${server.port}`)], {
    clock,
  })
  const names = Array.from({ length: RIGS }, (_, n) => `X.r${n}`)
  const rigs: RawRig[] = []
  // Rigs connect in groups of 25, as after a power cut.
  for (let n = 0; n < RIGS; n += 25) {
    rigs.push(...(await Promise.all(names.slice(n, n + 25).map((user) => rig(port, { user })))))
  }
  expect(new Set(rigs.map(({ nonce1 }) => nonce1)).size).toBe(RIGS)
  expect(rigs.every(({ nonce1, size }) => nonce1.length === 4 && size === 6)).toBe(true)
  // One session for each rig, the spare one, and the session of the miner itself.
  await expect.poll(() => [lines.sessions, server.engine.status().sessions], SOON).toEqual([RIGS + 1, RIGS + 2])
  const answers = await Promise.all(rigs.flatMap((one, n) => [one.share(names[n]), one.share(names[n])]))
  expect(answers.filter(({ result }) => result !== true)).toEqual([])
  const told = engine.status()
  expect(told.shares).toMatchObject({ accepted: 2 * RIGS, stale: 0, duplicate: 0, low: 0, malformed: 0 })
  expect(engine.hashes()).toBe(2 * RIGS * 256)
  expect(told.rigs.map(({ device, shares }) => [device, shares.accepted]).sort()).toEqual(
    names.map((_, n) => [`rig:r${n}`, 2]).sort(),
  )
  // The server knows the rigs by the account that it pays, and its counts match those of the proxy.
  const there = server.engine.status()
  expect(there.shares).toMatchObject({ accepted: 2 * RIGS, stale: 0, duplicate: 0, low: 0, malformed: 0 })
  expect(there.users.filter(({ hashes }) => hashes > 0).map(({ user }) => user)).toEqual(['k:ab'])
  expect(there.rigs.filter(({ shares }) => shares.accepted === 2).length).toBe(RIGS)
  // Every share is a block of this easy work, with the nonce1 of its rig.
  const nonces = server.candidates.map(({ nonce }) => nonce)
  expect(nonces.length).toEqual(2 * RIGS)
  expect(new Set(nonces).size).toEqual(2 * RIGS)

  // New work reaches all rigs, each through its own session.
  const other = workOf(2, 256n)
  await server.engine.setWork(other)
  // The hash of the parent.
  const parentOf = (header: Uint8Array) => Buffer.from(header.subarray(16, 48)).toString('hex')
  await until(() => rigs.every(({ jobs }) => parentOf(jobs[jobs.length - 1].header) === parentOf(other.bytes)))
  for (const one of rigs) one.close()
  await expect.poll(() => [engine.status().sessions, lines.sessions], SOON).toEqual([0, 1])
  await expect.poll(() => server.engine.status().sessions, SOON).toBe(2)
})
