/** Settings in which development networks differ. */
import { formatDuration } from '../../base/units.ts'
import { type GraphName, graphs } from '../../core/graph.ts'
import { knownNetwork, versionCode } from '../../core/known-networks.ts'
import type { Network } from '../../core/network.ts'
import { development } from '../../core/network-data.ts'
import { targetOfDifficulty } from '../../core/target.ts'
import type { AutoMine } from '../../schema/auto-mine.ts'
import type { NodeRelease } from '../../schema/node-releases.ts'
import { releaseRules } from './releases.ts'

/** All except `autoMine` are fixed for the life of a network. */
export interface NetworkSettings {
  readonly graph: GraphName
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
  /** Name of the network, for one that was forked. Default: development. */
  readonly network?: string | undefined
}

const defaultSettings: NetworkSettings = {
  graph: 'twenty',
  blockDelayMs: 30_000,
  difficulty: 100_000n,
  pow: true,
  adjusts: true,
  release: '3.2',
  forkEpoch: development.forks.castingBlocks,
  autoMine: null,
}

/** Requested settings; undefined accepts any value. */
export type AskedSettings = { readonly [Name in keyof NetworkSettings]?: NetworkSettings[Name] | undefined }

/** Requested settings; those of `others` replace the missing ones. */
export function settingsOf(asked: AskedSettings, others: NetworkSettings = defaultSettings): NetworkSettings {
  const pow = asked.pow ?? others.pow
  return {
    graph: asked.graph ?? others.graph,
    blockDelayMs: asked.blockDelayMs ?? others.blockDelayMs,
    difficulty: asked.difficulty ?? others.difficulty,
    pow,
    // Without proof of work, block times say nothing about hash power, and fast blocks would drive the target to 0.
    adjusts: asked.adjusts ?? (pow === others.pow ? others.adjusts : pow),
    release: asked.release ?? others.release,
    forkEpoch: asked.forkEpoch ?? others.forkEpoch,
    autoMine: asked.autoMine === undefined ? others.autoMine : asked.autoMine,
    ...((asked.network ?? others.network) !== undefined && { network: asked.network ?? others.network }),
  }
}

/** Settings that never change in the life of a network. */
export const fixedSettings = ['graph', 'blockDelayMs', 'difficulty', 'pow', 'adjusts', 'release', 'forkEpoch'] as const
export type FixedSetting = (typeof fixedSettings)[number]

/** Describes a setting in words. */
export function describeSetting(name: FixedSetting, settings: NetworkSettings): string {
  const texts: Readonly<Record<FixedSetting, string>> = {
    graph: `graph ${settings.graph}`,
    blockDelayMs: `block delay ${formatDuration(settings.blockDelayMs)}`,
    difficulty: `difficulty ${settings.difficulty}`,
    pow: settings.pow ? 'proof of work' : 'no proof of work',
    adjusts: settings.adjusts ? 'difficulty adjustment' : 'no difficulty adjustment',
    release: `the rules of node release ${settings.release}`,
    forkEpoch: `fork epochs of ${settings.forkEpoch} voting blocks`,
  }
  return texts[name]
}

/** The network with these settings and its initial rules. */
export function networkOf(settings: NetworkSettings): Network {
  const { graph, blockDelayMs, difficulty, adjusts, release, forkEpoch, network: name = development.name } = settings
  const target = targetOfDifficulty(difficulty)
  return {
    ...development,
    name,
    code: versionCode(name) ?? development.code,
    spvWindows: knownNetwork(name)?.spvWindows ?? [],
    graphHistory: [{ from: 0, graph: graphs[graph] }],
    genesisTarget: () => target,
    blockDelay: BigInt(Math.round(blockDelayMs * 1000)),
    window: adjusts ? development.window : null,
    forks: { from: 0, castingBlocks: forkEpoch, highestKnown: releaseRules[release].highestKnownFork },
  }
}
