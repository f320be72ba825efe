/** The setup of a miner: where work comes from, who is paid, and what searches. Commands make it from their options. */
import type { Configuration } from '../api/configuration.ts'
import type { GraphName } from '../core/graph.ts'
import type { KernelPreference } from '../engine/cpu/names.ts'
import type { Priority } from '../engine/cpu/priority.ts'
import type { GpuEngineOptions } from '../engine/gpu/gpu.ts'
import type { Link, LinkSetup } from '../fleet/link.ts'
import type { Dial } from '../node/dial.ts'
import type { SensorsOptions } from '../sensors/sensors.ts'
import type { ForkWish } from '../source/node/fork-wish.ts'
import type { PoolAddress } from '../source/pool/address.ts'
import type { PoolTrust } from '../source/pool/connection.ts'
import type { PageMode } from './mine-page.ts'
import type { PausingSetup } from './pausing.ts'
import type { Payee } from './payee.ts'
import type { StateSetup } from './state.ts'

/** A setup that cannot be mined does not type-check. Rigs need work whose whole nonce is free: only nodes give that. */
export type MinerSetup = CommonSetup &
  (
    | {
        readonly source: NodesSetup | EmbeddedSetup
        /** `stratum`: rigs search beside the devices of this machine; undefined: none are let in. */
        readonly search: (OwnSearch | ExternalSearch) & { readonly stratum?: StratumSetup | undefined }
      }
    | { readonly source: NodesSetup; readonly search: LeaderSearch }
    | {
        readonly source: PoolsSetup | FleetRigSetup
        readonly search: (OwnSearch | ExternalSearch) & { readonly stratum?: undefined }
      }
  )

interface CommonSetup {
  /** null: metrics and summary are not served. */
  readonly http: HttpSetup | null
  /** The miner stops after this many accepted blocks, or this time; undefined: never by itself. */
  readonly limits: { readonly blocks?: number | undefined; readonly durationMs?: number | undefined }
  /** When the miner pauses by itself; default: never. */
  readonly pausing?: PausingSetup
  /** Where temperatures, fans and power are read; undefined: nowhere. */
  readonly sensors?: Pick<SensorsOptions, 'hwmon' | 'env'> | undefined
}

/** How a source is reached at the start. */
export interface Reaching {
  /** A peer that does not answer is an error; else it is waited for. */
  readonly failFast: boolean
  /** It is waited for at most so long; undefined: for ever. */
  readonly maxWaitMs?: number | undefined
}

/** Blocks of our own. */
interface Mined {
  readonly payee: Payee
  /** Chains to mine; undefined: all. */
  readonly chains?: readonly number[] | undefined
  /** An update stream is reopened after this silence; 0: never; undefined: a time derived from the block delay. */
  readonly stallMs?: number | undefined
  /** How deep an accepted block has to lie before it is no longer looked for; default: 1, the head. */
  readonly confirmations?: number
  /** How our work is to vote for forks; default: as the node does. */
  readonly forkWish?: ForkWish | undefined
  /** Blocks of an epoch that may vote, on a development network; default: as in all releases. */
  readonly forkEpoch?: number | undefined
  /** Where solutions are kept, so that none is lost when the process dies; default: nowhere. */
  readonly state?: StateSetup | null
  /** Whether the page that mines is served; default: off. */
  readonly page?: PageMode
}

/** How the certificate of a node is judged. */
export interface NodeTrust {
  /** Accept any TLS certificate. */
  readonly insecure: boolean
  /** SHA-256 of the only TLS certificate to accept. */
  readonly fingerprint?: string | undefined
  /** Certificates in PEM form: only these authorities may sign that of the node. */
  readonly ca?: string | undefined
}

export interface NodesSetup extends Reaching, Mined {
  readonly kind: 'nodes'
  /** `http://HOST:PORT`, in order of priority. */
  readonly urls: readonly [string, ...string[]]
  readonly trust: NodeTrust
  /** How long a node of higher priority has to be fit before it gives work again; default 60 s. */
  readonly failbackMs?: number | undefined
  /** Whether blocks that were found are given to the other nodes, those that take any; default: true. */
  readonly shareBlocks?: boolean | undefined
  /** Makes the connections in place of TCP and TLS, as simulations do. */
  readonly dial?: Dial | undefined
}

/** A development network in this process, which ends with the miner. */
export interface EmbeddedSetup extends Mined {
  readonly kind: 'embedded'
  /** Without a difficulty it begins at what this machine searches. */
  readonly network: {
    readonly graph: GraphName
    /** Intended time between blocks of a chain. */
    readonly blockDelayMs: number
    readonly difficulty: bigint | undefined
    readonly pow: boolean
    readonly forkEpoch: number | undefined
  }
}

/** Pools pay their user, and follow the blocks of its shares themselves. */
export interface PoolsSetup extends Reaching {
  readonly kind: 'pools'
  /** In order of priority. */
  readonly pools: readonly [PoolAddress, ...PoolAddress[]]
  readonly trust: PoolTrust
  /** How long a pool of higher priority has to be fit before it gives work again; default 60 s. */
  readonly failbackMs?: number | undefined
}

/** This machine as a rig of a fleet. Its leader gives the work, and says who is paid. */
export interface FleetRigSetup extends Reaching {
  readonly kind: 'fleet'
  readonly link: LinkSetup
  /** Its name, for people. */
  readonly rig: string
  readonly state?: StateSetup | null
}

/** The engines that newcut has. */
export interface OwnSearch {
  readonly kind: 'own'
  /** `auto`: a thread for each core, and one fewer when a GPU searches, since a core has to feed it. */
  readonly threads: number | 'auto'
  readonly kernel: KernelPreference
  readonly priority: Priority
  /** null: no GPU searches. */
  readonly gpu: GpuSetup | null
}

export interface GpuSetup {
  /** `auto`: real GPUs that can search this work, if there are any. Else `all`, or numbers and names with commas. */
  readonly which: string
  /** An option that the user gave and that only a GPU uses (`--gpu-workgroup`); null: none. */
  readonly neededBy: string | null
  readonly batchMs: number
  /** undefined: tuned. */
  readonly workgroup: number | undefined
  readonly allowSoftware: boolean
  readonly retune: boolean
  /** Where results of tuning are kept; null: nowhere. */
  readonly tuningFile: GpuEngineOptions['tuningFile']
}

/** A program of the user's own. */
export interface ExternalSearch {
  readonly kind: 'external'
  readonly command: string
}

/** Rigs on other machines; this process leads them, or stands by. */
export interface LeaderSearch {
  readonly kind: 'leader'
  /** Connected already. */
  readonly link: Link
  /** Where this process runs, for people. */
  readonly name: string
  /** How many servers of a cluster of NATS keep a copy; undefined: as it is, 1 for a new fleet. */
  readonly replicas?: number | undefined
}

/** The server for rigs that speak stratum. */
export interface StratumSetup {
  readonly host: string
  readonly port: number
  /** Hashes that first shares take on average; null: by the kind of the rig. */
  readonly difficulty: number | null
  /** Files in PEM form; null: no TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | null
  /** Most rigs that are connected from one address. */
  readonly perAddress: number
  /** The share log is in the folder `shares` within; default: shares and accounts end with the process. */
  readonly state?: StateSetup | null
}

export interface HttpSetup {
  readonly host: string
  readonly port: number
  /** Whether it is an error when the port cannot be used; otherwise the miner goes on without metrics. */
  readonly isRequired: boolean
  /** The bearer token that lets a client pause, resume and stop the miner; undefined: nobody may. */
  readonly token?: string | undefined
  /** The only certificate of nodes that is accepted, to be told to monitors. */
  readonly fingerprint?: string | undefined
  /** The configuration that clients may read and change; undefined: none. */
  readonly configuration?: Configuration | undefined
}
