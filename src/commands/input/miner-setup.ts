/** Turns the options of `newcut mine` into those of compose/miner.ts. */

import { join } from 'node:path'
import { checkPayee, type Payee } from '#compose/payee.ts'
import type { EmbeddedSetup, ExternalSearch, MinerSetup, NodesSetup, PoolsSetup, StratumSetup } from '#compose/setup.ts'
import type { StateSetup } from '#compose/state.ts'
import type { Config } from '#faces/cli/config.ts'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import type { MineConfig } from '#faces/cli/live-options.ts'
import type { leadOptions } from '#faces/cli/options/lead.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import type { BlockPace } from '#ground/schema/devnet-modes.ts'
import { cacheFolder, tuningFileOf } from '#mining/engine/cache-folder.ts'
import { stateFolder } from '#mining/journal/folder.ts'
import { HWMON_FOLDER } from '#mining/sensors/hwmon.ts'
import { POWERCAP_FOLDER } from '#mining/sensors/powercap.ts'
import { readPoolAddress } from '#mining/source/pool/address.ts'
import type { EfficiencySetup, GpuSetup, OwnSearch } from '#mining/tune/own-search.ts'
import { readAuthorities } from './authorities.ts'
import { commandErrors } from './errors.ts'
import { linkSetup, machineName } from './fleet-setup.ts'
import { pricesOf } from './prices.ts'

type NodesValues = Omit<
  Config<typeof leadOptions>['values'],
  'nats' | 'nats-replicas' | 'nats-domain' | 'node' | 'state'
>

/**
 * The miner of these options.
 * @throws NewcutError BAD_OPTION for an external engine without a command, and for unusable authorities and
 *  certificates
 */
export function setupOf(
  config: MineConfig,
  environment: ProcessEnvironment,
  networks: readonly NetworkDefinition[] = [],
): MinerSetup {
  const { values } = config
  const served = commonSetup(config)
  const common = {
    ...served,
    http: served.http && { ...served.http, poolApi: values['pool-api'] },
    pausing: { schedule: values.schedule, idleLimit: values['idle-only'] ? values['idle-limit'] / 100 : undefined },
    power: { watts: values.watts, baseWatts: values['watts-base'] },
    sensors: { hwmon: HWMON_FOLDER, powercap: POWERCAP_FOLDER, env: environment },
  }
  const search = searchOf(config, environment)
  const { fleet, pool, node } = values
  const reaching = { failFast: values['fail-fast'], maxWaitMs: values.duration }
  if (fleet !== undefined) {
    const link = linkSetup(values, fleet)
    const state = stateSetup(values, environment)
    const source = { kind: 'fleet', ...reaching, link, rig: values.rig ?? machineName(), state } as const
    return { ...common, search: { ...search, stratum: stratumSetup(values, state) }, source }
  }
  if (pool !== undefined) {
    const pools = nonEmpty(pool.map(readPoolAddress))
    const ca = readAuthorities(
      values,
      pools.some(({ tls }) => tls),
    )
    const trust = { insecure: values.insecure, fingerprint: values.fingerprint, ca }
    const sessions = values['pool-sessions']
    const source: PoolsSetup = { kind: 'pools', ...reaching, pools, trust, failbackMs: values.failback, sessions }
    // The pool keeps the shares.
    return { ...common, search: { ...search, stratum: stratumSetup(values, null) }, source }
  }
  const pace = paceOf(values)
  const mined = { ...minedSetup(values), page: values['mine-page'], state: stateSetup(values, environment) }
  const source: NodesSetup | EmbeddedSetup =
    node === undefined
      ? { kind: 'embedded', network: networkSettings(values), ...mined }
      : { ...nodesSetup(values, node, networks), ...mined, pace }
  // With a pace, rigs would find no work most of the time.
  const stratum = pace === undefined ? stratumSetup(values, mined.state) : undefined
  const http = common.http && { ...common.http, isRequired: common.http.isRequired || pace?.kind === 'on-demand' }
  return { ...common, http, source, search: { ...search, stratum } }
}

/** @throws NewcutError for options that no miner can start with, as setupOf does, and for a payee without an account */
export function checkMinerOptions(config: MineConfig, environment: ProcessEnvironment): void {
  const { source } = setupOf(config, environment)
  if ('payee' in source) checkPayee(source.payee)
}

/**
 * The pace at a node.
 * @throws NewcutError BAD_OPTION for blocks on demand without an address for the orders
 */
function paceOf({ pace, node, pool, fleet, http }: MineConfig['values']): BlockPace | undefined {
  // A file may set both for several commands.
  if (node === undefined || (pool ?? fleet) !== undefined) return undefined
  if (pace?.kind === 'on-demand' && http === null) {
    throw operatingError(commandErrors.paceWithoutHttp)
  }
  return pace
}

/**
 * The HTTP server, the limits and the prices of a miner or leader.
 * @throws NewcutError BAD_OPTION for two currencies
 */
export function commonSetup({
  values: { http, fingerprint, blocks, duration: durationMs, 'http-token': token, ...values },
  origins,
}: Pick<Config<unknown>, 'origins'> & { readonly values: NodesValues }): Pick<
  MinerSetup,
  'http' | 'limits' | 'prices'
> {
  return {
    // Mining continues if the default port is taken. An address of the user must work.
    http: http === null ? null : { ...http, isRequired: origins.get('http') !== 'default', token, fingerprint },
    limits: { blocks, durationMs },
    prices: pricesOf(values),
  }
}

/**
 * The nodes of a miner or a leader.
 * @throws NewcutError for unusable authorities
 */
export function nodesSetup(
  values: NodesValues,
  nodes: readonly string[],
  networks: readonly NetworkDefinition[],
): NodesSetup {
  const ca = readAuthorities(values, tlsNode(nodes).startsWith('https:'))
  return {
    kind: 'nodes',
    urls: nonEmpty(nodes),
    trust: { insecure: values.insecure, fingerprint: values.fingerprint, ca },
    networks,
    failFast: values['fail-fast'],
    maxWaitMs: values.duration,
    failbackMs: values.failback,
    shareBlocks: values['share-blocks'],
    ...minedSetup(values),
  }
}

/** An embedded network of these options. */
function networkSettings(values: MineConfig['values']) {
  return {
    graph: values.graph,
    blockDelayMs: values['block-delay'],
    difficulty: values.difficulty,
    pow: values.pow,
    forkEpoch: values['fork-epoch'],
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

/** By default, the journal keeps solutions for a node, but not for an embedded network, which ends with the miner. */
function stateSetup(
  { state, node, fleet, 'fleet-name': name }: MineConfig['values'],
  environment: ProcessEnvironment,
): StateSetup | null {
  if (fleet !== undefined) return stateSetupOf(state, environment, `fleet-${name}`)
  return state === undefined && node === undefined ? null : stateSetupOf(state, environment)
}

/** `part`: a folder in the default folder. */
export function stateSetupOf(state: string | undefined, environment: ProcessEnvironment, part = ''): StateSetup | null {
  if (state === 'off') return null
  if (state !== undefined) return { folder: state, isRequired: true }
  return { folder: join(stateFolder(environment, process.platform), part), isRequired: false }
}

function payeeOf(values: Pick<MineConfig['values'], 'account' | 'predicate' | 'public-key'>): Payee {
  const { account = null, predicate, 'public-key': publicKeys = null } = values
  return { account, predicate, publicKeys }
}

function searchOf(config: MineConfig, environment: ProcessEnvironment): OwnSearch | ExternalSearch {
  const { values, origins } = config
  const { engine, command, kernel, priority } = values
  if (engine !== 'external') {
    const isPaced = paceOf(values) !== undefined
    const usual = isPaced ? 1 : 'auto'
    const threads = origins.get('threads') === 'default' ? usual : values.threads
    if (isPaced) return { kind: 'own', threads, kernel, priority, gpu: null }
    const efficiency = efficiencySetup(config, environment)
    return { kind: 'own', threads, kernel, priority, gpu: gpuSetup(config, environment), efficiency }
  }
  if (command !== undefined) return { kind: 'external', command }
  throw operatingError(commandErrors.missingCommand)
}

function efficiencySetup(
  { values, origins }: MineConfig,
  environment: ProcessEnvironment,
): EfficiencySetup | undefined {
  if (values['tune-for'] === 'speed') return undefined
  const file = join(cacheFolder(environment, process.platform), 'efficiency-tuning.json')
  return { file, retune: values.retune, isBatchFree: origins.get('gpu-batch-ms') === 'default' }
}

/** @throws NewcutError BAD_OPTION for a certificate without its key, or a key without its certificate */
function stratumSetup(values: MineConfig['values'], state: StateSetup | null): StratumSetup | undefined {
  const address = values['stratum-listen'] ?? null
  if (address === null) return undefined
  const { 'stratum-difficulty': difficulty, 'stratum-tls-cert': cert, 'stratum-tls-key': key } = values
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? '--stratum-tls-cert' : '--stratum-tls-key'
    throw operatingError(commandErrors.missingTlsHalf, { flag: missing })
  }
  const tls = cert === undefined || key === undefined ? null : { cert, key }
  const first = difficulty === undefined ? null : Number(difficulty)
  const perAddress = values['stratum-per-address']
  const proxies = values['stratum-proxy-listen'] ?? null
  return { ...address, difficulty: first, tls, proxies, perAddress, state }
}

function gpuSetup({ values, origins }: MineConfig, environment: ProcessEnvironment): GpuSetup | null {
  if (values.gpu === 'none') return null
  const forGpu = ['gpu-workgroup', 'gpu-batch-ms', ...(values['tune-for'] === 'speed' ? ['retune'] : [])]
  const needing = forGpu.find((name) => origins.get(name) === 'flag')
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

/** The first address with TLS, if there is one. */
const tlsNode = (nodes: readonly string[]) => nodes.find((url) => url.startsWith('https:')) ?? nodes[0]
