/** Turns the options of `newcut mine` into those of compose/miner.ts. */
import { join } from 'node:path'
import type { Config } from '../cli/config.ts'
import type { Environment } from '../cli/line.ts'
import type { leadOptions, mineOptions } from '../cli/options.ts'
import type { Payee } from '../compose/payee.ts'
import type {
  EmbeddedSetup,
  ExternalSearch,
  GpuSetup,
  MinerSetup,
  NodesSetup,
  OwnSearch,
  StratumSetup,
} from '../compose/setup.ts'
import type { StateSetup } from '../compose/state.ts'
import { NewcutError } from '../core/errors.ts'
import { tuningFileOf } from '../engine/cache-folder.ts'
import { stateFolder } from '../journal/folder.ts'
import { HWMON_FOLDER } from '../sensors/hwmon.ts'
import { readPoolAddress } from '../source/pool/address.ts'
import { givenAuthorities } from './authorities.ts'
import { type Idle, idleForTls, refuseIdle } from './effect.ts'
import { idleForNats, linkSetup, machineName } from './fleet-setup.ts'
import { networkSettings } from './network.ts'

type MineConfig = Config<typeof mineOptions>
type NodesValues = Omit<
  Config<typeof leadOptions>['values'],
  'nats' | 'nats-replicas' | 'nats-domain' | 'node' | 'state'
>

/**
 * The miner of these options. Throws NewcutError BAD_OPTION for an external engine without a command, and for authorities
 * and certificates that cannot be used.
 */
export function setupOf(config: MineConfig, environment: Environment): MinerSetup {
  const { values } = config
  const common = {
    ...commonSetup(config),
    pausing: { schedule: values.schedule, idleLimit: values['idle-only'] ? values['idle-limit'] / 100 : undefined },
    sensors: { hwmon: HWMON_FOLDER, env: environment },
  }
  const search = searchOf(config, environment)
  const { fleet, pool, node } = values
  const reaching = { failFast: values['fail-fast'], maxWaitMs: values.duration }
  if (fleet !== undefined) {
    const link = linkSetup(values, fleet)
    const state = stateSetup(values, environment)
    return { ...common, search, source: { kind: 'fleet', ...reaching, link, rig: values.rig ?? machineName(), state } }
  }
  if (pool !== undefined) {
    const pools = nonEmpty(pool.map(readPoolAddress))
    const ca = givenAuthorities(
      values,
      pools.some(({ tls }) => tls),
    )
    const trust = { insecure: values.insecure, fingerprint: values.fingerprint, ca }
    return { ...common, search, source: { kind: 'pools', ...reaching, pools, trust, failbackMs: values.failback } }
  }
  const mined = { ...minedSetup(values), page: values['mine-page'], state: stateSetup(values, environment) }
  const source: NodesSetup | EmbeddedSetup =
    node === undefined
      ? { kind: 'embedded', network: networkSettings(values), ...mined }
      : { ...nodesSetup(values, node), ...mined }
  return { ...common, source, search: { ...search, stratum: stratumSetup(values) } }
}

/** What a miner and the leader of a fleet have alike: what is served, and when it ends. */
export function commonSetup({
  values: { http, fingerprint, blocks, duration: durationMs, 'http-token': token },
  origins,
}: Pick<Config<unknown>, 'origins'> & { readonly values: NodesValues }): Pick<MinerSetup, 'http' | 'limits'> {
  return {
    // Mining goes on when the default port is taken, but not when an address that the user gave is.
    http: http === null ? null : { ...http, isRequired: origins.get('http') !== 'default', token, fingerprint },
    limits: { blocks, durationMs },
  }
}

/** The nodes of a miner or a leader. Throws NewcutError for authorities that cannot be used. */
export function nodesSetup(values: NodesValues, nodes: readonly string[]): NodesSetup {
  const ca = givenAuthorities(values, tlsNode(nodes).startsWith('https:'))
  return {
    kind: 'nodes',
    urls: nonEmpty(nodes),
    trust: { insecure: values.insecure, fingerprint: values.fingerprint, ca },
    failFast: values['fail-fast'],
    maxWaitMs: values.duration,
    failbackMs: values.failback,
    shareBlocks: values['share-blocks'],
    ...minedSetup(values),
  }
}

function minedSetup(values: NodesValues) {
  return {
    payee: payeeOf(values),
    chains: values.chains,
    stallMs: values.stall,
    confirmations: values.confirmations,
    forkWish: values['fork-vote'],
    forkEpoch: values['fork-epoch'],
  }
}

function nonEmpty<T>(list: readonly T[]): readonly [T, ...T[]] {
  const [first, ...others] = list
  if (first === undefined) throw new Error('an option with at least one value has none')
  return [first, ...others]
}

/** By default solutions for a node are kept; an embedded network ends with the miner. */
function stateSetup(
  { state, node, fleet, 'fleet-name': name }: MineConfig['values'],
  environment: Environment,
): StateSetup | null {
  if (fleet !== undefined) return keptState(state, environment, `fleet-${name}`)
  return state === undefined && node === undefined ? null : keptState(state, environment)
}

/** `part`: folder within the usual one. */
export function keptState(state: string | undefined, environment: Environment, part = ''): StateSetup | null {
  if (state === 'off') return null
  if (state !== undefined) return { folder: state, isRequired: true }
  return { folder: join(stateFolder(environment, process.platform), part), isRequired: false }
}

function payeeOf(values: Pick<MineConfig['values'], 'account' | 'predicate' | 'public-key'>): Payee {
  const { account = null, predicate, 'public-key': publicKeys = null } = values
  return { account, predicate, publicKeys }
}

function searchOf(config: MineConfig, environment: Environment): OwnSearch | ExternalSearch {
  const { values, origins } = config
  const { engine, command, kernel, priority } = values
  if (engine !== 'external') {
    const threads = origins.get('threads') === 'default' ? 'auto' : values.threads
    return { kind: 'own', threads, kernel, priority, gpu: gpuSetup(config, environment) }
  }
  if (command !== undefined) return { kind: 'external', command }
  throw new NewcutError('BAD_OPTION', '--engine external needs --command', {
    hint: "for example --command 'newcut solve'",
  })
}

/** Throws NewcutError BAD_OPTION for a certificate without its key, or a key without its certificate. */
function stratumSetup(values: MineConfig['values']): StratumSetup | undefined {
  const address = values['stratum-listen'] ?? null
  if (address === null) return undefined
  const { 'stratum-difficulty': difficulty, 'stratum-tls-cert': cert, 'stratum-tls-key': key } = values
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? '--stratum-tls-cert' : '--stratum-tls-key'
    throw new NewcutError('BAD_OPTION', `${missing} is missing: TLS needs a certificate and its key`, {
      hint: 'give both, or neither for no TLS',
    })
  }
  const tls = cert === undefined || key === undefined ? null : { cert, key }
  const perAddress = values['stratum-per-address']
  return { ...address, difficulty: difficulty === undefined ? null : Number(difficulty), tls, perAddress }
}

function gpuSetup({ values, origins }: MineConfig, environment: Environment): GpuSetup | null {
  if (values.gpu === 'none') return null
  const needing = ['gpu-workgroup', 'gpu-batch-ms', 'retune'].find((name) => origins.get(name) === 'flag')
  return {
    which: values.gpu,
    neededBy: needing === undefined ? null : `--${needing}`,
    batchMs: values['gpu-batch-ms'],
    workgroup: values['gpu-workgroup'],
    allowSoftware: values['allow-software'],
    retune: values.retune,
    tuningFile: tuningFileOf(environment, process.platform),
  }
}

/** Throws NewcutError BAD_OPTION for flags that contradict each other or have no effect. */
export function checkMineFlags(config: MineConfig): void {
  refuseIdle(config, [
    ...idleForOrigin(config),
    ...idleForEngine(config),
    ...idleForRigs(config),
    ...idleForHttp(config),
    ...idleForLoad(config),
  ])
}

/** Nodes, pools or the leader of a fleet. */
function idleForOrigin(config: MineConfig): Idle[] {
  const { fleet, pool } = config.values
  if (fleet !== undefined) return idleForFleet(config)
  const rig: Idle = { names: RIG_OPTIONS, reason: 'it is for a rig of a fleet', hint: 'add --fleet nats://HOST:4222' }
  return [rig, ...(pool === undefined ? idleForNode(config) : idleForPool(config))]
}

const RIG_OPTIONS = ['rig', 'fleet-name', 'nats-creds', 'nats-ca', 'nats-cert', 'nats-key']

function idleForFleet({ values: { node, pool, fleet = [] } }: MineConfig): Idle[] {
  const reason = 'the leader of the fleet gives the work, and says who is paid'
  const idle: Idle[] = [
    { names: [...NODE_OPTIONS.filter((name) => name !== 'state'), 'failback'], reason },
    { names: ['insecure', 'ca', 'fingerprint'], reason, hint: 'for the NATS server there is --nats-ca' },
    { names: EMBEDDED_OPTIONS, reason: 'it is for the embedded network, and --fleet mines for another' },
    { names: ['mine-page'], reason: 'the page mines for a node, and --fleet for the leader of a fleet' },
    { names: ['stratum-listen', ...RIG_SERVER_OPTIONS], reason: FLEET_NONCE },
    ...idleForNats(fleet),
  ]
  if (node !== undefined) idle.push({ names: ['node'], reason })
  if (pool !== undefined) idle.push({ names: ['pool'], reason })
  return idle
}

const RIG_SERVER_OPTIONS = ['stratum-difficulty', 'stratum-per-address', 'stratum-tls-cert', 'stratum-tls-key']
const FLEET_NONCE = 'the leader of a fleet keeps the part of the nonce by which stratum rigs are told apart'

function idleForLoad({ values }: MineConfig): Idle[] {
  const hint = 'add --idle-only'
  return values['idle-only'] ? [] : [{ names: ['idle-limit'], reason: 'it is for --idle-only', hint }]
}

function idleForRigs({ values: { 'stratum-listen': address = null, pool } }: MineConfig): Idle[] {
  if (address !== null) {
    const reason = 'a pool keeps the part of the nonce by which rigs are told apart'
    return pool === undefined ? [] : [{ names: ['stratum-listen'], reason }]
  }
  return [{ names: RIG_SERVER_OPTIONS, reason: 'no rigs are let in', hint: 'add --stratum-listen HOST:PORT' }]
}

function idleForHttp({ values: { http } }: MineConfig): Idle[] {
  return http === null ? [{ names: ['mine-page', 'http-token'], reason: 'with --http off nothing is served' }] : []
}

/** One that is spoken to with TLS, if any is. */
const tlsNode = (nodes: readonly string[]) => nodes.find((url) => url.startsWith('https:')) ?? nodes[0]

/** What nodes are asked, and pools are not. */
const NODE_OPTIONS = [
  ...['account', 'public-key', 'predicate', 'chains', 'share-blocks', 'confirmations', 'state', 'stall'],
  ...['fork-vote', 'fork-epoch'],
]
const EMBEDDED_OPTIONS = ['graph', 'block-delay', 'difficulty', 'pow']

function idleForPool({ values: { node, pool = [], fingerprint } }: MineConfig): Idle[] {
  const idle: Idle[] = [
    { names: NODE_OPTIONS, reason: 'a pool gives the work, and pays its user' },
    { names: EMBEDDED_OPTIONS, reason: 'it is for the embedded network, and --pool mines for another' },
    { names: ['mine-page'], reason: 'the page mines for a node, and --pool mines for a pool' },
  ]
  if (node !== undefined) idle.push({ names: ['node'], reason: 'with --pool the pools give the work' })
  if (pool.length === 1) idle.push({ names: ['failback'], reason: 'there is only one --pool' })
  if (!pool.some((url) => /^stratum\+ssl:/i.test(url))) {
    const hint = 'use a stratum+ssl:// address'
    idle.push({ names: ['insecure', 'ca', 'fingerprint'], reason: 'there is no TLS on these pools', hint })
  }
  if (fingerprint !== undefined) {
    idle.push({ names: ['insecure', 'ca'], reason: '--fingerprint decides which certificate is accepted' })
  }
  return idle
}

function idleForNode({ values: { node, fingerprint } }: MineConfig): Idle[] {
  if (node === undefined) {
    const reason = 'without --node there is only the embedded network'
    return [{ names: ['insecure', 'ca', 'fingerprint', 'fail-fast', 'failback', 'share-blocks'], reason }]
  }
  const idle: Idle[] =
    node.length > 1 ? [] : [{ names: ['failback', 'share-blocks'], reason: 'there is only one --node' }]
  return [
    ...idle,
    {
      names: ['graph', 'block-delay', 'difficulty', 'pow'],
      reason: 'it is for the embedded network, and --node mines for another',
      hint: 'a node has its own; newcut devnet starts one with these options',
    },
    ...idleForTls(tlsNode(node), fingerprint),
  ]
}

const CPU_OPTIONS = ['threads', 'kernel', 'priority']
const GPU_OPTIONS = ['gpu-batch-ms', 'gpu-workgroup', 'allow-software', 'retune']

function idleForEngine({ values: { engine, gpu, threads } }: MineConfig): Idle[] {
  if (engine === 'external') {
    return [{ names: [...CPU_OPTIONS, 'gpu', ...GPU_OPTIONS], reason: 'with --engine external the command searches' }]
  }
  const idle: Idle[] = [{ names: ['command'], reason: 'it is for --engine external', hint: 'add --engine external' }]
  if (gpu === 'none') idle.push({ names: GPU_OPTIONS, reason: 'with --gpu none no GPU mines' })
  if (gpu === 'auto') {
    const reason = '--gpu auto takes real GPUs only'
    idle.push({ names: ['allow-software'], reason, hint: 'add --gpu all, or name the device' })
  }
  if (threads === 0) idle.push({ names: ['kernel', 'priority'], reason: 'with --threads 0 no CPU thread searches' })
  return idle
}
