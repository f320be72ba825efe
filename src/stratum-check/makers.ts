/** How the rigs of each maker log in to a server, as far as that is known: what they send, and how strictly they read. */
import { rigRates } from '../stratum/rig-rates.ts'

export const makerNames = ['ka3', 'ka3-2023', 'goldshell', 'kd-box', 'ibelink', 'authorize-first', 'farm'] as const
export type MakerName = (typeof makerNames)[number]

/** A request that a rig sends; its id as it writes it. */
export interface RigRequest {
  readonly id: number | string | null
  readonly method: string
  readonly params: readonly unknown[]
}

export interface Maker {
  readonly name: MakerName
  /** As people call it. */
  readonly rig: string
  /** What its program calls itself; each further one is a second try on the same connection. */
  readonly agents: readonly string[]
  /** What it sends before all else. */
  readonly before: readonly RigRequest[]
  /** Parameters of `mining.subscribe`. */
  readonly subscribeParams: (agent: string) => readonly unknown[]
  readonly ids: { readonly subscribe: number | string; readonly authorize: number | string }
  readonly authorizesFirst: boolean
  /** Users on its connection: more than one at a proxy. */
  readonly users: number
  /** What it may ask once it mines; a server may refuse it, but has to stay. */
  readonly after: readonly RigRequest[]
  /** Whether it reads as the firmware of an Antminer does: ids, digits and sizes have to be right. */
  readonly isStrict: boolean
  /** It gives up a log-in without an answer for so long, and a server that is silent for so long. */
  readonly loginMs: number
  readonly silenceMs: number
  /** The fastest rig of this kind, in hashes a second; null: it may be any, and shares alone tell a server. */
  readonly rate: number | null
}

const rateOf = (name: string) => rigRates.find((each) => each.name === name)?.rate ?? 0

const plain = {
  before: [],
  subscribeParams: (agent: string): readonly unknown[] => [agent],
  ids: { subscribe: 1, authorize: 2 },
  authorizesFirst: false,
  users: 1,
  after: [],
  isStrict: false,
  loginMs: 60_000,
  silenceMs: 120_000,
}

const ka3 = {
  ...plain,
  subscribeParams: (agent: string) => [agent, null],
  isStrict: true,
  loginMs: 30_000,
  silenceMs: 60_000,
  rate: rateOf('Antminer KA3'),
}

/** In the manner of bfgminer, on which the program of Goldshell's rigs is built. */
const kdaminer = {
  ...plain,
  agents: ['kdaminer-v1.0.0'],
  ids: { subscribe: 0, authorize: 'auth' },
  rate: rateOf('KD Max'),
}

/** 2^44 hashes. */
const EASY_TARGET = `${'0'.repeat(11)}f${'f'.repeat(52)}`

export const makers: readonly Maker[] = [
  { ...ka3, name: 'ka3', rig: 'Antminer KA3, 2022', agents: ['GodMiner/2.0.0', 'ckbminer-v1.0.0'] },
  { ...ka3, name: 'ka3-2023', rig: 'Antminer KA3, 2023 on', agents: ['GodMiner/2.0.1', 'ckbminer-v1.0.0'] },
  {
    ...kdaminer,
    name: 'goldshell',
    rig: 'Goldshell KD5, KD6',
    before: [{ id: null, method: 'mining.suggest_target', params: [EASY_TARGET] }],
    after: [
      { id: 'xnsub', method: 'mining.extranonce.subscribe', params: [] },
      { id: 'txlist1', method: 'mining.get_transactions', params: ['1'] },
    ],
  },
  {
    ...kdaminer,
    name: 'kd-box',
    rig: 'Goldshell KD-BOX',
    // As one that comes back to a server.
    subscribeParams: (agent) => [agent, '00000001'],
    rate: rateOf('KD-BOX II'),
  },
  { ...plain, name: 'ibelink', rig: 'iBeLink BM-K1, BM-K3', agents: ['BM-K1'], rate: rateOf('BM-K3') },
  {
    ...plain,
    name: 'authorize-first',
    rig: 'one that authorizes first',
    agents: [''],
    subscribeParams: () => [],
    authorizesFirst: true,
    rate: null,
  },
  {
    ...plain,
    name: 'farm',
    rig: 'proxy of a farm, 3 users',
    agents: ['farm-proxy/1.0'],
    users: 3,
    rate: null,
  },
]

/** Who logs in. */
export interface RigLogin {
  readonly user: string
  readonly password: string
}

/** The users of a connection: the first, and for a proxy others of the same account. */
export function usersOf({ users }: Maker, { user }: RigLogin): string[] {
  const [account] = user.split('.')
  return Array.from({ length: users }, (_, index) => (index === 0 ? user : `${account}.check-${index + 1}`))
}
