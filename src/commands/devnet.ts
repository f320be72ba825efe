/** `newcut devnet`: the embedded node on its own. */

import { type Config, resolveConfig } from '../cli/config.ts'
import { type Face, jsonFace, textFace } from '../cli/console.ts'
import { type devnetOptions, mineOptions, type Values } from '../cli/options.ts'
import { type Devnet, type DevnetOptions, startDevnet } from '../compose/devnet.ts'
import { runMiner } from '../compose/miner.ts'
import { NewcutError } from '../core/errors.ts'
import type { MinerAccount } from '../core/payload.ts'
import { difficultyOf } from '../core/target.ts'
import { formatDuration, withPrefix } from '../core/units.ts'
import { describeAutoMine } from '../devnet/rules/auto-mine-mode.ts'
import { untilStopped } from '../platform/shutdown.ts'
import { packageVersion } from '../platform/version.ts'
import { runCheck } from './check.ts'

type DevnetConfig = Config<typeof devnetOptions>
type DevnetValues = Values<typeof devnetOptions>
type NetworkValues = Pick<DevnetValues, 'graph' | 'block-delay' | 'difficulty' | 'pow'>

/** The options of an embedded network that `mine` and `devnet` share. */
export function networkSettings(values: NetworkValues) {
  return {
    graph: values.graph,
    blockDelayMs: values['block-delay'],
    difficulty: values.difficulty,
    pow: values.pow,
  }
}

/** Those that somebody chose: a network that is on disk has its own. */
function chosenSettings({ values, origins }: DevnetConfig) {
  const chosen = <T>(name: keyof NetworkValues, value: T) => (origins.get(name) === 'default' ? undefined : value)
  return {
    graph: chosen('graph', values.graph),
    blockDelayMs: chosen('block-delay', values['block-delay']),
    difficulty: chosen('difficulty', values.difficulty),
    // Switches have no other use than to be chosen; with --auto-mine it goes without saying.
    pow: values['auto-mine'] === undefined ? chosen('pow', values.pow) : false,
  }
}

/** One line on an embedded network. */
export function networkLine({ cut, network, settings, url }: Devnet): string {
  const parts = [
    `${network.name}, ${cut.size} chains`,
    `block delay ${formatDuration(settings.blockDelayMs)}`,
    settings.pow ? `difficulty ${withPrefix(Number(settings.difficulty))}` : 'no proof of work',
  ]
  return `embedded network: ${parts.join(', ')} at ${url}`
}

export function faceFor(format: 'text' | 'json'): Face {
  return format === 'json' ? jsonFace(process.stdout) : textFace(process.stdout)
}

export async function runDevnet(config: DevnetConfig): Promise<number> {
  const { check, data } = config.values
  if (check && data === undefined) throw new NewcutError('BAD_OPTION', '--check: of what? give it --data DIR')
  checkModes(config)
  return untilStopped((stopped) =>
    check && data !== undefined ? runCheck(data, stopped, (line) => console.log(line)) : serve(config, stopped),
  )
}

/** Throws NewcutError BAD_OPTION for modes that exclude each other. */
function checkModes({ values, origins }: DevnetConfig): void {
  if (values.mine && values['auto-mine'] !== undefined) {
    throw new NewcutError('BAD_OPTION', '--mine and --auto-mine exclude each other: one searches, the other does not')
  }
  if (values.mine && !values.pow) {
    const hint = '--auto-mine makes blocks without proof of work'
    throw new NewcutError('BAD_OPTION', '--mine needs proof of work, and --no-pow leaves nothing to search', { hint })
  }
  if (values.mine) return
  for (const name of ['threads', 'kernel', 'priority'] as const) {
    // A file or the environment may hold it for `mine`.
    if (origins.get(name) === 'flag') throw new NewcutError('BAD_OPTION', `--${name} is for --mine, which is not given`)
  }
}

async function serve(config: DevnetConfig, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const face = faceFor(values.log)
  const failed = new AbortController()
  const devnet = await startDevnet({ ...startOptions(config, face), onFailure: () => failed.abort() })
  const ended = AbortSignal.any([stopped, failed.signal])
  try {
    face.show({ type: 'banner', lines: banner(devnet, values) })
    if (values.mine) await mineItself(devnet, values, face, ended)
    else await untilAborted(ended)
  } catch (error) {
    if (!ended.aborted) throw error
  } finally {
    // After a failed write closing throws what it was.
    await devnet.close()
  }
  return 0
}

function startOptions(config: DevnetConfig, face: Face): DevnetOptions {
  const { values } = config
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  const autoMine = values['auto-mine']
  return {
    ...chosenSettings(config),
    dataDir: values.data,
    backupDir: values['backup-dir'],
    host: values.host,
    port: values.port,
    product: values.product,
    updateStreamMs: values['update-stream'],
    updateStreamLimit: values['update-stream-limit'],
    workLimit: values['work-limit'],
    refreshMs: values.refresh,
    ...(accounts && { accounts }),
    ...(autoMine && { autoMine }),
    onSolved: ({ chainId: chain, height: h, target }, addition) => {
      const height = Number(h)
      if (addition.status === 'added') {
        face.show({ type: 'block', chain, height, difficulty: Number(difficultyOf(target) ?? 0n) })
      } else {
        const reason = addition.status === 'stale' ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        face.show({ type: 'refused', chain, height, reason })
      }
    },
    onNotice: (message) => face.show({ type: 'warning', message }),
  }
}

function banner(devnet: Devnet, values: DevnetValues): string[] {
  const { blocks, network, url } = devnet
  const { autoMine } = devnet.settings
  const mining = `${url}/${values.product}/0.0/${network.name}/mining/work`
  const mode = autoMine ? `auto-mine: ${describeAutoMine(autoMine)}` : values.mine ? 'mine: by itself' : null
  return [
    `newcut ${packageVersion}`,
    networkLine(devnet),
    ...(values.data === undefined ? [] : [`data: ${values.data}, ${blocks} blocks`]),
    ...(mode === null ? [] : [mode]),
    `mine it: newcut mine --node ${url} (work at ${mining})`,
    `control it: ${url}/devnet/status`,
  ]
}

/** The real miner, over the wire as any other. */
async function mineItself(devnet: Devnet, values: DevnetValues, face: Face, stopped: AbortSignal): Promise<void> {
  const { threads, kernel, priority, log } = values
  const keys = values['mining-public-key']
  const flags = { threads, kernel, priority, log, gpu: 'none', http: 'off', ...(keys && { 'public-key': keys[0] }) }
  const config = resolveConfig(mineOptions, flags, {}, undefined)
  const snapshot = await runMiner({ config, url: devnet.url, face, stopped, onStart: () => undefined })
  face.show({ type: 'summary', snapshot })
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
