/** Proxies for rigs on loopback: a source for pools, its sessions for rigs, and the engine that rigs connect to. */
import type { Clock } from '../../../src/ground/base/clock.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { PassthroughEngine } from '../../../src/mining/engine/passthrough/passthrough.ts'
import type { RigLimits } from '../../../src/mining/engine/stratum/limits.ts'
import type { PoolAddress } from '../../../src/mining/source/pool/address.ts'
import { PoolSource } from '../../../src/mining/source/pool/pool-source.ts'
import { OpenRigPoolSessions } from '../../../src/mining/source/pool/rig-pool-sessions.ts'
import { SourceReader } from '../../conformance/source.ts'
import { RawRig } from './raw-rig.ts'
import { type Script, ScriptedPool } from './scripted-pool.ts'

const cleanups: (() => unknown)[] = []

/** Stops everything that the test started. */
export async function stopProxies(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

export async function pool(script: Script = {}): Promise<ScriptedPool> {
  const started = await new ScriptedPool(script).listen()
  cleanups.push(() => started.close())
  return started
}

export interface ProxyOptions {
  readonly clock?: Clock
  readonly most?: number
  readonly failbackMs?: number
  readonly limits?: Partial<RigLimits>
}

/** A proxy in front of these pools. Resolves once the first of them gives work. */
export async function proxy(pools: readonly PoolAddress[], options: ProxyOptions = {}) {
  const { clock = systemClock, most = 128, failbackMs = 60_000, limits } = options
  const about = { trust: {}, agent: 'newcut/test', clock, random: Math.random }
  const stop = new AbortController()
  cleanups.push(() => stop.abort())
  const source = await PoolSource.reach({ pools, ...about, failbackMs }, () => undefined, stop.signal)
  const reader = new SourceReader(source)
  cleanups.push(async () => {
    reader.stop.abort()
    await reader.ended
  })
  const lines = new OpenRigPoolSessions({ pools: source, ...about, most, workBytes: 286 })
  const server = { host: '127.0.0.1', port: 0, tls: null, clock, random: Math.random }
  const engine = new PassthroughEngine({ ...server, lines, ...(limits && { limits }) })
  cleanups.push(() => engine.stop())
  const warnings: string[] = []
  await engine.start(286, { onCandidate: () => undefined, onWarning: (message) => warnings.push(message) })
  const { port } = await engine.listen()
  return { engine, lines, source, reader, port, warnings }
}

/** A rig that has logged in, by default as an Antminer KA3. */
export async function rig(port: number, options: Parameters<typeof RawRig.login>[1] = {}): Promise<RawRig> {
  const started = await RawRig.login(port, options)
  cleanups.push(() => started.close())
  return started
}

/** A rig that has connected and sent nothing. */
export async function visitor(port: number): Promise<RawRig> {
  const started = await RawRig.connect(port)
  cleanups.push(() => started.close())
  return started
}
