/**
 * Runs the three NATS servers of a deployment as real processes with its own configuration; only addresses and folders
 * differ.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { PROGRAM_PATH } from '../needs.ts'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'
import { temporaryFolder } from './tools.ts'

interface ClusterPlan {
  /** The text of the configuration, the same for all servers. */
  readonly text: string
  /** Environments of the servers, by the host name that the other servers use. */
  readonly servers: ReadonlyMap<string, Readonly<Record<string, string>>>
  /** Changes the text further, beyond addresses and folders. */
  readonly change?: (text: string) => string
}

interface ClusterServer {
  readonly port: number
  readonly get: (path: string) => Promise<Response>
  readonly kill: () => Promise<void>
}

export interface Cluster {
  /** Servers by host name. */
  readonly servers: ReadonlyMap<string, ClusterServer>
  /** Replaces the server addresses of the deployment by those of the local servers. */
  readonly here: (urls: string) => string
}

interface Ports {
  readonly client: number
  readonly route: number
  readonly monitor: number
}

/** Starts all servers. Resolves once each is healthy and they have elected a leader; the end of the test stops them. */
export async function startCluster({ text, servers, change = (same) => same }: ClusterPlan): Promise<Cluster> {
  const ports = new Map<string, Ports>()
  for (const host of servers.keys()) {
    ports.set(host, { client: await freePort(), route: await freePort(), monitor: await freePort() })
  }
  const here = (urls: string) =>
    urls.replace(/@([\w.-]+):(4222|6222)/g, (_all, host: string, port) => {
      const own = ports.get(host)
      if (own === undefined) throw new Error(`${host} is not one of the servers`)
      return `@127.0.0.1:${port === '4222' ? own.client : own.route}`
    })
  const started = new Map<string, ClusterServer>()
  for (const [host, environment] of servers) {
    const own = ports.get(host) as Ports
    const env = Object.entries(environment).map(([name, value]) => [name, here(value)])
    started.set(host, startServer(change(textFor(text, own)), own, Object.fromEntries(env)))
  }
  const isHealthy = async ({ get }: ClusterServer) => {
    const health = await get('/healthz').catch(() => null)
    if (health?.ok !== true) return false
    const { meta_cluster: meta } = (await (await get('/jsz')).json()) as { meta_cluster?: { leader?: string } }
    return meta?.leader !== undefined
  }
  await until(async () => (await Promise.all([...started.values()].map(isHealthy))).every(Boolean))
  return { servers: started, here }
}

function textFor(text: string, { client, route, monitor }: Ports): string {
  const changes = [
    [/0\.0\.0\.0:4222/, `127.0.0.1:${client}`],
    [/0\.0\.0\.0:6222/, `127.0.0.1:${route}`],
    [/(0\.0\.0\.0|127\.0\.0\.1):8222/, `127.0.0.1:${monitor}`],
    [/store_dir: \/data/, `store_dir: ${temporaryFolder()}`],
  ] as const
  return changes.reduce((before, [from, to]) => {
    expect(before).toMatch(from)
    return before.replace(from, to)
  }, text)
}

function startServer(text: string, { client, monitor }: Ports, environment: Record<string, string>): ClusterServer {
  const config = join(temporaryFolder(), 'fleet.conf')
  writeFileSync(config, text)
  const env = { PATH: PROGRAM_PATH, ...environment }
  const child = spawn('nats-server', ['--config', config], { env, stdio: 'ignore' })
  const kill = () => killProcess(child)
  onTestFinished(kill)
  return { port: client, get: (path) => fetch(`http://127.0.0.1:${monitor}${path}`), kill }
}

function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('close', () => resolve())
    child.kill('SIGKILL')
  })
}
