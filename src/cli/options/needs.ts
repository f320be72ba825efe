/** The conditions under which options have an effect, and the reasons if they do not, for all commands. */
import type { OptionNeed } from './row.ts'

/** Why an option has no effect here. */
export interface Reason {
  readonly reason: string
  readonly hint?: string
}

/** The values that decide. Options that a command does not have are undefined. */
export interface Given {
  /** One, or several in order of priority. */
  readonly node?: string | readonly string[] | undefined
  readonly pool?: readonly string[] | undefined
  /** Servers of the fleet of a rig. */
  readonly fleet?: readonly string[] | undefined
  /** Servers of the fleet of a leader. */
  readonly nats?: readonly string[] | undefined
  readonly fingerprint?: string | undefined
  readonly engine?: string
  readonly gpu?: string
  readonly threads?: number
  readonly pace?: unknown
  readonly mine?: boolean
  readonly 'stratum-listen'?: unknown
  readonly http?: unknown
  readonly 'idle-only'?: boolean
  readonly 'log-level'?: string
  readonly wait?: boolean
  readonly pay?: boolean
  /** Node of a forked network. */
  readonly fork?: string | undefined
  readonly data?: string | undefined
  readonly watts?: number | undefined
  readonly 'tune-for'?: string
}

const LEADER = 'the leader of the fleet gives the work, and decides who is paid'
const POOL = 'a pool gives the work, and pays its user'
const EMBEDDED = 'without --node there is only the embedded network'

/** OptionNeed -> the reason why it is not met, or null if it is met. */
export const needs: Readonly<Record<OptionNeed, (given: Given) => Reason | null>> = {
  noFleet: ({ fleet }) => when(fleet !== undefined, LEADER),
  noPool: ({ pool }) => when(pool !== undefined, 'with --pool the pools give the work'),
  pool: ({ pool }) =>
    when(pool === undefined, 'it is for rigs behind a pool', 'add --pool stratum+tcp://USER@HOST:PORT'),
  blocks: ({ fleet, pool }) => when(fleet !== undefined, LEADER) ?? when(pool !== undefined, POOL),
  journal: ({ pool }) => when(pool !== undefined, POOL),
  peer: (given) => when(isEmbedded(given), EMBEDDED),
  several: (given) => whyOne(given),
  severalNodes: (given) => when(given.pool !== undefined, POOL) ?? whyOne(given),
  tls: (given) => whyNoTls(given),
  anyCertificate: ({ fingerprint }) =>
    when(fingerprint !== undefined, '--fingerprint decides which certificate is accepted'),
  embedded: ({ fleet, pool, node }) => {
    const forAnother = (option: string) => `it is for the embedded network, and ${option} mines for another`
    const hint = 'a node has its own; newcut devnet starts one with these options'
    if (fleet !== undefined) return { reason: forAnother('--fleet') }
    if (pool !== undefined) return { reason: forAnother('--pool') }
    return when(node !== undefined, forAnother('--node'), hint)
  },
  fleetRig: ({ fleet, nats }) =>
    when((fleet ?? nats) === undefined, 'it is for a rig of a fleet', 'add --fleet nats://HOST:4222'),
  natsTls: ({ fleet, nats }) => {
    const isTls = (fleet ?? nats ?? []).some((url) => /^tls:/i.test(url))
    return when(!isTls, 'the address of the NATS server does not use TLS', 'use a tls:// address')
  },
  own: ({ engine }) => when(engine === 'external', 'with --engine external the command searches'),
  threads: ({ threads }) => when(threads === 0, 'with --threads 0 no CPU thread searches'),
  gpu: ({ gpu }) => when(gpu === 'none', 'with --gpu none no GPU mines'),
  namedGpu: ({ gpu }) =>
    when(gpu === 'auto', '--gpu auto uses physical GPUs only', 'add --gpu all, or name the device'),
  external: ({ engine }) => when(engine !== 'external', 'it is for --engine external', 'add --engine external'),
  noPace: ({ pace, node, pool, fleet }) =>
    when(
      pace !== undefined && node !== undefined && (pool ?? fleet) === undefined,
      'with --pace a CPU thread finds the nonces',
    ),
  rigServer: ({ 'stratum-listen': address }) =>
    when(address == null, 'no rigs can connect', 'add --stratum-listen HOST:PORT'),
  page: ({ fleet, pool }) =>
    when(fleet !== undefined, 'the page mines for a node, and --fleet for the leader of a fleet') ??
    when(pool !== undefined, 'the page mines for a node, and --pool mines for a pool'),
  http: ({ http }) => when(http === null, 'with --http off nothing is served'),
  idle: ({ 'idle-only': isOn }) => when(isOn !== true, 'it is for --idle-only', 'add --idle-only'),
  sensors: ({ watts }) => when(watts !== undefined, '--watts states the whole power', 'give only one of the two'),
  tuned: ({ gpu, 'tune-for': aim }) => when(gpu === 'none' && aim !== 'efficiency', 'with --gpu none no GPU mines'),
  readEnergy: ({ watts, 'tune-for': aim }) =>
    when(
      aim === 'efficiency' && watts !== undefined,
      '--watts states the same power for all settings',
      'leave out --watts',
    ),
  mining: ({ mine }) => when(mine !== true, 'it is for --mine, which is not given'),
  requestLog: ({ 'log-level': level }) =>
    when(level === 'warn' || level === 'error', `--log-level ${level} leaves requests out`, 'use --log-level info'),
  paying: ({ pay }) => when(pay !== true, 'without --pay nothing is paid', 'add --pay'),
  forked: ({ fork, data }) => when(fork === undefined && data === undefined, 'nothing is forked', 'add --fork URL'),
  waiting: ({ wait }) => when(wait === false, 'with --no-wait newcut waits for no blocks'),
}

function when(isSo: boolean, reason: string, hint?: string): Reason | null {
  if (!isSo) return null
  return { reason, ...(hint !== undefined && { hint }) }
}

const isEmbedded = ({ node, pool, fleet, nats }: Given) => (node ?? pool ?? fleet ?? nats) === undefined

/** @returns the reason why there is no failover, or null if there are several nodes or pools. */
function whyOne(given: Given): Reason | null {
  const { fleet, pool, node } = given
  if (fleet !== undefined) return { reason: LEADER }
  if (pool !== undefined) return when(pool.length === 1, 'there is only one --pool')
  return when(isEmbedded(given), EMBEDDED) ?? when([node].flat().length === 1, 'there is only one --node')
}

function whyNoTls(given: Given): Reason | null {
  const { fleet, pool, node } = given
  if (fleet !== undefined) return { reason: LEADER, hint: 'for the NATS server, use --nats-ca' }
  if (pool !== undefined) {
    const isTls = pool.some((url) => /^stratum\+ssl:/i.test(url))
    return when(!isTls, 'no address of these pools uses TLS', 'use a stratum+ssl:// address')
  }
  if (isEmbedded(given)) return { reason: EMBEDDED }
  const urls = [node ?? []].flat()
  const isTls = urls.some((url) => url.startsWith('https:'))
  return when(!isTls, `${urls[0]} does not use TLS`, 'use an https:// address')
}
