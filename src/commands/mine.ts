/** `newcut mine`: the miner, on a node or on an embedded network of its own. */
import { cpus } from 'node:os'
import type { ApiServer } from '../api/server.ts'
import type { Config } from '../cli/config.ts'
import type { mineOptions } from '../cli/options.ts'
import { type Devnet, startDevnet } from '../compose/devnet.ts'
import { runMiner } from '../compose/miner.ts'
import type { NodeClient } from '../node/client.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { packageVersion } from '../platform/version.ts'
import { faceFor, networkLine, networkSettings } from './devnet.ts'

export function runMine(config: Config<typeof mineOptions>): Promise<number> {
  return untilStopped((stopped) => mine(config, stopped))
}

async function mine(config: Config<typeof mineOptions>, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const face = faceFor(values.log)
  const devnet = values.node === undefined ? await startDevnet({ ...networkSettings(values), port: 0 }) : null
  try {
    const onStart = (client: NodeClient, api: ApiServer | null) =>
      face.show({ type: 'banner', lines: banner(client, devnet, api) })
    const snapshot = await runMiner({ config, url: values.node ?? devnet?.url ?? '', face, stopped, onStart })
    face.show({ type: 'summary', snapshot })
    return 0
  } catch (error) {
    // Stopped before there was anything to stop: what fails then is no error.
    if (stopped.aborted) return 0
    throw error
  } finally {
    await devnet?.close()
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
