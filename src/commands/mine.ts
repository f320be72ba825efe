/** `newcut mine`: the miner, for a node or for an embedded network of its own. */
import { cpus } from 'node:os'
import type { Config } from '../cli/config.ts'
import { faceFor } from '../cli/console.ts'
import type { mineOptions } from '../cli/options.ts'
import { type Devnet, startDevnet } from '../compose/devnet.ts'
import { type MinerStart, runMiner } from '../compose/miner.ts'
import { checkPayee, paidLine } from '../compose/payee.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { checkMineFlags, minerSetup } from './miner-setup.ts'
import { networkLine, networkSettings } from './network.ts'
import { surroundings } from './surroundings.ts'

export function runMine(config: Config<typeof mineOptions>): Promise<number> {
  return untilStopped((stopped) => mine(config, stopped))
}

/** Exit code 1 when it ends while nothing could search. */
async function mine(config: Config<typeof mineOptions>, stopped: AbortSignal): Promise<number> {
  const { values } = config
  checkMineFlags(config)
  const face = faceFor(values.log, surroundings)
  const { node } = values
  const setup = minerSetup(config, node ?? [''])
  // Wrong options are refused before a network is started.
  checkPayee(setup.payee)
  const devnet = node === undefined ? await startDevnet({ ...networkSettings(values), port: 0 }) : null
  try {
    const snapshot = await runMiner(devnet === null ? setup : { ...setup, node: { ...setup.node, url: devnet.url } }, {
      onEvent: face.show,
      onStart: (start) => face.show({ type: 'banner', lines: banner(start, devnet, node) }),
      stopped,
    })
    face.show({ type: 'summary', snapshot })
    return snapshot.idleReason === null ? 0 : 1
  } catch (error) {
    // A failure after the user asked to stop is not an error.
    if (stopped.aborted) return 0
    throw error
  } finally {
    await devnet?.close()
  }
}

function banner(
  { client, account, api, journal, pageUrl }: MinerStart,
  devnet: Devnet | null,
  nodes: readonly string[] = [],
): string[] {
  const processor = cpus()[0]?.model.trim() ?? process.arch
  const { baseUrl } = client.http
  const { nodeVersion, nodeNumberOfChains, nodeBlockDelay } = client.info
  const network =
    devnet === null
      ? `network: ${nodeVersion}, ${nodeNumberOfChains} chains, block delay ${nodeBlockDelay / 1e6} s at ${baseUrl}`
      : networkLine(devnet)
  return [
    `newcut ${surroundings.version}, node ${process.versions.node}, ${processor}`,
    network,
    ...(nodes.length > 1 ? [`nodes, in order of priority: ${nodes.join(', ')}`] : []),
    paidLine(account),
    api === null ? 'metrics: off' : `metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`,
    ...(api === null ? [] : [`dashboard: ${api.url}/`]),
    ...(journal === null ? [] : [journalLine(journal)]),
    ...(pageUrl === null ? [] : [`mine in a browser: ${pageUrl}`]),
  ]
}

function journalLine({ folder, unfinished }: NonNullable<MinerStart['journal']>): string {
  if (unfinished === 0) return `journal: ${folder}`
  return `journal: ${folder}, with ${unfinished} ${unfinished === 1 ? 'solution' : 'solutions'} of earlier runs to settle`
}
