/** The conditions under which options have an effect, and the reasons if they do not, for all commands. */
import { operatingError } from '#ground/base/errors.ts'
import { NO_WORK_IN_FORKS } from '#ground/schema/devnet-modes.ts'
import { cliErrors } from '../errors.ts'

/** Why an option has no effect here. */
interface Reason {
  readonly reason: string
  readonly hint?: string
}

/** The values that decide. Options that a command does not have are undefined. */
interface OptionContext {
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
  /** Address of a miner whose shares are paid. */
  readonly from?: unknown
  readonly scheme?: string
  readonly summary?: boolean
  readonly csv?: boolean
  readonly tap?: boolean
  readonly json?: boolean
  /** Request key of a transfer that continues. */
  readonly continue?: string | undefined
  readonly chain?: number | undefined
  readonly 'to-chain'?: number | undefined
  /** Request file. */
  readonly request?: string | undefined
  /** `contract` compares with a snapshot; `devnet` checks its data. */
  readonly check?: boolean
  readonly coverage?: boolean
  readonly mutate?: boolean
  readonly lcov?: string | undefined
  readonly 'coverage-min'?: unknown
  readonly verify?: boolean
  /** Port for clients to judge. */
  readonly serve?: number | undefined
}

const LEADER = 'the leader of the fleet gives the work, and decides who is paid'
const POOL = 'a pool gives the work, and pays its user'
/** Advice where no other option makes this one useful. */
const LEAVE_OUT = 'leave it out'
const EMBEDDED = 'without --node there is only the embedded network'

/** Need -> the reason why it is not met, or null if it is met. */
const needs = {
  noFleet: ({ fleet }) => reasonIf(fleet !== undefined, LEADER),
  noPool: ({ pool }) => reasonIf(pool !== undefined, 'with --pool the pools give the work'),
  pool: ({ pool }) =>
    reasonIf(pool === undefined, 'it is for rigs behind a pool', 'add --pool stratum+tcp://USER@HOST:PORT'),
  blocks: ({ fleet, pool }) => reasonIf(fleet !== undefined, LEADER) ?? reasonIf(pool !== undefined, POOL),
  journal: ({ pool }) => reasonIf(pool !== undefined, POOL),
  peer: (given) => reasonIf(isEmbedded(given), EMBEDDED),
  several: (given) => singleSourceReason(given),
  severalNodes: (given) => reasonIf(given.pool !== undefined, POOL) ?? singleSourceReason(given),
  tls: (given) => plainConnectionReason(given),
  anyCertificate: ({ fingerprint }) =>
    reasonIf(fingerprint !== undefined, '--fingerprint decides which certificate is accepted'),
  embeddedNetwork: ({ fleet, pool, node }) => {
    const forAnother = (option: string) => `it is for the embedded network, and ${option} mines for another`
    const hint = 'a node has its own; newcut devnet starts one with these options'
    if (fleet !== undefined) return { reason: forAnother('--fleet') }
    if (pool !== undefined) return { reason: forAnother('--pool') }
    return reasonIf(node !== undefined, forAnother('--node'), hint)
  },
  fleetRig: ({ fleet, nats }) =>
    reasonIf((fleet ?? nats) === undefined, 'it is for a rig of a fleet', 'add --fleet nats://HOST:4222'),
  natsTls: ({ fleet, nats }) => {
    const isTls = (fleet ?? nats ?? []).some((url) => /^tls:/i.test(url))
    return reasonIf(!isTls, 'the address of the NATS server does not use TLS', 'use a tls:// address')
  },
  ownSearch: ({ engine }) => reasonIf(engine === 'external', 'with --engine external the command searches'),
  threads: ({ threads }) => reasonIf(threads === 0, 'with --threads 0 no CPU thread searches'),
  gpu: ({ gpu }) => reasonIf(gpu === 'none', 'with --gpu none no GPU mines'),
  namedGpu: ({ gpu }) =>
    reasonIf(gpu === 'auto', '--gpu auto uses physical GPUs only', 'add --gpu all, or name the device'),
  external: ({ engine }) => reasonIf(engine !== 'external', 'it is for --engine external', 'add --engine external'),
  noPace: ({ pace, node, pool, fleet }) =>
    reasonIf(
      pace !== undefined && node !== undefined && (pool ?? fleet) === undefined,
      'with --pace a CPU thread finds the nonces',
    ),
  rigServer: ({ 'stratum-listen': address }) =>
    reasonIf(address == null, 'no rigs can connect', 'add --stratum-listen HOST:PORT'),
  page: ({ fleet, pool }) =>
    reasonIf(fleet !== undefined, 'the page mines for a node, and --fleet for the leader of a fleet') ??
    reasonIf(pool !== undefined, 'the page mines for a node, and --pool mines for a pool'),
  http: ({ http }) => reasonIf(http === null, 'with --http off nothing is served'),
  idle: ({ 'idle-only': isOn }) => reasonIf(isOn !== true, 'it is for --idle-only', 'add --idle-only'),
  sensors: ({ watts }) => reasonIf(watts !== undefined, '--watts states the whole power', 'give only one of the two'),
  gpuTuning: ({ gpu, 'tune-for': aim }) =>
    reasonIf(gpu === 'none' && aim !== 'efficiency', 'with --gpu none no GPU mines'),
  readEnergy: ({ watts, 'tune-for': aim }) =>
    reasonIf(
      aim === 'efficiency' && watts !== undefined,
      '--watts states the same power for all settings',
      'leave out --watts',
    ),
  mining: ({ mine }) => reasonIf(mine !== true, 'it is for --mine', 'add --mine'),
  requestLog: ({ 'log-level': level }) =>
    reasonIf(level === 'warn' || level === 'error', `--log-level ${level} leaves requests out`, 'use --log-level info'),
  paying: ({ pay }) => reasonIf(pay !== true, 'without --pay nothing is paid', 'add --pay'),
  forkSource: ({ fork, data }) =>
    reasonIf(fork === undefined && data === undefined, 'nothing is forked', 'add --fork URL'),
  waiting: ({ wait }) => reasonIf(wait === false, 'with --no-wait newcut waits for no blocks'),
  ownNetwork: ({ fork }) => reasonIf(fork !== undefined, NO_WORK_IN_FORKS),
  node: ({ check }) => reasonIf(check === true, '--check starts no node'),
  fromMiner: ({ from }) => reasonIf(from === undefined, 'it is for --from', 'add --from HOST:PORT'),
  noFleetShares: ({ fleet }) =>
    reasonIf(fleet !== undefined, 'with --fleet the shares come from the fleet', 'leave one of them out'),
  pplns: ({ scheme }) => reasonIf(scheme !== 'pplns', 'it is for --scheme pplns'),
  summary: ({ summary }) => reasonIf(summary !== true, 'it is for --summary', 'add --summary'),
  noSummary: ({ summary }) => reasonIf(summary === true, '--summary prints sums', '--json prints them too'),
  noCsv: ({ csv }) => reasonIf(csv === true, '--csv decides what is printed', 'leave one of them out'),
  noJson: ({ json }) => reasonIf(json === true, '--json prints everything', 'leave it out'),
  noTap: ({ tap }) => reasonIf(tap === true, '--tap decides what is printed', 'leave one of them out'),
  firstStep: ({ continue: key }) => reasonIf(key !== undefined, 'with --continue, the first step has fixed it'),
  crossing: ({ chain, 'to-chain': target = chain, continue: key }) =>
    reasonIf(key === undefined && target === chain, 'on one chain the sender pays', 'add --to-chain N'),
  noRequest: ({ request }) => reasonIf(request !== undefined, 'the file of --request has it'),
  comparing: ({ check }) => reasonIf(check !== true, 'it is for --check', 'add --check'),
  coverage: ({ coverage, lcov, 'coverage-min': least, mutate }) =>
    reasonIf(
      coverage !== true && mutate !== true && (lcov ?? least) === undefined,
      'no coverage is measured',
      'add --coverage',
    ),
  mutating: ({ mutate }) => reasonIf(mutate !== true, 'it is for --mutate', 'add --mutate'),
  noFaults: ({ mutate }) => reasonIf(mutate === true, '--mutate reports faults only', 'leave one of them out'),
  verifying: ({ verify }) => reasonIf(verify !== true, 'it is for --verify', 'add --verify'),
  ofNode: ({ serve }) => reasonIf(serve !== undefined, '--serve judges a client, not a node', 'leave one of them out'),
  serving: ({ serve }) => reasonIf(serve === undefined, 'a run against a node ends by itself', 'add --serve PORT'),
} satisfies Readonly<Record<string, (given: OptionContext) => Reason | null>>

/** A condition under which an option has an effect. */
export type OptionNeed = keyof typeof needs

/** The values of a command, and where each comes from. */
interface ResolvedOptions {
  readonly values: object
  readonly origins: ReadonlyMap<string, string>
}

/**
 * Refuses typed flags whose needs are not met. A file or the environment may set such an option, because they serve
 * several commands.
 * @param table a table of options
 * @throws NewcutError BAD_OPTION for the first one
 */
export function refuseWithoutEffect(table: object, { values, origins }: ResolvedOptions): void {
  for (const [name, row] of Object.entries(table as Readonly<Record<string, { needs?: readonly OptionNeed[] }>>)) {
    if (origins.get(name) !== 'flag') continue
    for (const need of row.needs ?? []) {
      const why = needs[need](values)
      if (why === null) continue
      const flag = (values as Readonly<Record<string, unknown>>)[name] === false ? `--no-${name}` : `--${name}`
      throw operatingError(cliErrors.noEffect, { flag, reason: why.reason, advice: why.hint ?? LEAVE_OUT })
    }
  }
}

function reasonIf(isSo: boolean, reason: string, hint?: string): Reason | null {
  if (!isSo) return null
  return { reason, ...(hint !== undefined && { hint }) }
}

const isEmbedded = ({ node, pool, fleet, nats }: OptionContext) => (node ?? pool ?? fleet ?? nats) === undefined

/** @returns the reason why there is no failover, or null if there are several nodes or pools. */
function singleSourceReason(given: OptionContext): Reason | null {
  const { fleet, pool, node } = given
  if (fleet !== undefined) return { reason: LEADER }
  if (pool !== undefined) return reasonIf(pool.length === 1, 'there is only one --pool')
  return reasonIf(isEmbedded(given), EMBEDDED) ?? reasonIf([node].flat().length === 1, 'there is only one --node')
}

function plainConnectionReason(given: OptionContext): Reason | null {
  const { fleet, pool, node } = given
  if (fleet !== undefined) return { reason: LEADER, hint: 'for the NATS server, use --nats-ca' }
  if (pool !== undefined) {
    const isTls = pool.some((url) => /^stratum\+ssl:/i.test(url))
    return reasonIf(!isTls, 'no address of these pools uses TLS', 'use a stratum+ssl:// address')
  }
  if (isEmbedded(given)) return { reason: EMBEDDED }
  const urls = [node ?? []].flat()
  const isTls = urls.some((url) => url.startsWith('https:'))
  return reasonIf(!isTls, `${urls[0]} does not use TLS`, 'use an https:// address')
}
