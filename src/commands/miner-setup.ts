/** Turns the options of `newcut mine` into those of compose/miner.ts. */
import type { Config } from '../cli/config.ts'
import type { mineOptions } from '../cli/options.ts'
import type { EngineSetup, GpuSetup } from '../compose/engines.ts'
import type { MinerSetup } from '../compose/miner.ts'
import type { Payee } from '../compose/payee.ts'
import { NewcutError } from '../core/errors.ts'
import { tuningFileOf } from '../engine/gpu/adapters.ts'
import { type Idle, idleForTls, refuseIdle } from './effect.ts'

type MineConfig = Config<typeof mineOptions>

/** The miner for the node at `url`. Throws NewcutError BAD_OPTION for an external engine without a command. */
export function minerSetup(config: MineConfig, url: string): MinerSetup {
  const { values, origins } = config
  const { insecure, fingerprint, 'fail-fast': failFast, http, blocks, duration: durationMs } = values
  return {
    node: { url, insecure, fingerprint, failFast, maxWaitMs: durationMs },
    payee: payeeOf(values),
    engines: engineSetup(config),
    // Mining goes on when the default port is taken, but not when an address that the user gave is.
    http: http === null ? null : { ...http, isRequired: origins.get('http') !== 'default', page: values['mine-page'] },
    limits: { blocks, durationMs },
    stallMs: values.stall,
    confirmations: values.confirmations,
  }
}

function payeeOf(values: MineConfig['values']): Payee {
  const { account = null, predicate, 'public-key': publicKeys = null } = values
  return { account, predicate, publicKeys }
}

function engineSetup(config: MineConfig): EngineSetup {
  const { values, origins } = config
  const { engine, command, kernel, priority } = values
  if (engine !== 'external') {
    const threads = origins.get('threads') === 'default' ? 'auto' : values.threads
    return { kind: 'own', threads, kernel, priority, gpu: gpuSetup(config) }
  }
  if (command !== undefined) return { kind: 'external', command }
  throw new NewcutError('BAD_OPTION', '--engine external needs --command', {
    hint: "for example --command 'newcut solve'",
  })
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
  refuseIdle(config, [...idleForNode(config), ...idleForEngine(config), ...idleForHttp(config)])
}

function idleForHttp({ values: { http } }: MineConfig): Idle[] {
  return http === null ? [{ names: ['mine-page'], reason: 'with --http off nothing is served' }] : []
}

function idleForNode({ values: { node, fingerprint } }: MineConfig): Idle[] {
  if (node === undefined) {
    const reason = 'without --node there is only the embedded network'
    return [{ names: ['insecure', 'fingerprint', 'fail-fast'], reason }]
  }
  return [
    {
      names: ['graph', 'block-delay', 'difficulty', 'pow'],
      reason: 'it is for the embedded network, and --node mines for another',
      hint: 'a node has its own; newcut devnet starts one with these options',
    },
    ...idleForTls(node, fingerprint),
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
