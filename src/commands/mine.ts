/** `newcut mine`: the miner, for a node or for an embedded network of its own. */
import { availableParallelism, cpus } from 'node:os'
import type { Config } from '../cli/config.ts'
import type { Face } from '../cli/console.ts'
import type { mineOptions } from '../cli/options.ts'
import { faceFor } from '../cli/text-face.ts'
import { type Devnet, startDevnet } from '../compose/devnet.ts'
import { tryMiner } from '../compose/dry-run.ts'
import { type MinerSetup, type MinerStart, runMiner } from '../compose/miner.ts'
import { checkPayee, paidLine } from '../compose/payee.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { checkMineFlags, minerSetup } from './miner-setup.ts'
import { networkLine, networkSettings } from './network.ts'
import { surroundings } from './surroundings.ts'

type MineConfig = Config<typeof mineOptions>

export function runMine(config: MineConfig): Promise<number> {
  return untilStopped((stopped) => mine(config, stopped))
}

/** Exit code 1 when it ends while nothing could search. */
async function mine(config: MineConfig, stopped: AbortSignal): Promise<number> {
  const { values } = config
  checkMineFlags(config)
  const face = faceFor(values.log, surroundings)
  const { node } = values
  const setup = minerSetup(config, node ?? [''])
  // Wrong options are refused before a network is started.
  checkPayee(setup.payee)
  if (values['dry-run']) {
    face.show({ type: 'banner', lines: await dryRunLines(config, setup, stopped) })
    return 0
  }
  let leave: () => void = () => undefined
  const devnet = node === undefined ? await startDevnet({ ...networkSettings(values), port: 0 }) : null
  try {
    const snapshot = await runMiner(devnet === null ? setup : { ...setup, node: { ...setup.node, url: devnet.url } }, {
      onEvent: face.show,
      onStart: (start) => {
        face.show({ type: 'banner', lines: banner(start, devnet, config) })
        leave = attended(face, start)
      },
      stopped,
    })
    leave()
    face.show({ type: 'summary', snapshot })
    return snapshot.idleReason === null ? 0 : 1
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
    ...(values.node === undefined ? ['network: an embedded one'] : await tryMiner(setup, stopped)),
    searchLine(values),
    'all of this works; without --dry-run it is mined',
  ]
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
  { client, account, api, journal, rigsAddress, pageUrl }: MinerStart,
  devnet: Devnet | null,
  { values, file }: MineConfig,
): string[] {
  const { node: nodes = [] } = values
  const processor = cpus()[0]?.model.trim() ?? process.arch
  const { baseUrl } = client.http
  const { nodeVersion, nodeNumberOfChains, nodeBlockDelay } = client.info
  const network =
    devnet === null
      ? `network: ${nodeVersion}, ${nodeNumberOfChains} chains, block delay ${nodeBlockDelay / 1e6} s at ${baseUrl}`
      : networkLine(devnet)
  return [
    `newcut ${surroundings.version}, no fee: all blocks are yours`,
    `machine: ${processor}, ${availableParallelism()} threads, Node ${process.versions.node}`,
    searchLine(values),
    ...(rigsAddress === null ? [] : [rigsLine(rigsAddress, values)]),
    ...(file === null ? [] : [`configuration: ${file}`]),
    network,
    ...(nodes.length > 1 ? [`nodes, in order of priority: ${nodes.join(', ')}`] : []),
    paidLine(account),
    api === null ? 'metrics: off' : `metrics: ${api.url}/metrics, summary: ${api.url}/api/summary`,
    ...(api === null ? [] : [`dashboard: ${api.url}/`]),
    ...(journal === null ? [] : [journalLine(journal)]),
    ...(pageUrl === null ? [] : [`mine in a browser: ${pageUrl}`]),
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

function rigsLine(address: string, { 'stratum-tls-cert': cert }: MineConfig['values']): string {
  return `rigs: stratum+${cert === undefined ? 'tcp' : 'ssl'}://${address}, any user and password`
}

function journalLine({ folder, unfinished }: NonNullable<MinerStart['journal']>): string {
  if (unfinished === 0) return `journal: ${folder}`
  return `journal: ${folder}, with ${unfinished} ${unfinished === 1 ? 'solution' : 'solutions'} of earlier runs to settle`
}
