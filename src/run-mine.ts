/** `newcut mine`: puts source, engines, miner and faces together, and takes them down again. */
import { cpus } from 'node:os'
import { Metrics } from './api/metrics.ts'
import { type ApiServer, startApi } from './api/server.ts'
import type { Config } from './cli/config.ts'
import type { Face } from './cli/console.ts'
import type { mineOptions, Values } from './cli/options.ts'
import { systemClock } from './clock.ts'
import { describeError, NewcutError } from './core/errors.ts'
import type { MinerAccount } from './core/payload.ts'
import { type Devnet, startDevnet } from './devnet/devnet.ts'
import type { MinerEvent } from './mine/events.ts'
import { Miner } from './mine/miner.ts'
import { NodeClient } from './node/client.ts'
import { faceFor, networkLine, networkSettings } from './run-devnet.ts'
import { createEngines } from './run-engines.ts'
import { untilStopped } from './shutdown.ts'
import { NodeSource } from './source/node.ts'
import { packageVersion } from './version.ts'

type MineValues = Values<typeof mineOptions>

/** Whom development networks pay when no key is given: the ed25519 public key of the all-zero seed. */
const DEVELOPMENT_KEY = '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'
/** An update stream that is silent for so many block delays is opened anew. */
const STALL_BLOCK_DELAYS = 5

export function runMine(config: Config<typeof mineOptions>): Promise<number> {
  return untilStopped((stopped) => mine(config, stopped))
}

async function mine(config: Config<typeof mineOptions>, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const face = faceFor(values.log)
  const devnet = values.node === undefined ? await startDevnet({ ...networkSettings(values), port: 0 }) : null
  const closers: (() => Promise<void>)[] = devnet === null ? [] : [() => devnet.close()]
  try {
    const { insecure, fingerprint } = values
    const url = values.node ?? devnet?.url ?? ''
    const client = await NodeClient.connect({ url, insecure, ...(fingerprint && { fingerprint }) }, stopped)
    closers.unshift(() => client.close())
    const source = sourceOf(client, values)
    const engines = await createEngines(config, source.workBytes)
    const onEvent = (event: MinerEvent) => {
      face.show(event)
      metrics.onEvent(event)
    }
    const { blocks, duration: durationMs } = values
    const miner = new Miner({ source, engines, clock: systemClock, onEvent, blocks, durationMs })
    const metrics = new Metrics(() => miner.snapshot())
    const api = await startFace(config, miner, metrics, face)
    if (api !== null) closers.unshift(() => api.close())
    face.show({ type: 'banner', lines: banner(client, devnet, api) })
    const snapshot = await miner.run(stopped)
    face.show({ type: 'summary', snapshot })
    return 0
  } catch (error) {
    // Stopped before there was anything to stop: what fails then is no error.
    if (stopped.aborted) return 0
    throw error
  } finally {
    for (const close of closers) await close()
  }
}

function sourceOf(client: NodeClient, values: MineValues): NodeSource {
  const stallMs = values.stall ?? (STALL_BLOCK_DELAYS * client.info.nodeBlockDelay) / 1000
  const account = accountOf(values, client.info.nodeVersion)
  return new NodeSource({ client, account, clock: systemClock, random: Math.random, stallMs })
}

/** Who is paid. Only development networks have a default: elsewhere it would give blocks away. */
function accountOf(values: MineValues, network: string): MinerAccount {
  const keys = values['public-key'] ?? (/development/.test(network) ? [DEVELOPMENT_KEY] : undefined)
  if (keys === undefined) {
    throw new NewcutError('BAD_OPTION', `--public-key is missing: who is to be paid for blocks of ${network}?`, {
      hint: 'newcut keygen makes a key pair',
    })
  }
  return { account: values.account ?? `k:${keys[0]}`, predicate: values.predicate, publicKeys: keys }
}

/** The HTTP face. That the default port is taken is no reason not to mine; an address that was asked for is. */
async function startFace(
  { values, origins }: Config<typeof mineOptions>,
  miner: Miner,
  metrics: Metrics,
  face: Face,
): Promise<ApiServer | null> {
  if (values.http === null) return null
  try {
    return await startApi(values.http, () => miner.snapshot(), metrics)
  } catch (error) {
    if (origins.get('http') !== 'default') throw error
    face.show({ type: 'warning', message: `${describeError(error)}; mining without metrics` })
    return null
  }
}

function banner(client: NodeClient, devnet: Devnet | null, api: ApiServer | null): string[] {
  const processor = cpus()[0]?.model.trim() ?? process.arch
  const { nodeVersion, nodeNumberOfChains, nodeBlockDelay } = client.info
  const network =
    devnet === null
      ? `network: ${nodeVersion}, ${nodeNumberOfChains} chains, block delay ${nodeBlockDelay / 1e6} s at ${client.http.baseUrl}`
      : networkLine(devnet)
  return [
    `newcut ${packageVersion}, node ${process.versions.node}, ${processor}`,
    network,
    api === null ? 'metrics: off' : `metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`,
  ]
}
