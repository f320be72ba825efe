/** `newcut devnet`: runs the embedded node, with or without a miner of its own. */

import { type Devnet, type DevnetOptions, startDevnet } from '#compose/devnet.ts'
import { paidAccountOn } from '#compose/payee.ts'
import type { MinerSetup } from '#compose/setup.ts'
import type { ViewMaker } from '#faces/cli/changing-view.ts'
import type { Config } from '#faces/cli/config.ts'
import type { DevnetNow } from '#faces/cli/devnet-activity.ts'
import { type DevnetConsole, devnetConsole } from '#faces/cli/devnet-view.ts'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import { withLog } from '#faces/cli/log.ts'
import type { ConsoleEvent } from '#faces/cli/notices.ts'
import { type devnetOptions, flagsOfOptions } from '#faces/cli/options/devnet.ts'
import type { Values } from '#faces/cli/options/row.ts'
import { type ProgressBar, progressBarFor, progressReporter } from '#faces/cli/progress.ts'
import type { Terminal } from '#faces/cli/terminal.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { untilAborted } from '#ground/base/signals.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { networkForm, networkNames } from '#ground/chain/known-networks.ts'
import { development } from '#ground/chain/network-data.ts'
import { definitionOf, type NetworkForm } from '#ground/chain/network-form.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { describeAutoMine } from '#ground/schema/devnet-modes.ts'
import { runCheck } from './check.ts'
import { runWithNode } from './exec.ts'
import { commandErrors } from './input/errors.ts'
import { forkSetup } from './input/fork-setup.ts'
import { networkFormsOf } from './input/network-files.ts'
import { devnetBanner, fundedAccounts, hasPage, payeeOf, requestEvent } from './results/devnet-lines.ts'

type DevnetConfig = Config<typeof devnetOptions>
type DevnetValues = Values<typeof devnetOptions>

type ChosenOptions = {
  readonly [Name in keyof typeof flagsOfOptions]?: Exclude<DevnetValues[(typeof flagsOfOptions)[Name]], undefined>
}

/** The options that the user chose. Unset ones have the default of the program, or that of the network on disk. */
function chosenOptions({ values, origins }: DevnetConfig): ChosenOptions {
  const chosen = Object.entries(flagsOfOptions).filter(([, flag]) => origins.get(flag) !== 'default')
  return Object.fromEntries(chosen.map(([name, flag]) => [name, values[flag]]))
}

/** --auto-mine and --fork imply --no-pow. A network of its own miner may not turn to one without proof of work. */
function chosenPow(chosen: boolean | undefined, values: DevnetValues): boolean | undefined {
  if (values['auto-mine'] !== undefined || values.fork !== undefined) return false
  const isKept = values.data !== undefined || values['state-file'] !== undefined
  return values.mine && !isKept ? true : chosen
}

/** @throws NewcutError BAD_OPTION for --check without --data, and for modes that exclude each other */
export async function runDevnet(config: DevnetConfig, context: CommandContext): Promise<number> {
  const { check, data } = config.values
  if (check && data === undefined) {
    throw operatingError(commandErrors.checkWithoutData)
  }
  checkModes(config)
  return context.untilStopped((stopped) =>
    check && data !== undefined
      ? runCheck(data, stopped, printerTo(context.out), progressReporter(barFor(config.values, context)))
      : serve(config, context, stopped),
  )
}

/** With --exec, the terminal belongs to the command. */
function barFor({ log, exec }: Pick<DevnetValues, 'log' | 'exec'>, terminal: Terminal): ProgressBar {
  const { err, environment, nowMs } = terminal
  return progressBarFor(err, environment, nowMs, log === 'json' || exec !== undefined)
}

/** @throws NewcutError BAD_OPTION for modes that exclude each other */
function checkModes(config: DevnetConfig): void {
  const { values } = config
  if (values.mine && values['auto-mine'] !== undefined) {
    throw operatingError(commandErrors.mineAndAutoMine)
  }
  if (values.mine && !values.pow) {
    throw operatingError(commandErrors.mineWithoutPow)
  }
  if (values.data !== undefined && values['state-file'] !== undefined) {
    throw operatingError(commandErrors.dataAndStateFile)
  }
}

function serve(config: DevnetConfig, context: CommandContext, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const bar = barFor(values, context)
  const { out, err, version, nowMs, environment } = context
  const shown = devnetConsole({ ...context, out: bar.wrapOutput(values.exec === undefined ? out : err) }, values.log)
  const views = values.exec === undefined ? shown.views : quiet(shown.views)
  return withLog(values, { views, nowMs }, (view) => {
    // Blocks without a line of their own are counted for a summary.
    const show: DevnetLog['show'] = (event) => {
      if (event.type !== 'block' || shown.hasOwnLine(event)) view.show(event)
    }
    return serveWith({ show, shown, bar, version, environment }, config, stopped)
  })
}

/** The output of events, and the status line of the terminal. */
interface DevnetLog {
  readonly show: (event: ConsoleEvent) => void
  readonly shown: DevnetConsole
  readonly bar: ProgressBar
  readonly version: string
  readonly environment: ProcessEnvironment
}

async function serveWith(log: DevnetLog, config: DevnetConfig, stopped: AbortSignal): Promise<number> {
  const networks = await networkFormsOf(config.values['network-file'])
  const { shown, bar, version } = log
  const { values } = config
  log.show({ type: 'banner', lines: [`newcut ${version}`] })
  const failed = new AbortController()
  const options = {
    ...startOptions(config, log, networks),
    onProgress: progressReporter(bar),
    onFailure: () => failed.abort(),
  }
  const devnet = hasPage(values) ? await devnetWithPage(options, values) : await startDevnet(options)
  const commandIsOver = new AbortController()
  const stop = AbortSignal.any([stopped, failed.signal])
  const ended = AbortSignal.any([stop, commandIsOver.signal])
  let code = 0
  let leave: () => void = () => undefined
  try {
    if (values.mine) checkMinable(devnet)
    // A forked network has accounts of its own.
    if (devnet.fork === null && !hasOwnContracts(devnet)) log.show(fundedAccounts(devnet.url))
    log.show({ type: 'banner', lines: devnetBanner(devnet, values) })
    if (values.exec === undefined) leave = shown.attend(() => devnetNow(devnet))
    const command = values.exec === undefined ? null : runWithNode(values.exec, devnet.url, stop)
    const over = command?.finally(() => commandIsOver.abort())
    const running = values.mine ? mineOwnNetwork(minerSetup(devnet, config, networks), log, ended) : untilAborted(ended)
    await Promise.all([
      running,
      over?.then((result) => {
        code = result
      }),
    ])
  } catch (error) {
    if (!ended.aborted) throw error
  } finally {
    leave()
    // If a write failed, this throws its error.
    await devnet.close()
  }
  return code
}

async function devnetWithPage(options: DevnetOptions, values: DevnetValues): Promise<Devnet> {
  const { startDevnetWithPage } = await import('#compose/devnet-page.ts')
  return startDevnetWithPage(options, paidAccountOn(development.name, payeeOf(values)))
}

/** With --exec, the outputs belong to the command: only problems are shown, printed texts, and requests with --log-requests. */
const SHOWN_BESIDE: readonly ConsoleEvent['type'][] = ['warning', 'hardwareError', 'request', 'print']

function quiet(viewOf: ViewMaker): ViewMaker {
  return (format, levelNow) => {
    const view = viewOf(format, levelNow)
    return {
      show: (event) => {
        if (SHOWN_BESIDE.includes(event.type)) view.show(event)
      },
      attend: view.attend,
    }
  }
}

function devnetNow({ cut, pending, settings: { autoMine } }: Devnet): DevnetNow {
  const heights = [...cut.values()].map(({ height }) => Number(height))
  const blocksBy = autoMine === null ? 'blocks by miners' : describeAutoMine(autoMine)
  return { lowest: Math.min(...heights), highest: Math.max(...heights), pending, blocksBy }
}

/** @throws NewcutError BAD_OPTION if the mode of the kept network excludes --mine */
function checkMinable({ settings }: Devnet): void {
  if (settings.pow && settings.autoMine === null) return
  const kept = settings.autoMine === null ? 'no proof of work' : `auto-mine (${describeAutoMine(settings.autoMine)})`
  throw operatingError(commandErrors.notMinable, { mode: kept })
}

function startOptions(config: DevnetConfig, log: DevnetLog, networks: readonly NetworkForm[]): DevnetOptions {
  const { values } = config
  const chosen = chosenOptions(config)
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  return {
    ...chosen,
    ...forkOf(config, log),
    ...(networks.length > 0 && { networks }),
    ...(accounts && { accounts }),
    pow: chosenPow(chosen.pow, values),
    networkName: nameOf(values, networks),
    // With a port of its own, the command of --exec finds this node even if others run.
    port: values.exec !== undefined && chosen.port === undefined ? 0 : values.port,
    onPrint: (event) => log.show({ type: 'print', ...event }),
    ...(values['log-requests'] && { onRequest: (request) => log.show(requestEvent(request)) }),
    ...((values.exec === undefined || values['log-file'] !== undefined) && {
      onTransaction: (event) => log.show({ type: 'transaction', ...event }),
    }),
    onSolved: ({ chainId: chain, height: h, target }, addition, by) => {
      const height = Number(h)
      if (addition.status === 'added') {
        const difficulty = Number(difficultyOf(target) ?? 0n)
        const transactions = addition.block.payload.transactions.length
        log.show({ type: 'block', chain, height, difficulty, by, transactions })
      } else {
        const isStale = addition.status === 'stale'
        const reason = isStale ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        log.show({ type: 'refused', chain, height, reason, isStale })
      }
    },
    onNotice: (message, kind) => log.show({ type: kind === 'progress' ? 'notice' : 'warning', message }),
  }
}

/** Whether the first block has contracts of a file instead of Kadena's. */
function hasOwnContracts({ settings: { network } }: Devnet): boolean {
  return typeof network === 'object' && network.genesis?.transactions !== undefined
}

/**
 * Name of the network. Without one, it is that of the only file, except for a fork.
 * @throws NewcutError BAD_OPTION
 */
function nameOf({ network, fork }: DevnetValues, networks: readonly NetworkForm[]): string | undefined {
  if (network !== undefined && fork === undefined && networkForm(network, networks) === undefined) {
    const guess = suggestName(network, networkNames(networks))
    throw operatingError(commandErrors.unknownNetwork, { name: network, guess })
  }
  return network ?? (networks.length === 1 && fork === undefined ? networks[0].name : undefined)
}

/** The fork that the user wants. A directory with a fork continues it without --fork. */
function forkOf({ values }: DevnetConfig, { environment }: DevnetLog): Pick<DevnetOptions, 'fork'> {
  const setup = values.data === undefined || values.fork !== undefined ? forkSetup(values, environment) : null
  if (setup === null) return {}
  const { cut, chains, cacheFolder, ...limits } = setup
  return {
    fork: {
      ...limits,
      time: values['fork-time'],
      ...(cut !== null && { cut }),
      ...(chains !== null && { chains }),
      ...(cacheFolder !== null && { cacheFolder }),
    },
  }
}

/** The miner of `newcut mine`, over HTTP. */
async function mineOwnNetwork(setup: MinerSetup, log: DevnetLog, stopped: AbortSignal): Promise<void> {
  const { runMiner } = await import('#compose/miner.ts')
  const snapshot = await runMiner(setup, { onEvent: log.show, stopped })
  log.show({ type: 'summary', snapshot })
}

function minerSetup({ url }: Devnet, { values, origins }: DevnetConfig, networks: readonly NetworkForm[]): MinerSetup {
  const { kernel, priority } = values
  const threads = origins.get('threads') === 'default' ? 'auto' : values.threads
  return {
    source: {
      kind: 'nodes',
      urls: [url],
      trust: { insecure: false },
      failFast: true,
      payee: payeeOf(values),
      ...(networks.length > 0 && { networks: networks.map(definitionOf) }),
    },
    search: { kind: 'own', threads, kernel, priority, gpu: null },
    http: null,
    limits: {},
  }
}
