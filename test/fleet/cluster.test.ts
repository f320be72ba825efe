/** A fleet over a cluster of three real NATS servers, each killed and restarted in turn. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { CONSUMER } from '../../src/mining/fleet/stores.ts'
import { run, start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { freePort } from '../ports.ts'
import { NatsServer } from './nats.ts'

const SERVERS = 3
const RIG = ['--threads', '1', '--gpu', 'none', '--http', 'off', '--state', 'off']

describeWith(lackOf('nats-server'), 'a fleet over a cluster of NATS servers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-cluster-'))
  const servers: NatsServer[] = []
  let devnet: Awaited<ReturnType<typeof startDevnet>>
  beforeAll(async () => {
    devnet = await startDevnet({ port: 0, difficulty: 1_000_000n, blockDelayMs: 2000 })
    const ports: number[] = []
    for (let i = 0; i < SERVERS; i++) ports.push(await freePort())
    const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')
    for (const [i, port] of ports.entries()) {
      const own = join(folder, String(i))
      mkdirSync(own)
      const cluster = `cluster { name: trio, listen: "127.0.0.1:${port}", routes: [${routes}] }`
      servers.push(await NatsServer.start(own, `server_name: n${i}\n${cluster}`))
    }
  })
  afterEach(stopAll)
  afterAll(async () => {
    for (const server of servers) await server.kill()
    await devnet?.close()
    rmSync(folder, { recursive: true })
  })
  const urls = (option: string) => servers.flatMap(({ url }) => [option, url])
  /** The state of the fleet's two streams and of the consumer, as the servers report it. */
  const ask = async () => {
    const options = { addresses: servers.map(({ url }) => readNatsAddress(url)), trust: {}, fleet: 'main' }
    const shared = { agent: 'test', clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...options, ...shared }, null, new AbortController().signal)
    try {
      const manager = await link.jetstream.jetstreamManager(false)
      const names = [link.subjects.stream, `KV_${link.subjects.bucket}`]
      const streams = await Promise.all(names.map((name) => manager.streams.info(name)))
      return { streams, consumer: await manager.consumers.info(link.subjects.stream, CONSUMER) }
    } finally {
      await link.close()
    }
  }
  const replicas = async () => (await ask()).streams.map(({ config }) => config.num_replicas)
  /** The Raft groups of the cluster: one per stream, and one for the consumer. */
  const groups = async () => {
    const { streams, consumer } = await ask()
    return [...streams, consumer].map(({ cluster }) => cluster)
  }
  /** Every server has a current copy of everything, so any of them may be killed. Each group needs two of the three. */
  const isWhole = async () => {
    const copies = (await groups()).flatMap((group) => group?.replicas ?? [])
    return copies.length === 6 && copies.every(({ current, offline }) => current && !offline)
  }
  /** Each group has elected one of the two remaining servers. */
  const isLedWithout = async (killed: string) =>
    (await groups()).every((group) => group?.leader !== undefined && group.leader !== killed)
  const lead = (...args: string[]) =>
    start(['lead', ...urls('--nats'), '--node', devnet.url, '--http', 'off', '--state', 'off', ...args])

  it('the leader keeps solutions on all three servers, and mines whichever server is killed', async () => {
    const leader = lead('--nats-replicas', '3')
    await leader.sees(/fleet {5}this process is the leader/)
    const rig = start(['mine', ...urls('--fleet'), '--rig', 'alpha', ...RIG])
    await rig.sees(/ accepted /)
    expect(await replicas()).toEqual([3, 3])
    for (const [i, server] of servers.entries()) {
      await expect.poll(() => isWhole().catch(() => false)).toBe(true)
      await server.kill()
      const before = leader.out().length
      // NATS elects on its own schedule: 2.9.10 takes 4 to 11 s, and up to 27 s if servers have just started.
      await expect.poll(() => isLedWithout(`n${i}`).catch(() => false)).toBe(true)
      await expect.poll(() => / accepted .*rig:alpha/.test(leader.out().slice(before))).toBe(true)
      await server.restart()
    }
    // A leader that lost its server learns of its rigs again from their next reports.
    const listed = async () => (await run(['fleet', ...urls('--nats')])).out
    await expect.poll(listed).toMatch(/^alpha +searching/m)
    leader.child.kill('SIGTERM')
    await leader.ended
    // A leader without --nats-replicas keeps the number; with it, the leader changes the number.
    const next = lead()
    await next.sees(/this process is the leader/)
    await rig.sees(/ accepted [\s\S]* accepted /)
    expect(await replicas()).toEqual([3, 3])
    next.child.kill('SIGTERM')
    await next.ended
    const single = lead('--nats-replicas', '1')
    await single.sees(/this process is the leader/)
    await expect.poll(replicas).toEqual([1, 1])
    single.child.kill('SIGTERM')
    await single.ended
    // More replicas than servers: the leader warns and uses the existing stream.
    const many = lead('--nats-replicas', '5')
    await many.sees(/warning .*stays as it is, without num_replicas 5: /)
    await many.sees(/this process is the leader/)
    await rig.sees(/ accepted [\s\S]* accepted [\s\S]* accepted /)
  })

  it('the leader refuses to keep three copies on a lone server', async () => {
    const own = mkdtempSync(join(tmpdir(), 'newcut-nats-'))
    const alone = await NatsServer.start(own)
    const rest = ['--node', devnet.url, '--nats-replicas', '3', '--http', 'off', '--state', 'off']
    const leader = start(['lead', '--nats', alone.url, ...rest])
    await leader.sees(/warning .*store of the fleet cannot be used: .*replicas/)
    await stopAll()
    await alone.kill()
    rmSync(own, { recursive: true })
  })
})
