/** The miner on a node: puts client, source, engines, miner and metrics together, and takes them down again. */
import { Metrics } from '../api/metrics.ts'
import { type ApiServer, startApi } from '../api/server.ts'
import type { Config } from '../cli/config.ts'
import type { Face } from '../cli/console.ts'
import type { mineOptions, Values } from '../cli/options.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import type { MinerAccount } from '../core/payload.ts'
import { DEVELOPMENT_KEY } from '../devnet/orders/block-maker.ts'
import type { MinerEvent } from '../mine/events.ts'
import { Miner } from '../mine/miner.ts'
import type { Snapshot } from '../mine/stats.ts'
import type { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { miningNodeOf } from '../source/node/mining-node.ts'
import { NodeSource } from '../source/node/node-source.ts'
import { connect } from './connect.ts'
import { createEngines } from './engines.ts'

type MineValues = Values<typeof mineOptions>

/** An update stream that is silent for so many block delays, and for so long, is opened anew. */
const STALL_BLOCK_DELAYS = 5
const LEAST_STALL_MS = 10_000

export interface MinerSetup {
  readonly config: Config<typeof mineOptions>
  /** Root of the node. */
  readonly url: string
  readonly face: Face
  readonly stopped: AbortSignal
  /** Shows who mines what, once that is known. */
  readonly onStart: (client: NodeClient, api: ApiServer | null) => void
}

/** Mines until it is stopped or done. Throws NewcutError. */
export async function runMiner({ config, url, face, stopped, onStart }: MinerSetup): Promise<Snapshot> {
  const { insecure, fingerprint, blocks, duration: durationMs } = config.values
  const node = { url, insecure, ...(fingerprint && { fingerprint }) }
  const onWaiting = (message: string) => face.show({ type: 'trouble', message })
  const client = await connect({ node, failFast: false, clock: systemClock, random: Math.random, onWaiting }, stopped)
  const closers = [() => client.close()]
  try {
    const source = sourceOf(client, config.values)
    const engines = await createEngines(config, source.workBytes, stopped)
    const onEvent = (event: MinerEvent) => {
      face.show(event)
      metrics.onEvent(event)
    }
    const miner = new Miner({ source, engines, clock: systemClock, onEvent, blocks, durationMs })
    const metrics = new Metrics(() => miner.snapshot())
    const api = await startFace(config, miner, metrics, face)
    if (api !== null) closers.unshift(() => api.close())
    onStart(client, api)
    return await miner.run(stopped)
  } finally {
    for (const close of closers) await close()
  }
}

function sourceOf(client: NodeClient, values: MineValues): NodeSource {
  const stallMs = values.stall ?? Math.max(LEAST_STALL_MS, (STALL_BLOCK_DELAYS * client.info.nodeBlockDelay) / 1000)
  const account = accountOf(values, client.info.nodeVersion)
  const node = miningNodeOf({ client, account, clock: systemClock, stallMs })
  return new NodeSource({ node, clock: systemClock, random: Math.random })
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
