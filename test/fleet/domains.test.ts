/** A fleet over two real NATS servers, a hub and its leaf node, each with its own JetStream domain. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { run, start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { freePort } from '../ports.ts'
import { NatsServer } from './nats.ts'

const REST = ['--http', 'off', '--state', 'off']

describeWith(lackOf('nats-server'), 'a fleet over a hub and a leaf of NATS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-domains-'))
  let hub: NatsServer
  let leaf: NatsServer
  let devnet: Awaited<ReturnType<typeof startDevnet>>
  beforeAll(async () => {
    devnet = await startDevnet({ port: 0, difficulty: 1_000_000n, blockDelayMs: 2000 })
    const port = await freePort()
    const server = (name: string, leafNodes: string) => {
      const own = join(folder, name)
      mkdirSync(own)
      const jetstream = `jetstream { store_dir: ${JSON.stringify(join(own, 'store'))}, domain: ${name} }`
      return NatsServer.start(own, `server_name: ${name}\n${jetstream}\nleafnodes { ${leafNodes} }`, 'nats', false)
    }
    hub = await server('hub', `listen: "127.0.0.1:${port}"`)
    leaf = await server('leaf', `remotes: [{ url: "nats-leaf://127.0.0.1:${port}" }], reconnect: 1`)
  })
  afterEach(stopAll)
  afterAll(async () => {
    for (const server of [leaf, hub]) await server?.kill()
    await devnet?.close()
    rmSync(folder, { recursive: true })
  })

  /** The contents of the JetStream of this domain. */
  const listStreams = async (domain: string) => {
    const setup = { addresses: [readNatsAddress(leaf.url)], trust: {}, fleet: 'main', domain }
    const shared = { agent: 'test', clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ ...setup, ...shared }, null, new AbortController().signal)
    const manager = await link.jetstream.jetstreamManager(false)
    const names: string[] = []
    for await (const name of manager.streams.names()) names.push(name)
    const wanted = [link.subjects.stream, `KV_${link.subjects.bucket}`].sort()
    await link.close()
    return { names: names.sort(), wanted }
  }
  const lead = (url: string, ...args: string[]) =>
    start(['lead', '--nats', url, '--node', devnet.url, ...REST, ...args])
  const mine = () => start(['mine', '--fleet', leaf.url, '--rig', 'alpha', '--threads', '1', '--gpu', 'none', ...REST])

  it('the leader keeps solutions at the hub, whichever server it is connected to, and also when the hub is killed', async () => {
    const leader = lead(leaf.url, '--nats-domain', 'hub')
    await leader.sees(/fleet {5}this process is the leader/)
    const rig = mine()
    await rig.sees(/ accepted /)
    const atHub = await listStreams('hub')
    expect(atHub.names).toEqual(atHub.wanted)
    expect((await listStreams('leaf')).names).toEqual([])
    // Rigs report once a second, and idle for a moment between their solution and the next job.
    const list = async () => (await run(['fleet', '--nats', leaf.url])).out
    await expect.poll(list).toMatch(/^alpha +searching/m)

    await hub.kill()
    await hub.restart()
    const before = rig.out().length
    // Whether the rig has had three more blocks accepted after `before`.
    const hasContinued = () => / accepted [\s\S]* accepted [\s\S]* accepted /.test(rig.out().slice(before))
    await expect.poll(hasContinued).toBe(true)
    leader.child.kill('SIGTERM')
    await leader.ended

    // The hub's own domain needs no name on the hub.
    const next = lead(hub.url)
    await next.sees(/this process is the leader/)
    await next.sees(/ accepted .*rig:alpha/)
    expect((await listStreams('leaf')).names).toEqual([])
  })

  it('the leader names the domain that does not answer', async () => {
    const tried = await run(['lead', '--nats', leaf.url, '--node', devnet.url, '--nats-domain', 'hob', '--dry-run'])
    expect(tried.err).toMatch(/no JetStream of the domain hob answers at .*127\.0\.0\.1.*\[NODE_MISBEHAVED\]/s)
    expect(tried.code).not.toBe(0)
  })
})
