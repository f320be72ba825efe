/** Fleets over three NATS servers, as real processes with the configurations of deploy/ for compose and Kubernetes. */
import { afterEach, beforeAll, expect, it } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { type Cluster, startCluster } from './nats-cluster.ts'
import { read, yamlDocuments } from './tools.ts'

type Variables = Readonly<Record<string, string | null>>

/** The parts of a deployment: the NATS configuration, and the environments of servers, leader, rig and relay. */
interface Deployment {
  readonly text: string
  readonly servers: ReadonlyMap<string, Record<string, string>>
  readonly leader: Variables
  readonly rig: Variables
  readonly relay: Variables
}

const PASSWORD = 'of-this-test'

function compose(): Deployment {
  const [{ services }] = yamlDocuments(read('deploy/compose/compose.yaml')) as [
    { services: Readonly<Record<string, { environment: Variables }>> },
  ]
  const environmentOf = (name: string) => {
    const filled = Object.entries(services[name].environment).map(([key, value]) => {
      return [
        key,
        value?.replace(/\$\{(\w+):-([^}]*)\}/g, (_all, used, usual) => (/PASS/.test(used) ? PASSWORD : usual)),
      ]
    })
    return Object.fromEntries(filled)
  }
  const hosts = Object.keys(services).filter((name) => name.startsWith('nats'))
  return {
    text: read('deploy/compose/nats/fleet.conf'),
    servers: new Map(hosts.map((host) => [host, environmentOf(host)])),
    leader: environmentOf('leader'),
    rig: environmentOf('rig'),
    relay: environmentOf('relay'),
  }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas: number
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly env: readonly { name: string; value?: string }[] }[] }
    }
  }
}

function kubernetes(): Deployment {
  const files = ['newcut.yaml', 'relay.yaml'].map((file) => read(`deploy/kubernetes/${file}`))
  const objects = files.flatMap((text) => yamlDocuments(text) as Manifest[])
  const named = (kind: string, name: string) => {
    const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
    if (found === undefined) throw new Error(`no ${kind} ${name}`)
    return found
  }
  const environmentOf = (kind: string, name: string, pod: string) => {
    const [{ env }] = named(kind, name).spec.template.spec.containers
    const values = env.map(({ name: key, value = pod }) => [key, value.replaceAll(/\$\((NATS_)?PASSWORD\)/g, PASSWORD)])
    return Object.fromEntries(values) as Record<string, string>
  }
  const { replicas } = named('StatefulSet', 'nats').spec
  const pods = Array.from({ length: replicas }, (_, number) => `nats-${number}`)
  return {
    text: named('ConfigMap', 'nats').data['fleet.conf'],
    servers: new Map(pods.map((pod) => [`${pod}.nats`, environmentOf('StatefulSet', 'nats', pod)])),
    leader: environmentOf('StatefulSet', 'leader', 'leader-0'),
    rig: environmentOf('DaemonSet', 'rig', 'machine-1'),
    relay: environmentOf('StatefulSet', 'relay', 'relay-0'),
  }
}

describeWith(lackOf('nats-server'), 'three NATS servers as deployed', () => {
  let node: Awaited<ReturnType<typeof startDevnet>>
  beforeAll(async () => {
    node = await startDevnet({ port: 0, difficulty: 1_000_000n, blockDelayMs: 2000 })
    return () => node.close()
  })
  afterEach(stopAll)

  /** The configured number of replicas of the solutions, and how many of them are current. */
  async function copies({ servers }: Cluster): Promise<{ readonly told: number; readonly current: number }> {
    const addresses = [...servers.values()].map(({ port }) =>
      readNatsAddress(`nats://newcut:${PASSWORD}@127.0.0.1:${port}`),
    )
    const shared = { trust: {}, fleet: 'main', agent: 'test', clock: systemClock, random: Math.random }
    const link = await FleetLink.open({ addresses, ...shared }, null, new AbortController().signal)
    try {
      const manager = await link.jetstream.jetstreamManager(false)
      const { config, cluster } = await manager.streams.info(link.subjects.stream)
      const others = cluster?.replicas?.filter(({ current, offline }) => current && !offline) ?? []
      return { told: config.num_replicas, current: 1 + others.length }
    } finally {
      await link.close()
    }
  }

  it.each([
    ['compose', compose],
    ['kubernetes', kubernetes],
  ] as const)('%s: a fleet keeps mining when the NATS server of its connections dies', async (_name, read) => {
    const { text, servers, leader: leads, rig: searches } = read()
    expect(servers.size).toBe(3)
    const cluster = await startCluster({ text, servers })
    const urls = (value: string | null | undefined) => cluster.here(value ?? '')
    const shared = { NEWCUT_HTTP: 'off', NEWCUT_STATE: 'off' }
    const leader = start(['lead', '--node', node.url], {
      ...shared,
      NEWCUT_NATS: urls(leads.NEWCUT_NATS),
      NEWCUT_NATS_REPLICAS: leads.NEWCUT_NATS_REPLICAS ?? '',
    })
    await leader.sees(/this process is the leader/)
    const rig = { ...shared, NEWCUT_FLEET: urls(searches.NEWCUT_FLEET), NEWCUT_THREADS: '1', NEWCUT_GPU: 'none' }
    const searching = start(['mine', '--rig', 'alpha'], rig)
    await searching.sees(/ accepted /)
    await expect.poll(() => copies(cluster).catch(() => null)).toEqual({ told: 3, current: 3 })
    const [first] = cluster.servers.values()
    await first.kill()
    const before = leader.out().length
    // The remaining servers elect a leader, which takes up to 30 s with NATS 2.9.10.
    await expect.poll(() => / accepted .*rig:alpha/.test(leader.out().slice(before))).toBe(true)
  })

  it.each([
    ['compose', compose, 'relay'],
    ['kubernetes', kubernetes, 'relay-0'],
  ] as const)('%s: a relay accepts rigs, and the leader gets their solutions', async (_name, read, name) => {
    const { text, servers, leader: leads, relay: serves } = read()
    const cluster = await startCluster({ text, servers })
    const shared = { NEWCUT_HTTP: 'off', NEWCUT_STATE: 'off' }
    const NEWCUT_NATS = cluster.here(leads.NEWCUT_NATS ?? '')
    const leader = start(['lead', '--node', node.url], { ...shared, NEWCUT_NATS })
    await leader.sees(/this process is the leader/)
    const told = Object.entries(serves).filter(([key]) => key.startsWith('NEWCUT_') && key !== 'NEWCUT_HTTP_TOKEN')
    const own = { NEWCUT_FLEET: cluster.here(serves.NEWCUT_FLEET ?? ''), NEWCUT_STRATUM_LISTEN: '127.0.0.1:0' }
    const environment = { ...Object.fromEntries(told), ...shared, ...own, NEWCUT_LOG: 'text' }
    const relay = start(['mine'], environment)
    const [, port] = await relay.sees(/stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
    const pool = ['--pool', `stratum+tcp://k:${'ab'.repeat(32)}.rig@127.0.0.1:${port}`]
    start(['mine', ...pool, '--threads', '1', '--gpu', 'none', '--http', 'off'])
    await leader.sees(new RegExp(` accepted .*rig:${name}`))
  })
})
