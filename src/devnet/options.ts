/** What an embedded node can be told when it starts. */
import type { NewcutError } from '../core/errors.ts'
import type { GraphName } from '../core/graph.ts'
import type { WorkFields } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import type { MinerAccount } from '../core/payload.ts'
import type { AutoMine } from '../schema/auto-mine.ts'
import type { Addition } from './rules/chains.ts'
import type { AskedSettings } from './rules/settings.ts'

/** What the embedded node and its network are like; every property has a default. */
export interface DevnetOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 1848; 0 takes any free port. */
  readonly port?: number
  /**
   * Where the chains are kept, in two databases; default: in memory. A network that is there goes on, with its own
   * settings: graph, blockDelayMs, difficulty and pow must be those, or left out.
   */
  readonly dataDir?: string | undefined
  /** Where backups go; without it there are none. */
  readonly backupDir?: string | undefined
  /** Default twenty. */
  readonly graph?: GraphName | undefined
  /** Intended time between blocks of a chain. Default 30 s. */
  readonly blockDelayMs?: number | undefined
  /** Hashes a block takes at first. Default 100,000. */
  readonly difficulty?: bigint | undefined
  /** False: any nonce solves, and targets stay as they are but for simulated mining. Default true. */
  readonly pow?: boolean | undefined
  /** Accounts that may mine; default: anyone. */
  readonly accounts?: readonly MinerAccount[]
  /** Word in paths, version field and version header. Default chainweb. */
  readonly product?: ProductWord
  /** How long update streams stay open, x [0.9, 1.1). Default 240 s; at most 22 days. */
  readonly updateStreamMs?: number
  /** Default 2000. */
  readonly updateStreamLimit?: number
  /** Most streams of headers and blocks. Default 2000. */
  readonly headerStreamLimit?: number
  /** Most payloads waiting for a solution. Default 1200. */
  readonly workLimit?: number
  /** How long a payload waits for its solution. Default 300 s. */
  readonly workLifetimeMs?: number
  /** Least time between two events that tell a chain's miners of other transactions. Default 15 s; at most 22 days. */
  readonly refreshMs?: number
  /** How long a request may take to arrive, headers and body. Default 30 s; at most 22 days. */
  readonly requestTimeoutMs?: number
  /**
   * Blocks without proof of work, besides those of miners and of POST /make-blocks:
   * `{ kind: 'constant', blockTimeMs }`, a block on every chain each such time;
   * `{ kind: 'simulated', hashesPerSecond }`, as that hash rate would find them, with difficulty adjustment;
   * `{ kind: 'on-demand' }`, none. Implies `pow: false`.
   * A network in `dataDir` keeps its mode: left out, it goes on with the one it had last; another one takes its place.
   */
  readonly autoMine?: AutoMine
  /** Hears of every solution, also of those whose miner is told nothing, and of blocks that the node makes itself. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
  /** Hears when the chains could not be written, as on a full disk. The node has ended; `close` it all the same. */
  readonly onFailure?: (error: NewcutError) => void
  /** Hears what an operator should know: how far a long order is, a backup that failed, a database made anew. */
  readonly onNotice?: (message: string) => void
}

/** 22 days: timers end longer waits at once, and some streams stay open a tenth longer. */
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
    requestTimeoutMs: Math.min(options.requestTimeoutMs ?? 30_000, MAX_TIMER_MS),
  }
}

/** The settings that these options ask for. */
export function askedSettings({ graph, blockDelayMs, difficulty, pow, autoMine }: DevnetOptions): AskedSettings {
  if (autoMine === undefined) return { graph, blockDelayMs, difficulty, pow }
  // Simulated block times follow the difficulty as searched ones do.
  const adjusts = autoMine.kind === 'simulated' ? true : undefined
  return { graph, blockDelayMs, difficulty, pow: false, adjusts, autoMine }
}
