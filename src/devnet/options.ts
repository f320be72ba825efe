/** Options of an embedded node. */

import type { NewcutError } from '../core/errors.ts'
import type { GraphName } from '../core/graph.ts'
import type { WorkFields } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import type { MinerAccount } from '../core/payload.ts'
import type { OnProgress } from '../core/progress.ts'
import type { AutoMine } from '../schema/auto-mine.ts'
import type { BlockMadeBy, TransactionEvent } from '../schema/devnet-events.ts'
import type { NodeRelease } from '../schema/node-releases.ts'
import type { ServedRequest } from './http/request-log.ts'
import type { Addition } from './rules/chains.ts'
import type { AskedSettings } from './rules/settings.ts'

/** What the embedded node and its network are like; every property has a default. */
export interface DevnetOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 1848; 0 takes any free port. */
  readonly port?: number
  /**
   * Directory for the chains; default: they are kept in memory. A network that is already there goes on with its own
   * settings: graph, blockDelayMs, difficulty, pow, nodeRelease and forkEpoch must be the same, or left out.
   */
  readonly dataDir?: string | undefined
  /** Directory for backups. Without it the node makes none. */
  readonly backupDir?: string | undefined
  /** Default twenty. */
  readonly graph?: GraphName | undefined
  /** Intended time between blocks of a chain. Default 30 s. */
  readonly blockDelayMs?: number | undefined
  /** Hashes that a block takes on average, at first. Default 100,000. */
  readonly difficulty?: bigint | undefined
  /** False: any nonce solves, and targets never change, except with simulated mining. Default true. */
  readonly pow?: boolean | undefined
  /** The release of the live node whose rules the network follows, from its first block on. Default 3.2. */
  readonly nodeRelease?: NodeRelease | undefined
  /**
   * Blocks of an epoch of votes that may vote; 120 that count follow. Default 14,280, as on all public networks: a small
   * number lets a network adopt a fork soon.
   */
  readonly forkEpoch?: number | undefined
  /** The fork number up to which this node votes. Default: the highest that `nodeRelease` knows; 0 never votes. */
  readonly forkTarget?: number | undefined
  /** Accounts that may mine; default: anyone. */
  readonly accounts?: readonly MinerAccount[]
  /** The name of this node in private commands. Without one it executes none. */
  readonly entity?: string | undefined
  /** Word in paths, version field and version header. Default chainweb. */
  readonly product?: ProductWord
  /** How long update streams stay open, times a random factor in [0.9, 1.1). Default 240 s; at most 22 days. */
  readonly updateStreamMs?: number
  /** Most update streams. Default 2000. */
  readonly updateStreamLimit?: number
  /** Most streams of headers and blocks. Default 2000. */
  readonly headerStreamLimit?: number
  /** Most payloads waiting for a solution. Default 1200. */
  readonly workLimit?: number
  /** How long a payload waits for its solution. Default 300 s. */
  readonly workLifetimeMs?: number
  /** Least time between two events that tell a chain's miners of other transactions. Default 15 s; at most 22 days. */
  readonly refreshMs?: number
  /** Most requests that wait for the result of a command. Default 1000. */
  readonly listenLimit?: number
  /** How long a request waits for the result of a command. Default 180 s; at most 22 days. */
  readonly listenMs?: number
  /** How long a request may take to arrive, headers and body. Default 30 s; at most 22 days. */
  readonly requestTimeoutMs?: number
  /**
   * Blocks without proof of work, besides those of miners and of POST /make-blocks:
   * `{ kind: 'constant', blockTimeMs }`: a block on every chain every `blockTimeMs`;
   * `{ kind: 'simulated', hashesPerSecond }`: as that hash rate would find them, with difficulty adjustment;
   * `{ kind: 'on-demand' }`: none. Implies `pow: false`.
   * A network in `dataDir` keeps its mode: leave it out to go on with that one, or give another one to replace it.
   */
  readonly autoMine?: AutoMine
  /** Called with every solution, stale and invalid ones included, and with every block that the node makes itself. */
  readonly onSolved?: (header: WorkFields, addition: Addition, by: BlockMadeBy) => void
  /**
   * Called with each step of a transaction: pending, in a block, undone, dropped or refused. Shortly after it, so that
   * blocks do not wait for it.
   */
  readonly onTransaction?: (event: TransactionEvent) => void
  /** Called when the chains cannot be written, as on a full disk. The node has stopped; `close` it all the same. */
  readonly onFailure?: (error: NewcutError) => void
  /** Called with every request when its answer is over; with a stream, when it ends. */
  readonly onRequest?: (request: ServedRequest) => void
  /** Called often while chains are loaded, blocks executed again, or blocks made by order: how far it is; null: it is over. */
  readonly onProgress?: OnProgress
  /** Called with what an operator should know: progress of a long order, a failed backup, a database made anew. */
  readonly onNotice?: (message: string) => void
}

/** 22 days. Node's timers fire at once when set to 25 days or more, and streams may stay open a tenth longer. */
const MAX_TIMER_MS = 1_900_000_000

/** The limits of these options, with their defaults. */
export function limitsOf(options: DevnetOptions) {
  return {
    workLimit: options.workLimit ?? 1200,
    workLifetimeMs: options.workLifetimeMs ?? 300_000,
    refreshMs: Math.min(options.refreshMs ?? 15_000, MAX_TIMER_MS),
    updateStreamMs: Math.min(options.updateStreamMs ?? 240_000, MAX_TIMER_MS),
    updateStreamLimit: options.updateStreamLimit ?? 2000,
    headerStreamLimit: options.headerStreamLimit ?? 2000,
    listenLimit: options.listenLimit ?? 1000,
    listenMs: Math.min(options.listenMs ?? 180_000, MAX_TIMER_MS),
    requestTimeoutMs: Math.min(options.requestTimeoutMs ?? 30_000, MAX_TIMER_MS),
  }
}

/** The settings that these options ask for. */
export function askedSettings(options: DevnetOptions): AskedSettings {
  const { graph, blockDelayMs, difficulty, pow, nodeRelease: release, forkEpoch, autoMine } = options
  const asked = { graph, blockDelayMs, difficulty, pow, release, forkEpoch }
  if (autoMine === undefined) return asked
  // Simulated block times follow the difficulty as searched ones do.
  const adjusts = autoMine.kind === 'simulated' ? true : undefined
  return { ...asked, pow: false, adjusts, autoMine }
}
