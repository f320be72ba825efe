/** Options of an embedded node. */

import type { NewcutError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import type { GraphName } from '#ground/chain/graph.ts'
import type { WorkFields } from '#ground/chain/header.ts'
import type { ProductWord } from '#ground/chain/header-json.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type { BlockMadeBy, PrintEvent, TransactionEvent } from '#ground/schema/devnet-events.ts'
import type { AutoMine, NodeRelease } from '#ground/schema/devnet-modes.ts'
import type { DevnetFork } from '../copy/open-copy.ts'
import type { ServedRequest } from '../http/request-log.ts'
import type { Addition } from '../rules/chains.ts'

/** Options of an embedded node and its network; every property has a default. */
export interface DevnetOptions {
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Port to listen on. Default 1848; 0 takes any free port. */
  readonly port?: number
  /**
   * Directory for the chains. Default: they stay in memory. An existing network continues with its own settings: graph,
   * blockDelayMs, difficulty, pow, nodeRelease and forkEpoch must be the same, or left out.
   */
  readonly dataDir?: string | undefined
  /**
   * File with the whole network. The node begins with it if it exists, and writes it when it is closed. Excludes
   * `dataDir`.
   */
  readonly stateFile?: string | undefined
  /** Content of such a file to begin with, as `state()` of a network returns it. Excludes `dataDir`. */
  readonly state?: Uint8Array | undefined
  /** Directory for backups. Default: none, and the node makes no backups. */
  readonly backupDir?: string | undefined
  /**
   * Network whose state this one begins with. Implies `pow: false`, and the graph of that network. Default: none. A
   * network in `dataDir` continues its fork.
   */
  readonly fork?: DevnetFork | undefined
  /**
   * Name of the network. Default development. The network follows the rules in the file of that name: graph, block
   * delay, difficulty, gas, contracts. A fork follows the rules of the forked network. Commands that are signed for the
   * name of a live network are valid there too.
   */
  readonly networkName?: string | undefined
  /** Networks of your own that `networkName` may name, or that may be forked. Default: none. */
  readonly networks?: readonly NetworkForm[] | undefined
  /** Graph of the chains. Default twenty. */
  readonly graph?: GraphName | undefined
  /** Intended time between blocks of a chain. Default 30 s. */
  readonly blockDelayMs?: number | undefined
  /** Average number of hashes for the first blocks of a chain. Default 100,000. */
  readonly difficulty?: bigint | undefined
  /** If false, any nonce solves, and targets never change except with simulated mining. Default true. */
  readonly pow?: boolean | undefined
  /** Node release whose rules the network follows from its first block. Default 3.2. */
  readonly nodeRelease?: NodeRelease | undefined
  /**
   * Voting blocks in each epoch of fork votes; 120 blocks that count the votes follow. Default 14,280, as on all public
   * networks. With a small number a network adopts a fork soon.
   */
  readonly forkEpoch?: number | undefined
  /** Highest fork number that this node votes for. Default: the highest that `nodeRelease` knows; 0 never votes. */
  readonly forkTarget?: number | undefined
  /** Accounts that may mine. Default: anyone. */
  readonly accounts?: readonly MinerAccount[]
  /** Name of this node in private commands. Default: none, and the node executes no private commands. */
  readonly entity?: string | undefined
  /** Word in paths, version field and version header. Default chainweb. */
  readonly product?: ProductWord
  /** Lifetime of update streams, times a random factor in [0.9, 1.1). Default 240 s; at most 22 days. */
  readonly updateStreamMs?: number
  /** Maximum update streams at once. Default 2000. */
  readonly updateStreamLimit?: number
  /** Maximum streams of headers and blocks at once. Default 2000. */
  readonly headerStreamLimit?: number
  /** Maximum payloads that wait for a solution. Default 1200. */
  readonly workLimit?: number
  /** Time that a payload waits for its solution. Default 300 s. */
  readonly workLifetimeMs?: number
  /** Least time between two events that report other transactions of a chain. Default 15 s; at most 22 days. */
  readonly refreshMs?: number
  /** Maximum requests that wait for the result of a command. Default 1000. */
  readonly listenLimit?: number
  /** Longest wait of a request for the result of a command. Default 180 s; at most 22 days. */
  readonly listenMs?: number
  /** Time that a request may take to arrive, headers and body. Default 30 s; at most 22 days. */
  readonly requestTimeoutMs?: number
  /**
   * Automatic mining without proof of work, besides blocks of miners and of POST /make-blocks. Implies `pow: false`.
   * - `{ kind: 'constant', blockTimeMs }`: a block on every chain every `blockTimeMs`
   * - `{ kind: 'simulated', hashesPerSecond }`: blocks at the pace of that hashrate, with difficulty adjustment
   * - `{ kind: 'on-arrival', confirmations }`: a block for commands, then this many on every chain; 5 if left out
   * - `{ kind: 'on-demand' }`: no automatic blocks
   *
   * A network in `dataDir` keeps its mode: leave this out to continue with it, or give another mode to replace it.
   */
  readonly autoMine?: AutoMine | { readonly kind: 'on-arrival' }
  /**
   * Public keys whose signatures are not checked, or `*` for all. Their owners remain signers of a command, so guards
   * and the capabilities that limit a signature hold. Default: none.
   */
  readonly impersonate?: readonly string[]
  /**
   * Whether code may call `print`, which live networks refuse. `onPrint` gets the texts. A network with such code needs
   * the option at each start. Default false.
   */
  readonly allowPrint?: boolean
  /**
   * Number of `k:` accounts with 10,000 coins on every chain, from the phrase that everybody knows. Default 0; at most
   * 1000. Chains that do not have them get a block at the start.
   */
  readonly phraseAccounts?: number
  /** Called with every solution, stale and invalid ones included, and with every block that the node makes itself. */
  readonly onSolved?: (header: WorkFields, addition: Addition, by: BlockMadeBy) => void
  /**
   * Called with each step of a transaction: pending, in a block, undone, dropped or refused. Calls come shortly after
   * the step, so that blocks do not wait for them.
   */
  readonly onTransaction?: (event: TransactionEvent) => void
  /**
   * Called with each text that code prints: once for each block with it, and for each call. Needs `allowPrint`.
   */
  readonly onPrint?: (event: PrintEvent) => void
  /**
   * Called if the chains cannot be written, such as on a full disk. The node has stopped; call `close` all the same.
   */
  readonly onFailure?: (error: NewcutError) => void
  /** Called with every request once its response, or its stream, ends. */
  readonly onRequest?: (request: ServedRequest) => void
  /**
   * Called often with the progress of loading chains, executing blocks again, or making blocks by a control request;
   * null at its end.
   */
  readonly onProgress?: OnProgress
  /**
   * Called with messages for an operator, such as a failed backup or a rebuilt database. `kind` is `progress` for the
   * progress of a long control request, which is not a warning.
   */
  readonly onNotice?: (message: string, kind?: 'progress') => void
}
