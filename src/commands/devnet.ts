/** `newcut devnet`: runs the embedded node, with or without a miner of its own. */

import type { FaceMaker } from '../cli/changing-face.ts'
import type { Config } from '../cli/config.ts'
import type { ConsoleEvent, Face, Terminal } from '../cli/console.ts'
import { includes } from '../cli/levels.ts'
import type { devnetOptions, Values } from '../cli/options.ts'
import { printerTo, type Surroundings } from '../cli/program.ts'
import { type ProgressBar, progressBarFor, shownOn } from '../cli/progress.ts'
import { facesOf } from '../cli/text-face.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../compose/devnet.ts'
import { isPageOn, PAGE_PATH } from '../compose/mine-page.ts'
import type { MinerSetup } from '../compose/miner.ts'
import { accountOn, type Payee, paidLine } from '../compose/payee.ts'
import { NewcutError } from '../core/errors.ts'
import { development } from '../core/network.ts'
import type { MinerAccount } from '../core/payload.ts'
import { difficultyOf } from '../core/target.ts'
import { describeAutoMine } from '../schema/auto-mine.ts'
import { runCheck } from './check.ts'
import { refuseIdle } from './effect.ts'
import { runBeside } from './exec.ts'
import { fundedAccounts } from './funded-accounts.ts'
import { withLog } from './log.ts'
import { type NetworkValues, networkLine } from './network.ts'
import { requestEvent } from './request-log.ts'

type DevnetConfig = Config<typeof devnetOptions>
type DevnetValues = Values<typeof devnetOptions>

/** The settings that the user chose. Unset ones do not override those of a network on disk. */
function chosenSettings({ values, origins }: DevnetConfig) {
  const chosen = <T>(name: keyof NetworkValues, value: T) => (origins.get(name) === 'default' ? undefined : value)
  return {
    graph: chosen('graph', values.graph),
    blockDelayMs: chosen('block-delay', values['block-delay']),
    difficulty: chosen('difficulty', values.difficulty),
    // --auto-mine implies that there is no proof of work.
    pow: values['auto-mine'] === undefined ? chosen('pow', values.pow) : false,
  }
}

export async function runDevnet(config: DevnetConfig, surroundings: Surroundings): Promise<number> {
  const { check, data } = config.values
  if (check && data === undefined) {
    throw new NewcutError('BAD_OPTION', '--check needs --data DIR, the directory to check')
  }
  checkModes(config)
  return surroundings.untilStopped((stopped) =>
    check && data !== undefined
      ? runCheck(data, stopped, printerTo(surroundings.out), shownOn(barFor(config.values, surroundings)))
      : serve(config, surroundings, stopped),
  )
}

/** Beside a command of --exec the terminal is the command's. */
function barFor({ log, exec }: Pick<DevnetValues, 'log' | 'exec'>, terminal: Terminal): ProgressBar {
  const { err, environment, nowMs } = terminal
  return progressBarFor(err, environment, nowMs, log === 'json' || exec !== undefined)
}

/** Throws NewcutError BAD_OPTION for modes that exclude each other. */
function checkModes(config: DevnetConfig): void {
  const { values, origins } = config
  if (values.mine && values['auto-mine'] !== undefined) {
    throw new NewcutError('BAD_OPTION', '--mine and --auto-mine exclude each other: one searches, the other does not')
  }
  if (values.mine && !values.pow) {
    const hint = '--auto-mine makes blocks without proof of work'
    throw new NewcutError('BAD_OPTION', '--mine needs proof of work, and --no-pow leaves nothing to search', { hint })
  }
  if (values.check) {
    const names = [...origins.keys()].filter((name) => name !== 'check' && name !== 'data')
    refuseIdle(config, [{ names, reason: '--check starts no node' }])
  }
  if (!includes(values['log-level'], 'info')) {
    const reason = `--log-level ${values['log-level']} leaves requests out`
    refuseIdle(config, [{ names: ['log-requests'], reason, hint: 'take --log-level info' }])
  }
  if (values.mine) return
  refuseIdle(config, [{ names: ['threads', 'kernel', 'priority'], reason: 'it is for --mine, which is not given' }])
}

function serve(config: DevnetConfig, surroundings: Surroundings, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const bar = barFor(values, surroundings)
  const { out, err, version } = surroundings
  const faces =
    values.exec === undefined
      ? facesOf({ ...surroundings, out: bar.before(out) })
      : quiet(facesOf({ ...surroundings, out: bar.before(err) }))
  return withLog(values, { faces, nowMs: surroundings.nowMs }, (log) => {
    return serveWith(log, { bar, version }, config, stopped)
  })
}

async function serveWith(
  face: Face,
  { bar, version }: { readonly bar: ProgressBar; readonly version: string },
  config: DevnetConfig,
  stopped: AbortSignal,
): Promise<number> {
  const { values } = config
  const failed = new AbortController()
  const options = { ...startOptions(config, face), onProgress: shownOn(bar), onFailure: () => failed.abort() }
  const devnet = hasPage(values) ? await devnetWithPage(options, values) : await startDevnet(options)
  const commandIsOver = new AbortController()
  const stop = AbortSignal.any([stopped, failed.signal])
  const ended = AbortSignal.any([stop, commandIsOver.signal])
  let code = 0
  try {
    if (values.mine) checkMinable(devnet)
    face.show({ type: 'banner', lines: banner(devnet, values, version) })
    face.show(fundedAccounts())
    const command = values.exec === undefined ? null : runBeside(values.exec, devnet.url, stop)
    const over = command?.finally(() => commandIsOver.abort())
    const running = values.mine ? mineItself(devnet, config, face, ended) : untilAborted(ended)
    await Promise.all([
      running,
      over?.then((result) => {
        code = result
      }),
    ])
  } catch (error) {
    if (!ended.aborted) throw error
  } finally {
    // If a write failed, this throws its error.
    await devnet.close()
  }
  return code
}

async function devnetWithPage(options: DevnetOptions, values: DevnetValues): Promise<Devnet> {
  const { startDevnetWithPage } = await import('../compose/devnet-page.ts')
  return startDevnetWithPage(options, accountOn(development.name, payeeOf(values)))
}

/** Beside a command of --exec the outputs are the command's: what went wrong is shown, and requests if they are asked for. */
const SHOWN_BESIDE: readonly ConsoleEvent['type'][] = ['warning', 'hardwareError', 'request']

function quiet(faces: FaceMaker): FaceMaker {
  return (format, levelNow) => {
    const face = faces(format, levelNow)
    return {
      show: (event) => {
        if (SHOWN_BESIDE.includes(event.type)) face.show(event)
      },
      attend: face.attend,
    }
  }
}

const hasPage = (values: DevnetValues) => isPageOn(values['mine-page'], development.name)

/** Throws NewcutError BAD_OPTION for a network that was kept with a mode which excludes --mine. */
function checkMinable({ settings }: Devnet): void {
  if (settings.pow && settings.autoMine === null) return
  const kept = settings.autoMine === null ? 'no proof of work' : `auto-mine (${describeAutoMine(settings.autoMine)})`
  throw new NewcutError('BAD_OPTION', `--mine needs proof of work, and the network in --data was begun with ${kept}`, {
    hint: 'leave --mine out, or begin another network in another directory',
  })
}

function startOptions(config: DevnetConfig, face: Face): DevnetOptions {
  const { values, origins } = config
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  const autoMine = values['auto-mine']
  return {
    ...chosenSettings(config),
    dataDir: values.data,
    backupDir: values['backup-dir'],
    host: values.host,
    // With a port of its own a command of --exec finds this node, whatever else runs.
    port: values.exec !== undefined && origins.get('port') === 'default' ? 0 : values.port,
    product: values.product,
    entity: values.entity,
    updateStreamMs: values['update-stream'],
    updateStreamLimit: values['update-stream-limit'],
    workLimit: values['work-limit'],
    refreshMs: values.refresh,
    ...(accounts && { accounts }),
    ...(autoMine && { autoMine }),
    ...(values['log-requests'] && { onRequest: (request) => face.show(requestEvent(request)) }),
    onSolved: ({ chainId: chain, height: h, target }, addition) => {
      const height = Number(h)
      if (addition.status === 'added') {
        face.show({ type: 'block', chain, height, difficulty: Number(difficultyOf(target) ?? 0n) })
      } else {
        const isStale = addition.status === 'stale'
        const reason = isStale ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        face.show({ type: 'refused', chain, height, reason, isStale })
      }
    },
    onNotice: (message) => face.show({ type: 'warning', message }),
  }
}

function banner(devnet: Devnet, values: DevnetValues, version: string): string[] {
  const { blocks, network, url } = devnet
  const { autoMine } = devnet.settings
  const mining = `${url}/${values.product}/0.0/${network.name}/mining/work`
  const mode = autoMine ? `auto-mine: ${describeAutoMine(autoMine)}` : values.mine ? 'mine: by itself' : null
  return [
    `newcut ${version}`,
    networkLine(devnet),
    ...(values.data === undefined ? [] : [`data: ${values.data}, ${blocks} blocks`]),
    ...(mode === null ? [] : [mode]),
    ...(values.mine ? [paidLine(accountOn(network.name, payeeOf(values)))] : []),
    `mine it: newcut mine --node ${url} (work at ${mining})`,
    ...(hasPage(values) ? [`mine in a browser: ${url}${PAGE_PATH}`] : []),
    `see it in a browser: ${url}/`,
    `control it: ${url}/devnet/status`,
  ]
}

/** The same miner as that of `newcut mine`, over HTTP. */
async function mineItself(devnet: Devnet, config: DevnetConfig, face: Face, stopped: AbortSignal): Promise<void> {
  const { runMiner } = await import('../compose/miner.ts')
  const snapshot = await runMiner(minerSetup(devnet, config), { onEvent: face.show, stopped })
  face.show({ type: 'summary', snapshot })
}

function minerSetup({ url }: Devnet, { values, origins }: DevnetConfig): MinerSetup {
  const { kernel, priority } = values
  const threads = origins.get('threads') === 'default' ? 'auto' : values.threads
  return {
    node: { url, insecure: false, failFast: true },
    payee: payeeOf(values),
    engines: { kind: 'own', threads, kernel, priority, gpu: null },
    http: null,
    limits: {},
  }
}

/** The first key that may mine; without such keys, the built-in key. */
function payeeOf(values: DevnetValues): Payee {
  const [key] = values['mining-public-key'] ?? []
  return { account: null, predicate: 'keys-all', publicKeys: key === undefined ? null : [key] }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
