/** `newcut devnet`: runs the embedded node, with or without a miner of its own. */

import type { Config } from '../cli/config.ts'
import type { DevnetNow } from '../cli/devnet-activity.ts'
import { type DevnetFace, devnetFaceFor } from '../cli/devnet-face.ts'
import type { devnetOptions, Values } from '../cli/options.ts'
import { type ProgressBar, progressBarFor, shownOn } from '../cli/progress.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../compose/devnet.ts'
import { startDevnetWithPage } from '../compose/mine-page.ts'
import { type MinerSetup, runMiner } from '../compose/miner.ts'
import { accountOn } from '../compose/payee.ts'
import { NewcutError } from '../core/errors.ts'
import { development } from '../core/network.ts'
import type { MinerAccount } from '../core/payload.ts'
import { difficultyOf } from '../core/target.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { describeAutoMine } from '../schema/auto-mine.ts'
import { runCheck } from './check.ts'
import { devnetBanner, hasPage, payeeOf } from './devnet-banner.ts'
import { refuseIdle } from './effect.ts'
import { runBeside } from './exec.ts'
import { showFundedAccounts } from './funded-accounts.ts'
import type { NetworkValues } from './network.ts'
import { requestLog } from './request-log.ts'
import { surroundings } from './surroundings.ts'

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

export async function runDevnet(config: DevnetConfig): Promise<number> {
  const { check, data } = config.values
  if (check && data === undefined) {
    throw new NewcutError('BAD_OPTION', '--check needs --data DIR, the directory to check')
  }
  checkModes(config)
  return untilStopped((stopped) =>
    check && data !== undefined
      ? runCheck(data, stopped, (line) => console.log(line), shownOn(barFor(config.values)))
      : serve(config, stopped),
  )
}

/** Beside a command of --exec the terminal is the command's. */
function barFor({ log, exec }: Pick<DevnetValues, 'log' | 'exec'>): ProgressBar {
  const { err, environment, nowMs } = surroundings
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
  if (values.mine) return
  refuseIdle(config, [{ names: ['threads', 'kernel', 'priority'], reason: 'it is for --mine, which is not given' }])
}

async function serve(config: DevnetConfig, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const bar = barFor(values)
  const terminal = { ...surroundings, out: bar.before(surroundings.out), err: bar.before(surroundings.err) }
  const face = values.exec === undefined ? devnetFaceFor(values.log, terminal) : quietFace(values.log)
  const failed = new AbortController()
  const options = { ...startOptions(config, face), onProgress: shownOn(bar), onFailure: () => failed.abort() }
  const devnet = hasPage(values)
    ? await startDevnetWithPage(options, accountOn(development.name, payeeOf(values)))
    : await startDevnet(options)
  const commandIsOver = new AbortController()
  const stop = AbortSignal.any([stopped, failed.signal])
  const ended = AbortSignal.any([stop, commandIsOver.signal])
  let code = 0
  let leave: () => void = () => undefined
  try {
    if (values.mine) checkMinable(devnet)
    if (values.exec === undefined) {
      face.show({ type: 'banner', lines: devnetBanner(devnet, values, surroundings.version) })
      showFundedAccounts(values.log, devnet.url, { ...surroundings, out: face.out })
      leave = face.attend(() => devnetNow(devnet))
    }
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
    leave()
    // If a write failed, this throws its error.
    await devnet.close()
  }
  return code
}

/** Beside a command of --exec the outputs are the command's: only what went wrong is shown, on standard error. */
function quietFace(format: DevnetValues['log']): DevnetFace {
  const face = devnetFaceFor(format, { ...surroundings, out: surroundings.err })
  return {
    ...face,
    show: (event) => {
      if (event.type === 'warning' || event.type === 'hardwareError') face.show(event)
    },
  }
}

function devnetNow({ cut, pending, settings: { autoMine } }: Devnet): DevnetNow {
  const heights = [...cut.values()].map(({ height }) => Number(height))
  const blocksBy = autoMine === null ? 'blocks by miners' : describeAutoMine(autoMine)
  return { lowest: Math.min(...heights), highest: Math.max(...heights), pending, blocksBy }
}

/** Throws NewcutError BAD_OPTION for a network that was kept with a mode which excludes --mine. */
function checkMinable({ settings }: Devnet): void {
  if (settings.pow && settings.autoMine === null) return
  const kept = settings.autoMine === null ? 'no proof of work' : `auto-mine (${describeAutoMine(settings.autoMine)})`
  throw new NewcutError('BAD_OPTION', `--mine needs proof of work, and the network in --data was begun with ${kept}`, {
    hint: 'leave --mine out, or begin another network in another directory',
  })
}

function startOptions(config: DevnetConfig, face: DevnetFace): DevnetOptions {
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
    ...(values['log-requests'] && { onRequest: requestLog(values.log, face.out, surroundings) }),
    ...(values.exec === undefined && { onTransaction: (event) => face.show({ type: 'transaction', ...event }) }),
    onSolved: ({ chainId: chain, height: h, target }, addition, by) => {
      const height = Number(h)
      if (addition.status === 'added') {
        const difficulty = Number(difficultyOf(target) ?? 0n)
        const transactions = addition.block.payload.transactions.length
        face.show({ type: 'block', chain, height, difficulty, by, transactions })
      } else {
        const reason = addition.status === 'stale' ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        face.show({ type: 'refused', chain, height, reason })
      }
    },
    onNotice: (message) => face.show({ type: 'warning', message }),
  }
}

/** The same miner as that of `newcut mine`, over HTTP. */
async function mineItself(devnet: Devnet, config: DevnetConfig, face: DevnetFace, stopped: AbortSignal): Promise<void> {
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

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
