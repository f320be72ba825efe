/** Turns the options of `newcut mine` into those of compose/miner.ts. */
import type { Config } from '../cli/config.ts'
import type { mineOptions } from '../cli/options.ts'
import type { EngineSetup, GpuSetup, RigsSetup } from '../compose/engines.ts'
import type { MinerSetup } from '../compose/miner.ts'
import type { Payee } from '../compose/payee.ts'
import type { StateSetup } from '../compose/state.ts'
import { NewcutError } from '../core/errors.ts'
import { tuningFileOf } from '../engine/gpu/adapters.ts'
import { stateFolder } from '../journal/folder.ts'
import { HWMON_FOLDER } from '../sensors/hwmon.ts'
import { givenAuthorities } from './authorities.ts'
import { type Idle, idleForTls, refuseIdle } from './effect.ts'

type MineConfig = Config<typeof mineOptions>

/**
 * The miner for these nodes. Throws NewcutError BAD_OPTION for an external engine without a command, and for authorities
 * that cannot be used.
 */
export function minerSetup(config: MineConfig, nodes: readonly string[]): MinerSetup {
  const { values, origins } = config
  const { insecure, fingerprint, 'fail-fast': failFast, http, blocks, duration: durationMs } = values
  const [url, ...others] = nodes
  const ca = givenAuthorities(values, tlsNode(nodes))
  return {
    node: { url, insecure, fingerprint, ca, failFast, maxWaitMs: durationMs },
    others,
    failbackMs: values.failback,
    shareBlocks: values['share-blocks'],
    payee: payeeOf(values),
    engines: engineSetup(config),
    // Mining goes on when the default port is taken, but not when an address that the user gave is.
    http: http === null ? null : { ...http, isRequired: origins.get('http') !== 'default', ...faceSetup(values) },
    sensors: { hwmon: HWMON_FOLDER, env: process.env },
    limits: { blocks, durationMs },
    stallMs: values.stall,
    confirmations: values.confirmations,
    state: stateSetup(values),
    chains: values.chains,
  }
}

function faceSetup({ 'mine-page': page, 'http-token': token, fingerprint }: MineConfig['values']) {
  return { page, token, fingerprint }
}

/** By default solutions for a node are kept; an embedded network ends with the miner. */
function stateSetup({ state, node }: MineConfig['values']): StateSetup | null {
  if (state === 'off' || (state === undefined && node === undefined)) return null
  if (state !== undefined) return { folder: state, isRequired: true }
  return { folder: stateFolder(process.env, process.platform), isRequired: false }
}

function payeeOf(values: MineConfig['values']): Payee {
  const { account = null, predicate, 'public-key': publicKeys = null } = values
  return { account, predicate, publicKeys }
}

function engineSetup(config: MineConfig): EngineSetup {
  const { values, origins } = config
  const { engine, command, kernel, priority } = values
  const rigs = rigsSetup(values)
  if (engine !== 'external') {
    const threads = origins.get('threads') === 'default' ? 'auto' : values.threads
    return { kind: 'own', threads, kernel, priority, gpu: gpuSetup(config), rigs }
  }
  if (command !== undefined) return { kind: 'external', command, rigs }
  throw new NewcutError('BAD_OPTION', '--engine external needs --command', {
    hint: "for example --command 'newcut solve'",
  })
}

/** Throws NewcutError BAD_OPTION for a certificate without its key, or a key without its certificate. */
function rigsSetup(values: MineConfig['values']): RigsSetup | undefined {
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
  return { ...address, difficulty: difficulty === undefined ? null : Number(difficulty), tls }
}

function gpuSetup({ values, origins }: MineConfig): GpuSetup | null {
  if (values.gpu === 'none') return null
  const needing = ['gpu-workgroup', 'gpu-batch-ms', 'retune'].find((name) => origins.get(name) === 'flag')
  return {
    which: values.gpu,
    neededBy: needing === undefined ? null : `--${needing}`,
    batchMs: values['gpu-batch-ms'],
    workgroup: values['gpu-workgroup'],
    allowSoftware: values['allow-software'],
    retune: values.retune,
    tuningFile: tuningFileOf(process.env, process.platform),
  }
}

/** Throws NewcutError BAD_OPTION for flags that contradict each other or have no effect. */
export function checkMineFlags(config: MineConfig): void {
  refuseIdle(config, [...idleForNode(config), ...idleForEngine(config), ...idleForRigs(config), ...idleForHttp(config)])
}

function idleForRigs({ values: { 'stratum-listen': address = null } }: MineConfig): Idle[] {
  if (address !== null) return []
  const names = ['stratum-difficulty', 'stratum-tls-cert', 'stratum-tls-key']
  return [{ names, reason: 'no rigs are let in', hint: 'add --stratum-listen HOST:PORT' }]
}

function idleForHttp({ values: { http } }: MineConfig): Idle[] {
  return http === null ? [{ names: ['mine-page', 'http-token'], reason: 'with --http off nothing is served' }] : []
}

/** One that is spoken to with TLS, if any is. */
const tlsNode = (nodes: readonly string[]) => nodes.find((url) => url.startsWith('https:')) ?? nodes[0]

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
