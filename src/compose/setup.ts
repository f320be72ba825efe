/** The setup of a miner: source of work, paid account and search. Commands build it from their options. */

import type { ConnectorFactory } from '#client/node/dial.ts'
import type { Configuration } from '#faces/api/configuration.ts'
import type { GraphName } from '#ground/chain/graph.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import type { BlockPace } from '#ground/schema/devnet-modes.ts'
import type { FleetLink, LinkSetup } from '#mining/fleet/link.ts'
import type { StatedPower } from '#mining/mine/energy.ts'
import type { Prices } from '#mining/mine/profit.ts'
import type { SensorsOptions } from '#mining/sensors/sensors.ts'
import type { PoolAddress } from '#mining/source/pool/address.ts'
import type { PoolTrust } from '#mining/source/pool/connection.ts'
import type { ForkVoteChoice } from '#mining/source/source.ts'
import type { OwnSearch } from '#mining/tune/own-search.ts'
import type { PageMode } from './mine-page.ts'
import type { PausingSetup } from './pausing.ts'
import type { Payee } from './payee.ts'
import type { StateSetup } from './state.ts'

/**
 * The type allows the leader of a fleet with nodes only. Stratum rigs need headers with an entirely free nonce, or a
 * pool session each: `checkRigWork` refuses other work once the source is known.
 */
export type MinerSetup = CommonSetup &
  (
    | {
        readonly source: NodesSetup | EmbeddedSetup | FleetRigSetup | PoolsSetup
        /** `stratum`: server for rigs that search beside this machine's devices; undefined for none. */
        readonly search: (OwnSearch | ExternalSearch) & { readonly stratum?: StratumSetup | undefined }
      }
    | { readonly source: NodesSetup; readonly search: LeaderSearch }
  )

interface CommonSetup {
  /** HTTP server for metrics, summary and dashboard, or null. */
  readonly http: HttpSetup | null
  /** Accepted blocks and running time after which the miner stops; no limit if undefined. */
  readonly limits: { readonly blocks?: number | undefined; readonly durationMs?: number | undefined }
  /** Automatic pauses: schedule and idle limit. Default: none. */
  readonly pausing?: PausingSetup
  /** Power that the user states. Default: what the sensors read. */
  readonly power?: StatedPower
  /** Where to read temperatures, fans and power; not read if undefined. */
  readonly sensors?: Pick<SensorsOptions, 'hwmon' | 'powercap' | 'env'> | undefined
  /** Prices of a coin and of power. Default: none. */
  readonly prices?: Prices | undefined
}

/** How to connect to a source at the start. */
export interface StartPolicy {
  /** Fail if the peer does not answer, instead of retrying. */
  readonly failFast: boolean
  /** Timeout of the retries, in milliseconds; undefined for none. */
  readonly maxWaitMs?: number | undefined
}

/** Solo mining: we build and submit blocks ourselves. */
interface SoloMining {
  readonly payee: Payee
  /** Chains to mine; all if undefined. */
  readonly chains?: readonly number[] | undefined
  /** Silence after which an update stream is reopened; 0 for never. Default: derived from the block delay. */
  readonly stallMs?: number | undefined
  /** Depth at which an accepted block is final for us. Default: 1, the head of its chain. */
  readonly confirmations?: number
  /** Vote of our blocks for forks. Default: the node's vote. */
  readonly forkWish?: ForkVoteChoice | undefined
  /** Voting blocks of an epoch on a development network. Default: the constant of all releases. */
  readonly forkEpoch?: number | undefined
  /** Journal that keeps solutions across a crash. Default: none. */
  readonly state?: StateSetup | null
  /** Whether to serve the mining page. Default: off. */
  readonly page?: PageMode
}

/** Trust in the TLS certificate of a node. */
export interface NodeTrust {
  /** Accept any TLS certificate. */
  readonly insecure: boolean
  /** SHA-256 of the only TLS certificate to accept. */
  readonly fingerprint?: string | undefined
  /** Certificate authorities in PEM form; no others are trusted. */
  readonly ca?: string | undefined
}

export interface NodesSetup extends StartPolicy, SoloMining {
  readonly kind: 'nodes'
  /** `http://HOST:PORT`, in order of priority. */
  readonly urls: readonly [string, ...string[]]
  readonly trust: NodeTrust
  /** Networks of the user's files. Default: none. */
  readonly networks?: readonly NetworkDefinition[] | undefined
  /** Pace of the blocks, for development nodes without proof of work. Default: as fast as they are found. */
  readonly pace?: BlockPace | undefined
  /** Failback: how long a higher-priority node must be healthy before we return to it. Default: 60 s. */
  readonly failbackMs?: number | undefined
  /** Whether to submit found blocks to the other nodes too, if they accept blocks. Default: true. */
  readonly shareBlocks?: boolean | undefined
  /** Opens connections instead of TCP and TLS; for simulations. */
  readonly dial?: ConnectorFactory | undefined
}

/** A development network in this process. It ends with the miner. */
export interface EmbeddedSetup extends SoloMining {
  readonly kind: 'embedded'
  /** Without a difficulty, the first one matches the hashrate of this machine. */
  readonly network: {
    readonly graph: GraphName
    /** Intended time between blocks of a chain. */
    readonly blockDelayMs: number
    readonly difficulty: bigint | undefined
    readonly pow: boolean
    readonly forkEpoch: number | undefined
  }
}

/** Pools as the source. A pool pays its user and follows its blocks itself. */
export interface PoolsSetup extends StartPolicy {
  readonly kind: 'pools'
  /** In order of priority. */
  readonly pools: readonly [PoolAddress, ...PoolAddress[]]
  /** Limit of concurrent pool sessions for rigs. Default: 128. */
  readonly sessions?: number | undefined
  readonly trust: PoolTrust
  /** Failback: how long a higher-priority pool must be healthy before we return to it. Default: 60 s. */
  readonly failbackMs?: number | undefined
}

/** This machine as a rig of a fleet. The leader gives the work and names the paid account. */
export interface FleetRigSetup extends StartPolicy {
  readonly kind: 'fleet'
  readonly link: LinkSetup
  /** Name of the rig, for people. */
  readonly rig: string
  readonly state?: StateSetup | null
}

/** An external worker: a program of the user. */
export interface ExternalSearch {
  readonly kind: 'external'
  readonly command: string
}

/** A fleet of rigs on other machines. This process is its leader or a standby. */
export interface LeaderSearch {
  readonly kind: 'leader'
  /** An open connection to NATS. */
  readonly link: FleetLink
  /** Name of this process, for people. */
  readonly name: string
  /** JetStream replicas. Undefined keeps the current number, which is 1 for a new fleet. */
  readonly replicas?: number | undefined
}

/** The stratum server for rigs. */
export interface StratumSetup {
  readonly host: string
  readonly port: number
  /** Initial share difficulty in hashes, or null to choose it by the rig's agent. */
  readonly difficulty: number | null
  /** Paths of PEM files, or null for no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Address for newcut proxies of 256 rigs each, or null. */
  readonly proxies?: { readonly host: string; readonly port: number } | null
  /** Limit of connections from one IP address. */
  readonly perAddress: number
  /**
   * Folder for the share log (in `shares`) and the counter of server starts, which keeps headers unique across
   * restarts. Default: shares and accounts end with the process.
   */
  readonly state?: StateSetup | null
}

export interface HttpSetup {
  readonly host: string
  readonly port: number
  /** Fail if the port is unusable, instead of serving on one of the next nine, or mining without metrics. */
  readonly isRequired: boolean
  /** Bearer token of clients that may pause, resume and stop the miner; nobody may if undefined. */
  readonly token?: string | undefined
  /** Whether to serve the API of pool dashboards. Default: no. */
  readonly poolApi?: boolean | undefined
  /** Pinned certificate of the nodes, which the monitor APIs report. */
  readonly fingerprint?: string | undefined
  /** Configuration that clients may read and change; none if undefined. */
  readonly configuration?: Configuration | undefined
}
