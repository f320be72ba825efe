/** `newcut mine`: the miner, for a node or for an embedded network of its own. */

import { liveSetupOf } from '#compose/change.ts'
import { tryMiner } from '#compose/dry-run.ts'
import { checkSetup, type MinerStart, runMiner } from '#compose/miner.ts'
import type { MinerSetup } from '#compose/setup.ts'
import type { ReplaceableView } from '#faces/cli/changing-view.ts'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import { LiveConfig } from '#faces/cli/live-config.ts'
import type { MineConfig } from '#faces/cli/live-options.ts'
import { styleOf, withLog } from '#faces/cli/log.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { viewsOf } from '#faces/cli/text-view.ts'
import type { ExitCode } from '#ground/base/exit-codes.ts'
import { onFileChange } from '#ground/platform/watch-file.ts'
import { describeAutoMine } from '#ground/schema/devnet-modes.ts'
import { checkMinerOptions, setupOf } from './input/miner-setup.ts'
import { networksOf } from './input/network-files.ts'
import { attendMiner, faceLines, firstLines, journalLines, sourceLines } from './results/miner-lines.ts'

const NOTHING_SEARCHED: ExitCode = 22

export function runMine(config: MineConfig, context: CommandContext): Promise<number> {
  return context.untilStopped((stopped) => mine(config, context, stopped))
}

/** Resolves with the exit code. */
async function mine(config: MineConfig, context: CommandContext, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const networks = await networksOf(values['network-file'])
  const setup = setupOf(config, context.environment, networks)
  // Invalid options must fail before the log opens.
  await checkSetup(setup)
  return withLog(values, { views: viewsOf(context), nowMs: context.nowMs }, async (log) => {
    if (!values['dry-run']) return mineWith(log, { config, setup, ...context }, stopped)
    log.tell({ type: 'banner', lines: await dryRunLines(config, setup, stopped) })
    return 0
  })
}

interface MinerRun extends Pick<CommandContext, 'environment' | 'version'> {
  readonly config: MineConfig
  readonly setup: MinerSetup
}

/** Resolves with the exit code. */
async function mineWith(
  log: ReplaceableView,
  { config, setup, environment, version }: MinerRun,
  stopped: AbortSignal,
): Promise<number> {
  let leave: () => void = () => undefined
  const live = liveConfig(config, log, environment)
  log.show({ type: 'banner', lines: openingLines(setup, config, version) })
  try {
    const http = setup.http && { ...setup.http, configuration: live.configuration }
    const snapshot = await runMiner(
      { ...setup, http },
      {
        onEvent: log.show,
        onStart: (start) => {
          log.show({ type: 'banner', lines: banner(start, setup, config) })
          const [unattend, unfollow] = [attendMiner(log, start), live.follow(start)]
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
  }
}

async function dryRunLines(config: MineConfig, setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  const { values, file } = config
  return [
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...(await tryMiner(setup, stopped)),
    searchLine(values),
    ...pausingLines(values),
    'all checks passed; without --dry-run, newcut would mine',
  ]
}

/** The configuration of a miner that may not run yet. `follow` connects the two, and follows the file. */
function liveConfig(config: MineConfig, log: ReplaceableView, environment: ProcessEnvironment) {
  let tie: (start: MinerStart) => void = () => undefined
  const started = new Promise<MinerStart>((resolve) => {
    tie = resolve
  })
  const apply = async (next: MineConfig) => {
    const { change } = await started
    await change(liveSetupOf(setupOf(next, environment)))
    log.use(styleOf(next.values))
  }
  const check = (next: MineConfig) => checkMinerOptions(next, environment)
  const configuration = new LiveConfig(config, { apply, check, show: log.show })
  const follow = (start: MinerStart) => {
    tie(start)
    if (config.file === null) return () => undefined
    const reload = () => void configuration.reload()
    // The file may have changed after the first read.
    reload()
    return onFileChange(config.file, reload)
  }
  return { configuration, follow }
}

/** The lines before the start, which takes up to some seconds. */
function openingLines({ source, search }: MinerSetup, { values }: MineConfig, version: string): string[] {
  const network = source.kind === 'embedded' && search.kind === 'own' ? source.network : null
  const measures = network?.pow === true && network.difficulty === undefined
  return [
    ...firstLines(version),
    searchLine(values),
    ...(measures ? ['measuring this machine for half a second, to choose the first difficulty'] : []),
    ...pausingLines(values),
  ]
}

function banner(start: MinerStart, { source }: MinerSetup, { values, file }: MineConfig): string[] {
  const { api, journal, rigsAddress, proxiesAddress, pageUrl } = start
  return [
    ...(rigsAddress === null ? [] : [rigsLine(rigsAddress, values)]),
    ...(proxiesAddress === null ? [] : [`proxies: ${proxiesAddress}, each with a nonce2 of 7 bytes for 256 rigs`]),
    ...(file === null ? [] : [`configuration: ${file}`]),
    ...sourceLines(start, source),
    ...orderLines(api, values),
    ...journalLines(journal),
    ...(pageUrl === null ? [] : [`mine in a browser: ${pageUrl}`]),
    ...faceLines(api),
  ]
}

/** How to make a block, for a miner that makes them on demand. */
function orderLines(api: MinerStart['api'], { pace }: MineConfig['values']): string[] {
  if (api === null || pace?.kind !== 'on-demand') return []
  return [`make a block: curl -d '{"0":1}' ${api.url}/make-blocks`]
}

/** The search devices of the options. The line with the chosen kernels follows when they are ready. */
function searchLine({ engine, threads, kernel, gpu, pace }: MineConfig['values']): string {
  if (pace !== undefined) return `pace: ${describeAutoMine(pace)}`
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

function rigsLine(address: string, { 'stratum-tls-cert': cert, pool }: MineConfig['values']): string {
  const who = pool === undefined ? 'any user and password' : 'any user and password; the pool pays the user of --pool'
  return `rigs: stratum+${cert === undefined ? 'tcp' : 'ssl'}://${address}, ${who}`
}
