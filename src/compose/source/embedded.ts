/** Starts an embedded development network as the source of a miner. */
import { graphs } from '#ground/chain/graph.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { measureDifficulty } from '#mining/tune/first-difficulty.ts'
import { type Devnet, startDevnet } from '../devnet.ts'
import { enginesFor } from '../search/engines.ts'
import type { EmbeddedSetup, MinerSetup } from '../setup.ts'
import type { ConnectedSource } from './connected-source.ts'
import { connectNodeSource } from './nodes.ts'

/**
 * Starts the network, which ends with `close`.
 * @throws NewcutError, or the signal's reason
 */
export async function connectEmbedded(
  { network, ...mined }: EmbeddedSetup,
  search: MinerSetup['search'],
  signal: AbortSignal,
): Promise<ConnectedSource> {
  const embedded = await startNetwork(network, search, signal)
  try {
    const nodes = { kind: 'nodes', urls: [embedded.url], trust: { insecure: false }, failFast: false } as const
    const reached = await connectNodeSource({ ...mined, ...nodes }, () => undefined, signal)
    const close = async () => {
      await reached.close()
      await embedded.close()
    }
    return { ...reached, node: reached.node && { ...reached.node, embedded }, close }
  } catch (error) {
    await embedded.close()
    throw error
  }
}

async function startNetwork(
  network: EmbeddedSetup['network'],
  search: MinerSetup['search'],
  signal: AbortSignal,
): Promise<Devnet> {
  const { graph, blockDelayMs, difficulty, pow } = network
  if (difficulty !== undefined || !pow) return startDevnet({ ...network, port: 0 })
  const measured = await measureDifficulty(
    search,
    { graph: graphs[graph], blockDelayMs },
    {
      enginesFor: enginesFor(signal),
      clock: systemClock,
      stopped: signal,
    },
  )
  return startDevnet({ ...network, difficulty: measured, port: 0 })
}
