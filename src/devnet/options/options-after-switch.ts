/** Options of the network to which a node turns. */
import { NO_WORK_IN_FORKS } from '#ground/schema/devnet-modes.ts'
import type { ForkChange } from '#ground/schema/reset-request.ts'
import type { DevnetFork } from '../copy/open-copy.ts'
import { RequestRefused } from '../http/refusal.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import type { DevnetOptions } from './devnet-options.ts'

/**
 * The options with which the node started, for another network.
 * @param started settings of the first network of the node
 * @param change the fork; null for a network of its own
 * @throws RequestRefused if the node may not turn to it
 */
export function optionsAfterSwitch(
  options: DevnetOptions,
  { autoMine }: NetworkSettings,
  change: ForkChange | null,
): DevnetOptions {
  expectNothingOnDisk(options)
  const { state: _state, fork: first, ...kept } = options
  const turned = { ...kept, ...(autoMine !== null && { autoMine }) }
  if (change === null) return { ...turned, networkName: undefined }
  if (options.pow === true || autoMine?.kind === 'simulated') {
    throw new RequestRefused(409, `${NO_WORK_IN_FORKS}. Start the node without \`pow: true\` or simulated mining`)
  }
  // The forked network decides about its graph.
  return { ...turned, graph: undefined, fork: forkOf(change, first) }
}

/** @throws RequestRefused if the node writes its network to disk: a turn would leave or replace what is there */
function expectNothingOnDisk({ dataDir, stateFile }: DevnetOptions): void {
  const [option, place] = dataDir !== undefined ? ['dataDir', dataDir] : ['stateFile', stateFile]
  if (place === undefined) return
  const what = option === 'dataDir' ? 'keeps its blocks in' : 'writes its network to'
  const why = `this node ${what} ${place} (\`${option}\`), so it turns to no other network`
  throw new RequestRefused(409, `${why}: start another node, or this one without \`${option}\``)
}

/** Fields that are left out are those of the start, except the cut. */
function forkOf({ cut, ...change }: ForkChange, first: DevnetFork | undefined): DevnetFork {
  const url = change.url ?? first?.url
  if (url === undefined) {
    throw new RequestRefused(400, '/fork/url: missing; name a node of the network, such as https://NODE')
  }
  const { chains = first?.chains, cacheFolder = first?.cacheFolder } = change
  return {
    ...first,
    ...change,
    url,
    cut: cutText(cut),
    chains: chains ?? undefined,
    cacheFolder: cacheFolder ?? undefined,
  }
}

function cutText(cut: ForkChange['cut']): string | undefined {
  if (cut === undefined || cut === null) return undefined
  return typeof cut === 'object' ? JSON.stringify(cut) : String(cut).trim()
}
