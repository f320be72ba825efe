/** What a user says of the nodes to mine for. */
import type { Dial } from '../node/dial.ts'
import type { ForkWish } from '../source/node/fork-wish.ts'

export interface NodeSetup {
  /** Root of the node: `http://HOST:PORT`. */
  readonly url: string
  /** Accept any TLS certificate. */
  readonly insecure: boolean
  /** SHA-256 of the only TLS certificate to accept. */
  readonly fingerprint?: string | undefined
  /** Certificates in PEM form: only these authorities may sign that of the node. */
  readonly ca?: string | undefined
  /** A node that does not answer at the start is an error; else it is waited for. */
  readonly failFast: boolean
  /** A node that does not answer is waited for at most so long; undefined: for ever. */
  readonly maxWaitMs?: number | undefined
  /** Longest pause between two attempts; default 5 s. */
  readonly maxPauseMs?: number | undefined
  /** Makes the connections in place of TCP and TLS, as simulations do. */
  readonly dial?: Dial | undefined
}

export interface NodesSetup {
  readonly node: NodeSetup
  readonly others?: readonly string[]
  readonly failbackMs?: number | undefined
  readonly shareBlocks?: boolean | undefined
  readonly stallMs?: number | undefined
  readonly confirmations?: number
  readonly chains?: readonly number[] | undefined
  /** How our work is to vote for forks; default: as the node does. */
  readonly forkWish?: ForkWish | undefined
  /** Blocks of an epoch that may vote, on a development network; default: as in all releases. */
  readonly forkEpoch?: number | undefined
}

/** How long a node or pool of higher priority has to be fit, unless the setup says otherwise. */
export const FAILBACK_MS = 60_000
