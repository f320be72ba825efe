/** The setup of a miner: where work comes from, who is paid, and what searches. Commands make it from their options. */
import type { Configuration } from '../api/configuration.ts'
import type { SensorsOptions } from '../sensors/sensors.ts'
import type { ForkWish } from '../source/node/fork-wish.ts'
import type { PageMode } from './mine-page.ts'
import type { NodeSetup } from './node-setup.ts'
import type { PausingSetup } from './pausing.ts'
import type { Payee } from './payee.ts'
import type { EngineSetup } from './search/engines.ts'
import type { FleetRigSetup, PoolsSetup } from './source/reach.ts'
import type { StateSetup } from './state.ts'

export interface MinerSetup {
  readonly node: NodeSetup
  /** Addresses of further nodes of the network, in order of priority, for when `node` fails; they are trusted alike. */
  readonly others?: readonly string[]
  /** How long a node of higher priority has to be fit before it gives work again; default 60 s. */
  readonly failbackMs?: number | undefined
  /** Whether blocks that were found are given to the other nodes, those that take any; default: true. */
  readonly shareBlocks?: boolean | undefined
  readonly payee: Payee
  /** Pools that give the work; then no node does, and the payee is the pool's. */
  readonly pools?: PoolsSetup | undefined
  /** The fleet whose leader gives the work; then no node does, and the payee is the leader's. */
  readonly fleet?: FleetRigSetup | undefined
  readonly engines: EngineSetup
  /** null: metrics and summary are not served. */
  readonly http: HttpSetup | null
  /** The miner stops after this many accepted blocks, or this time; undefined: never by itself. */
  readonly limits: { readonly blocks?: number | undefined; readonly durationMs?: number | undefined }
  /** An update stream is reopened after this silence; 0: never; undefined: a time derived from the block delay. */
  readonly stallMs?: number | undefined
  /** How deep an accepted block has to lie before it is no longer looked for; default: 1, the head. */
  readonly confirmations?: number
  /** Where solutions are kept, so that none is lost when the process dies; default: nowhere. */
  readonly state?: StateSetup | null
  /** Chains to mine; undefined: all. */
  readonly chains?: readonly number[] | undefined
  /** How our work is to vote for forks; default: as the node does. */
  readonly forkWish?: ForkWish | undefined
  /** Blocks of an epoch that may vote, on a development network; default: as in all releases. */
  readonly forkEpoch?: number | undefined
  /** When the miner pauses by itself; default: never. */
  readonly pausing?: PausingSetup
  /** Where temperatures, fans and power are read; undefined: nowhere. */
  readonly sensors?: Pick<SensorsOptions, 'hwmon' | 'env'> | undefined
}

export interface HttpSetup {
  readonly host: string
  readonly port: number
  /** Whether it is an error when the port cannot be used; otherwise the miner goes on without metrics. */
  readonly isRequired: boolean
  /** Whether the page that mines is served too. */
  readonly page: PageMode
  /** The bearer token that lets a client pause, resume and stop the miner; undefined: nobody may. */
  readonly token?: string | undefined
  /** The only certificate of nodes that is accepted, to be told to monitors. */
  readonly fingerprint?: string | undefined
  /** The configuration that clients may read and change; undefined: none. */
  readonly configuration?: Configuration | undefined
}
