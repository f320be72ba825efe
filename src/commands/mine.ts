/** `newcut mine`: the miner, for a node or for an embedded network of its own. */
import type { ChangingFace } from '../cli/changing-face.ts'
import type { Config } from '../cli/config.ts'
import type { Environment } from '../cli/line.ts'
import type { mineOptions } from '../cli/options.ts'
import type { Surroundings } from '../cli/terminal.ts'
import { facesOf } from '../cli/text-face.ts'
import type { Devnet } from '../compose/devnet.ts'
import { tryMiner } from '../compose/dry-run.ts'
import { type MinerStart, runMiner } from '../compose/miner.ts'
import type { MinerSetup } from '../compose/setup.ts'
import { checkOrigin } from '../compose/source/reach.ts'
import type { ExitCode } from '../core/exit-codes.ts'
import { graphs } from '../core/graph.ts'
import { onFileChange } from '../platform/watch-file.ts'
import { readPoolAddress } from '../source/pool/address.ts'
import { attended, faceLines, firstLines, journalLines, nodeLines } from './banner.ts'
import { LiveConfig } from './live-config.ts'
import { styleOf, withLog } from './log.ts'
import { checkMineFlags, minerSetup } from './miner-setup.ts'
import { networkSettings } from './network.ts'

const NOTHING_SEARCHED: ExitCode = 22

type MineConfig = Config<typeof mineOptions>

export function runMine(config: MineConfig, surroundings: Surroundings): Promise<number> {
  return surroundings.untilStopped((stopped) => mine(config, surroundings, stopped))
}

/** Resolves with the exit code. */
async function mine(config: MineConfig, surroundings: Surroundings, stopped: AbortSignal): Promise<number> {
  const { values } = config
  checkMineFlags(config)
  const setup = minerSetup(config, values.node ?? [''], surroundings.environment)
  // Wrong options are refused before a network is started.
  checkOrigin(setup)
  return withLog(values, { faces: facesOf(surroundings), nowMs: surroundings.nowMs }, async (log) => {
    if (!values['dry-run']) return mineWith(log, { config, setup, ...surroundings }, stopped)
    log.tell({ type: 'banner', lines: await dryRunLines(config, setup, stopped) })
    return 0
  })
}

interface Wanted extends Pick<Surroundings, 'environment' | 'version'> {
  readonly config: MineConfig
  readonly setup: MinerSetup
}

/** Resolves with the exit code. */
async function mineWith(
  log: ChangingFace,
  { config, setup, environment, version }: Wanted,
  stopped: AbortSignal,
): Promise<number> {
  const { values } = config
  const { node, pool, fleet } = values
  let leave: () => void = () => undefined
  const live = liveConfig(config, log, environment)
  const devnet = (node ?? pool ?? fleet) === undefined ? await embeddedNetwork(values, setup, stopped) : null
  try {
    const http = setup.http && { ...setup.http, configuration: live.configuration }
    const node = devnet === null ? setup.node : { ...setup.node, url: devnet.url }
    const snapshot = await runMiner(
      { ...setup, node, http },
      {
        onEvent: log.show,
        onStart: (start) => {
          log.show({ type: 'banner', lines: banner(start, devnet, { ...config, version }) })
          const [unattend, unfollow] = [attended(log, start), live.follow(start)]
          leave = () => {
            unfollow()
            unattend()
          }
        },
        stopped,
      },
    )
    leave()
    log.show({ type: 'summary', snapshot })
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

/**
 * A network of the miner's own, which ends with it. A miner for a node never loads it. Without --difficulty it begins at
 * what this machine searches.
 */
async function embeddedNetwork(
  values: MineConfig['values'],
  { engines }: MinerSetup,
  stopped: AbortSignal,
): Promise<Devnet> {
  const { startDevnet } = await import('../compose/devnet.ts')
  const settings = networkSettings(values)
  const { graph, blockDelayMs, difficulty, pow } = settings
  if (difficulty !== undefined || !pow) return startDevnet({ ...settings, port: 0 })
  const { measuredDifficulty } = await import('../compose/search/first-difficulty.ts')
  const measured = await measuredDifficulty(engines, { graph: graphs[graph], blockDelayMs }, stopped)
  return startDevnet({ ...settings, difficulty: measured, port: 0 })
}

/** An embedded network takes every account and is not started. */
async function dryRunLines(config: MineConfig, setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  const { values, file } = config
  return [
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...((values.node ?? values.pool ?? values.fleet) === undefined
      ? ['network: an embedded one']
      : await tryMiner(setup, stopped)),
    searchLine(values),
    ...pausingLines(values),
    'all of this works; without --dry-run it is mined',
  ]
}

/** The configuration of a miner that may not run yet; `follow` ties the two, and follows the file. */
function liveConfig(config: MineConfig, log: ChangingFace, environment: Environment) {
  let tie: (start: MinerStart) => void = () => undefined
  const started = new Promise<MinerStart>((resolve) => {
    tie = resolve
  })
  const apply = async (next: MineConfig) => {
    const { change } = await started
    await change(minerSetup(next, next.values.node ?? [''], environment))
    log.use(styleOf(next.values))
  }
  const configuration = new LiveConfig(config, { apply, show: log.show, environment })
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

function banner(
  { node, source, payee, api, journal, rigsAddress, pageUrl }: MinerStart,
  devnet: Devnet | null,
  { values, file, version }: MineConfig & Pick<Surroundings, 'version'>,
): string[] {
  return [
    ...firstLines(version),
    searchLine(values),
    ...pausingLines(values),
    ...(rigsAddress === null ? [] : [rigsLine(rigsAddress, values)]),
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...(node === null ? givenLines(source, payee, values) : nodeLines(node, devnet, values.node)),
    ...faceLines(api),
    ...journalLines(journal),
    ...(pageUrl === null ? [] : [`mine in a browser: ${pageUrl}`]),
  ]
}

/** Where work comes from without nodes. Passwords are not shown. */
function givenLines(source: string, payee: string, { pool, fleet }: MineConfig['values']): string[] {
  if (fleet !== undefined) return [source, `paid: ${payee}, as the leader says`]
  return poolLines(pool)
}

function poolLines(pool: readonly string[] = []): string[] {
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
