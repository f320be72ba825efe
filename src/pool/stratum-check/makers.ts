/** Log-in behaviour of each maker's rigs, as far as it is known: their requests, and how strictly they read. */
import { rigRates } from '#mining/stratum/rig-rates.ts'
import { type MakerName, makerRigs } from './maker-rigs.ts'

/** A request of a rig, with the id exactly as it sends it. */
export interface RigRequest {
  readonly id: number | string | null
  readonly method: string
  readonly params: readonly unknown[]
}

export interface Manufacturer {
  readonly name: MakerName
  /** Name for people. */
  readonly rig: string
  /** Agent names. Each further one is a second attempt on the same connection. */
  readonly agents: readonly string[]
  /** Requests before all others. */
  readonly before: readonly RigRequest[]
  /** Parameters of `mining.subscribe`. */
  readonly subscribeParams: (agent: string) => readonly unknown[]
  readonly ids: { readonly subscribe: number | string; readonly authorize: number | string }
  readonly authorizesFirst: boolean
  /** Number of users on the connection; more than one at a proxy. */
  readonly users: number
  /** Requests that it may send once it mines. A server may refuse them, but must not close the connection. */
  readonly after: readonly RigRequest[]
  /** Whether it reads as strictly as Antminer firmware: ids, digits and sizes have to be right. */
  readonly isStrict: boolean
  /** Timeout for the answers of the log-in, and for a silent server. */
  readonly loginMs: number
  readonly silenceMs: number
  /** Hashrate of the fastest rig of this kind in hashes per second. Null if it may be any rig. */
  readonly rate: number | null
}

const rateOf = (name: string) => rigRates.find((each) => each.name === name)?.rate ?? 0

const makerNamed = (name: MakerName) => ({ name, rig: makerRigs[name] })

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

/** Like bfgminer, the base of the firmware in Goldshell rigs. */
const kdaminer = {
  ...plain,
  agents: ['kdaminer-v1.0.0'],
  ids: { subscribe: 0, authorize: 'auth' },
  rate: rateOf('KD Max'),
}

/** 2^44 hashes. */
const EASY_TARGET = `${'0'.repeat(11)}f${'f'.repeat(52)}`

export const makers: readonly Manufacturer[] = [
  { ...ka3, ...makerNamed('ka3'), agents: ['GodMiner/2.0.0', 'ckbminer-v1.0.0'] },
  { ...ka3, ...makerNamed('ka3-2023'), agents: ['GodMiner/2.0.1', 'ckbminer-v1.0.0'] },
  {
    ...kdaminer,
    ...makerNamed('goldshell'),
    before: [{ id: null, method: 'mining.suggest_target', params: [EASY_TARGET] }],
    after: [
      { id: 'xnsub', method: 'mining.extranonce.subscribe', params: [] },
      { id: 'txlist1', method: 'mining.get_transactions', params: ['1'] },
    ],
  },
  {
    ...kdaminer,
    ...makerNamed('kd-box'),
    // As a rig that reconnects.
    subscribeParams: (agent) => [agent, '00000001'],
    rate: rateOf('KD-BOX II'),
  },
  { ...plain, ...makerNamed('ibelink'), agents: ['BM-K1'], rate: rateOf('BM-K3') },
  {
    ...plain,
    ...makerNamed('authorize-first'),
    agents: [''],
    subscribeParams: () => [],
    authorizesFirst: true,
    rate: null,
  },
  {
    ...plain,
    ...makerNamed('farm'),
    agents: ['farm-proxy/1.0'],
    users: 3,
    rate: null,
  },
]

/** Credentials of a rig. */
export interface RigLogin {
  readonly user: string
  readonly password: string
}

/** Users of a connection: the first, and for a proxy further ones of the same account. */
export function usersOf({ users }: Manufacturer, { user }: RigLogin): string[] {
  const [account] = user.split('.')
  return Array.from({ length: users }, (_, index) => (index === 0 ? user : `${account}.check-${index + 1}`))
}
