/** Known behaviour of each maker's rigs: log-in, hashrate, timeouts. */
import { MAX_TARGET } from '../../src/ground/chain/target.ts'

export interface RigModel {
  readonly agent: string
  readonly hashrate: number
  /** Boards that share the hashrate. */
  readonly boards: number
  /** Hashes per header for all boards. Afterwards the same nonces repeat. */
  readonly space: number
  /** Interval at which a board accepts a header or target in milliseconds; 0 for at once. */
  readonly pushMs: number
  /** Minimum share difficulty in hashes, whatever the target. */
  readonly leastShare: number
  /** Silence after which the rig disconnects. */
  readonly silenceMs: number
  /** Lines before the subscription, and the parameters and ids of the log-in. */
  readonly before?: readonly string[]
  readonly subscribeParams?: readonly unknown[]
  readonly ids?: readonly [subscribe: unknown, authorize: unknown]
  /** Further users on the connection of a proxy. */
  readonly users?: number
  /** Additional parameters of a share. */
  readonly extra?: readonly unknown[]
}

const FREE_SPACE = 2 ** 48
const TERA = 1e12
const MODEL = { boards: 1, space: FREE_SPACE, pushMs: 0, leastShare: 2 ** 32, silenceMs: 120_000 }
const KA3_RATE = 166 * TERA
const KA3_PUSH_MS = 11.67
const KA3_COUNTER = 256

const ka3 = {
  ...MODEL,
  agent: 'GodMiner/2.0.0',
  hashrate: KA3_RATE,
  leastShare: 2 ** 40,
  silenceMs: 60_000,
  boards: 3,
  pushMs: KA3_PUSH_MS,
  // The boards share the counter, so a header lasts for a second.
  space: (KA3_RATE * KA3_COUNTER * KA3_PUSH_MS) / 1000 / 3,
} satisfies RigModel

/** A Goldshell rig. Some firmware adds the chain to a share, as text or number. */
const goldshell = (tera: number, chain: unknown) =>
  ({ ...MODEL, agent: 'kdaminer-v1.0.0', hashrate: tera * TERA, extra: [chain] }) satisfies RigModel

/** An iBeLink rig, which omits the null in subscribe. */
const ibelink = (agent: string, tera: number) =>
  ({ ...MODEL, agent, hashrate: tera * TERA, subscribeParams: [agent] }) satisfies RigModel

export const models = {
  ka3,
  /** A KA3 with the firmware of 2023. */
  ka3b: { ...ka3, agent: 'GodMiner/2.0.1' },
  kdbox: goldshell(1.6, '0'),
  kd6: goldshell(29.2, 7),
  kdmax: goldshell(40.2, 7),
  bmk1: ibelink('BM-K1', 5.3),
  bmk3: ibelink('BM-K3', 70),
  bfgminer: {
    ...MODEL,
    agent: 'bfgminer/5.4.2',
    hashrate: 5 * TERA,
    before: [`{"id":null,"method":"mining.suggest_target","params":["${(MAX_TARGET >> 44n).toString(16)}"]}`],
    ids: [0, 'auth'],
    subscribeParams: ['bfgminer/5.4.2'],
  },
  /** 100 Goldshell rigs behind one connection. */
  farm: { ...MODEL, agent: 'farm-proxy/1.0', hashrate: 160 * TERA, users: 99 },
  /** A KA3 with an unknown agent whose chips report easier hashes. */
  unknown: { ...ka3, agent: 'miner/1.0', leastShare: 2 ** 32 },
} satisfies Record<string, RigModel>

export type ModelName = keyof typeof models
export const modelNames = Object.keys(models) as ModelName[]
export const isModelName = (name: string): name is ModelName => Object.hasOwn(models, name)
