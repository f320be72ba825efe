/** `newcut mine`: the miner, for a node or for an embedded network of its own. */
import { availableParallelism, cpus } from 'node:os'
import { type ChangingFace, changingFace } from '../cli/changing-face.ts'
import type { Config } from '../cli/config.ts'
import type { Face } from '../cli/console.ts'
import type { mineOptions } from '../cli/options.ts'
import { type Devnet, startDevnet } from '../compose/devnet.ts'
import { tryMiner } from '../compose/dry-run.ts'
import { type MinerSetup, type MinerStart, runMiner } from '../compose/miner.ts'
import { checkOrigin } from '../compose/origin.ts'
import { paidLine } from '../compose/payee.ts'
import type { ExitCode } from '../core/exit-codes.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { onFileChange } from '../platform/watch-file.ts'
import { readPoolAddress } from '../source/pool/address.ts'
import { LiveConfig } from './live-config.ts'
import { checkMineFlags, minerSetup } from './miner-setup.ts'
import { networkLine, networkSettings } from './network.ts'
import { surroundings } from './surroundings.ts'

const NOTHING_SEARCHED: ExitCode = 22

type MineConfig = Config<typeof mineOptions>

export function runMine(config: MineConfig): Promise<number> {
  return untilStopped((stopped) => mine(config, stopped))
}

/** Resolves with the exit code. */
async function mine(config: MineConfig, stopped: AbortSignal): Promise<number> {
  const { values } = config
  checkMineFlags(config)
  const face = changingFace(values.log, surroundings)
  const { node, pool } = values
  const setup = minerSetup(config, node ?? [''])
  // Wrong options are refused before a network is started.
  checkOrigin(setup)
  if (values['dry-run']) {
    face.show({ type: 'banner', lines: await dryRunLines(config, setup, stopped) })
    return 0
  }
  let leave: () => void = () => undefined
  const live = liveConfig(config, face)
  const devnet =
    node === undefined && pool === undefined ? await startDevnet({ ...networkSettings(values), port: 0 }) : null
  try {
    const http = setup.http && { ...setup.http, configuration: live.configuration }
    const node = devnet === null ? setup.node : { ...setup.node, url: devnet.url }
    const snapshot = await runMiner(
      { ...setup, node, http },
      {
        onEvent: face.show,
        onStart: (start) => {
          face.show({ type: 'banner', lines: banner(start, devnet, config) })
          const [unattend, unfollow] = [attended(face, start), live.follow(start)]
          leave = () => {
            unfollow()
            unattend()
          }
        },
        stopped,
      },
    )
    leave()
    face.show({ type: 'summary', snapshot })
    return snapshot.idleReason === null ? 0 : NOTHING_SEARCHED
  } catch (error) {
    // A failure after the user asked to stop is not an error.
    if (stopped.aborted) return 0
    throw error
  } finally {
    leave()
    await devnet?.close()
  }
}

/** An embedded network takes every account and is not started. */
async function dryRunLines(config: MineConfig, setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  const { values, file } = config
  return [
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...(values.node === undefined && values.pool === undefined
      ? ['network: an embedded one']
      : await tryMiner(setup, stopped)),
    searchLine(values),
    ...pausingLines(values),
    'all of this works; without --dry-run it is mined',
  ]
}

/** The configuration of a miner that may not run yet; `follow` ties the two, and follows the file. */
function liveConfig(config: MineConfig, face: ChangingFace) {
  let tie: (start: MinerStart) => void = () => undefined
  const started = new Promise<MinerStart>((resolve) => {
    tie = resolve
  })
  const apply = async (next: MineConfig) => {
    const { change } = await started
    await change(minerSetup(next, next.values.node ?? ['']))
    face.use(next.values.log)
  }
  const configuration = new LiveConfig(config, { apply, show: face.show })
  const follow = (start: MinerStart) => {
    tie(start)
    if (config.file === null) return () => undefined
    const reload = () => void configuration.reload()
    // It may have changed since it was read.
    reload()
    return onFileChange(config.file, reload)
  }
  return { configuration, follow }
}

/** Keys and SIGUSR1 control the miner until the function returned is called. */
function attended(face: Face, { miner }: MinerStart): () => void {
  const toggle = () => (miner.paused ? miner.resume() : miner.pause())
  process.on('SIGUSR1', toggle)
  const leave = face.attend(miner)
  return () => {
    process.off('SIGUSR1', toggle)
    leave()
  }
}

function banner(
  { node, api, journal, rigsAddress, pageUrl }: MinerStart,
  devnet: Devnet | null,
  { values, file }: MineConfig,
): string[] {
  const processor = cpus()[0]?.model.trim() ?? process.arch
  return [
    `newcut ${surroundings.version}, no fee: all blocks are yours`,
    `machine: ${processor}, ${availableParallelism()} threads, Node ${process.versions.node}`,
    searchLine(values),
    ...pausingLines(values),
    ...(rigsAddress === null ? [] : [rigsLine(rigsAddress, values)]),
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...(node === null ? poolLines(values) : nodeLines(node, devnet, values)),
    api === null ? 'metrics: off' : `metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`,
    ...(api === null ? [] : [`dashboard: ${api.url}/`]),
    ...(journal === null ? [] : [journalLine(journal)]),
    ...(pageUrl === null ? [] : [`mine in a browser: ${pageUrl}`]),
  ]
}

function nodeLines(
  { client, account }: NonNullable<MinerStart['node']>,
  devnet: Devnet | null,
  { node: nodes = [] }: MineConfig['values'],
): string[] {
  const { nodeVersion, nodeNumberOfChains, nodeBlockDelay } = client.info
  const delay = `block delay ${nodeBlockDelay / 1e6} s`
  return [
    devnet === null
      ? `network: ${nodeVersion}, ${nodeNumberOfChains} chains, ${delay} at ${client.http.baseUrl}`
      : networkLine(devnet),
    ...(nodes.length > 1 ? [`nodes, in order of priority: ${nodes.join(', ')}`] : []),
    paidLine(account),
  ]
}

/** Passwords are not shown. */
function poolLines({ pool = [] }: MineConfig['values']): string[] {
  const pools = pool.map(readPoolAddress)
  return [
    `${pools.length > 1 ? 'pools, in order of priority' : 'pool'}: ${pools.map(({ url }) => url).join(', ')}`,
    `paid: ${[...new Set(pools.map(({ user }) => user))].join(', ')}, by the pool`,
  ]
}

/** What is to search; the line of the kernels that were chosen follows when they are ready. */
function searchLine({ engine, threads, kernel, gpu }: MineConfig['values']): string {
  // Its arguments may hold secrets.
  if (engine === 'external') return 'search: an external command'
  const cpu =
    threads === 0 ? 'no CPU thread' : `CPU with ${kernel === 'auto' ? 'the fastest kernel of this machine' : kernel}`
  return `search: ${cpu}, GPU ${gpu}`
}

function pausingLines({ schedule, 'idle-only': idleOnly, 'idle-limit': limit }: MineConfig['values']): string[] {
  return [
    ...(schedule === undefined ? [] : [`schedule: ${schedule.text}`]),
    ...(idleOnly ? [`only while other programs use at most ${limit} % of the machine`] : []),
  ]
}

function rigsLine(address: string, { 'stratum-tls-cert': cert }: MineConfig['values']): string {
  return `rigs: stratum+${cert === undefined ? 'tcp' : 'ssl'}://${address}, any user and password`
}

function journalLine({ folder, unfinished }: NonNullable<MinerStart['journal']>): string {
  if (unfinished === 0) return `journal: ${folder}`
  return `journal: ${folder}, with ${unfinished} ${unfinished === 1 ? 'solution' : 'solutions'} of earlier runs to settle`
}
