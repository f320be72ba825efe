/** Settings in which development networks differ. */
import { formatDuration } from '#ground/base/units.ts'
import { type Graph, type GraphName, graphOf, graphs } from '#ground/chain/graph.ts'
import { knownNetwork, versionCode } from '#ground/chain/known-networks.ts'
import type { Network } from '#ground/chain/network.ts'
import { development } from '#ground/chain/network-data.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'
import { difficultyOf, targetOfDifficulty } from '#ground/chain/target.ts'
import type { AutoMine, NodeRelease } from '#ground/schema/devnet-modes.ts'
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { releaseRules } from './releases.ts'

/** A named graph, or the adjacent chains of each chain. */
export type GraphForm = GraphName | readonly (readonly number[])[]

/** All except `autoMine` are fixed for the life of a network. */
export interface NetworkSettings {
  /** A list has the adjacent chains of each chain. */
  readonly graph: GraphForm
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
  /** Average number of hashes for the first blocks of a chain. */
  readonly difficulty: bigint
  /** If false, any nonce solves. */
  readonly pow: boolean
  /** Whether targets follow block times. */
  readonly adjusts: boolean
  /** Release of the live node whose rules the network follows. */
  readonly release: NodeRelease
  /** Voting blocks in each epoch of fork votes; 120 blocks that count the votes follow. */
  readonly forkEpoch: number
  /**
   * Automatic mining mode, or null for none. A network on disk continues with its last mode unless it is opened with
   * another one.
   */
  readonly autoMine: AutoMine | null
  /**
   * The network whose name, code and rules it has. Default: development. A text is its name only: its blocks follow the
   * node release.
   */
  readonly network?: string | NetworkForm | undefined
}

const defaultSettings: NetworkSettings = {
  graph: plainOptions.graph.fallback,
  blockDelayMs: plainOptions.blockDelayMs.fallback,
  difficulty: plainOptions.difficulty.fallback,
  pow: plainOptions.pow.fallback,
  adjusts: true,
  release: plainOptions.nodeRelease.fallback,
  forkEpoch: plainOptions.forkEpoch.fallback,
  autoMine: null,
}

/** Requested settings; undefined accepts any value. */
export type RequestedSettings = { readonly [Name in keyof NetworkSettings]?: NetworkSettings[Name] | undefined }

/**
 * Requested settings; those of `others` replace the missing ones. Default: those of the requested network, or of a
 * development network.
 */
export function settingsOf(asked: RequestedSettings, others?: NetworkSettings): NetworkSettings {
  const ownForm = typeof asked.network === 'object' ? settingsIn(asked.network) : {}
  const usual = others ?? { ...defaultSettings, ...ownForm }
  const pow = asked.pow ?? usual.pow
  return {
    graph: asked.graph ?? usual.graph,
    blockDelayMs: asked.blockDelayMs ?? usual.blockDelayMs,
    difficulty: asked.difficulty ?? usual.difficulty,
    pow,
    // Without proof of work, block times say nothing about hash power, and fast blocks would drive the target to 0.
    adjusts: asked.adjusts ?? (pow === usual.pow ? usual.adjusts : pow),
    release: asked.release ?? usual.release,
    forkEpoch: asked.forkEpoch ?? usual.forkEpoch,
    autoMine: asked.autoMine === undefined ? usual.autoMine : asked.autoMine,
    ...((asked.network ?? usual.network) !== undefined && { network: asked.network ?? usual.network }),
  }
}

/** Settings that the file of a network has. A development network has one graph from its start: the newest. */
function settingsIn(form: NetworkForm): Partial<NetworkSettings> {
  const { blockDelay, genesisTarget, forks, window } = definitionOf(form)
  const difficulty = genesisTarget === undefined ? null : difficultyOf(genesisTarget(0))
  const graph = form.graphs?.at(-1)?.graph
  return {
    ...(graph !== undefined && { graph }),
    ...(blockDelay !== undefined && { blockDelayMs: Number(blockDelay) / 1000 }),
    ...(difficulty !== null && { difficulty }),
    ...(forks !== undefined && { forkEpoch: forks.castingBlocks }),
    ...(window !== undefined && { adjusts: window !== null }),
  }
}

/** Settings that never change in the life of a network. */
export const fixedSettings = ['graph', 'blockDelayMs', 'difficulty', 'pow', 'adjusts', 'release', 'forkEpoch'] as const
type FixedSetting = (typeof fixedSettings)[number]

/** Whether both have the same value of a setting. */
export function isSameSetting(name: FixedSetting, a: NetworkSettings, b: NetworkSettings): boolean {
  if (name === 'graph') return JSON.stringify(graphIn(a).adjacents) === JSON.stringify(graphIn(b).adjacents)
  return a[name] === b[name]
}

/** Describes a setting in words. */
export function describeSetting(name: FixedSetting, settings: NetworkSettings): string {
  const texts: Readonly<Record<FixedSetting, string>> = {
    graph: `graph ${graphText(settings)}`,
    blockDelayMs: `block delay ${formatDuration(settings.blockDelayMs)}`,
    difficulty: `difficulty ${settings.difficulty}`,
    pow: settings.pow ? 'proof of work' : 'no proof of work',
    adjusts: settings.adjusts ? 'difficulty adjustment' : 'no difficulty adjustment',
    release: `the rules of node release ${settings.release}`,
    forkEpoch: `fork epochs of ${settings.forkEpoch} voting blocks`,
  }
  return texts[name]
}

/** Number of chains and the chains that each extends. */
export function graphIn({ graph }: Pick<NetworkSettings, 'graph'>): Graph {
  if (typeof graph === 'string') return graphs[graph]
  const read = graphOf(graph)
  if (typeof read === 'string') throw new RangeError(`graph: ${read}`)
  return read
}

/** Name of a graph, or `of N chains` for one without. */
export const graphText = ({ graph }: Pick<NetworkSettings, 'graph'>) =>
  typeof graph === 'string' ? graph : `of ${graph.length} chains`

/** The network with these settings and its initial rules. */
export function networkOf(settings: NetworkSettings): Network {
  const { blockDelayMs, difficulty, adjusts, release, forkEpoch } = settings
  const base = baseOf(settings)
  const target = targetOfDifficulty(difficulty)
  const { highestKnownFork } = releaseRules[release]
  const isOwn = typeof settings.network === 'object'
  return {
    ...base,
    graphHistory: [{ from: 0, graph: graphIn(settings) }],
    // Chains may begin with different targets, unless another difficulty is asked.
    genesisTarget: difficultyOf(base.genesisTarget(0)) === difficulty ? base.genesisTarget : () => target,
    blockDelay: BigInt(Math.round(blockDelayMs * 1000)),
    window: adjusts ? (base.window ?? development.window) : null,
    forks: {
      from: base.forks.from,
      castingBlocks: forkEpoch,
      highestKnown: isOwn ? Math.min(base.forks.highestKnown, highestKnownFork) : highestKnownFork,
    },
  }
}

/** The network of the settings. Gaps in its file are filled by the rules of development. */
function baseOf({ network }: NetworkSettings): Network {
  if (network === undefined) return development
  if (typeof network === 'object') return { ...development, ...definitionOf(network) }
  return {
    ...development,
    name: network,
    code: versionCode(network) ?? development.code,
    spvWindows: knownNetwork(network)?.spvWindows ?? [],
  }
}
