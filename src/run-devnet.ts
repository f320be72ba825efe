/** `newcut devnet`: the embedded node on its own. */

import type { Config } from './cli/config.ts'
import { type Face, jsonFace, textFace } from './cli/console.ts'
import type { devnetOptions, Values } from './cli/options.ts'
import { NewcutError } from './core/errors.ts'
import type { MinerAccount } from './core/payload.ts'
import { difficultyOf } from './core/target.ts'
import { formatDuration, withPrefix } from './core/units.ts'
import { type Devnet, startDevnet } from './devnet/devnet.ts'
import type { AskedSettings } from './devnet/settings.ts'
import { runCheck } from './run-check.ts'
import { untilStopped } from './shutdown.ts'
import { packageVersion } from './version.ts'

type NetworkValues = Pick<Values<typeof devnetOptions>, 'graph' | 'block-delay' | 'difficulty' | 'pow'>

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
function chosenSettings({ values, origins }: Config<typeof devnetOptions>): AskedSettings {
  const chosen = <T>(name: keyof NetworkValues, value: T) => (origins.get(name) === 'default' ? undefined : value)
  return {
    graph: chosen('graph', values.graph),
    blockDelayMs: chosen('block-delay', values['block-delay']),
    difficulty: chosen('difficulty', values.difficulty),
    pow: chosen('pow', values.pow),
  }
}

/** One line on an embedded network. */
export function networkLine({ chains, network, settings, url }: Devnet): string {
  const parts = [
    `${network.name}, ${chains.cut.size} chains`,
    `block delay ${formatDuration(settings.blockDelayMs)}`,
    settings.pow ? `difficulty ${withPrefix(Number(settings.difficulty))}` : 'no proof of work',
  ]
  return `embedded network: ${parts.join(', ')} at ${url}`
}

export function faceFor(format: 'text' | 'json'): Face {
  return format === 'json' ? jsonFace(process.stdout) : textFace(process.stdout)
}

export function runDevnet(config: Config<typeof devnetOptions>): Promise<number> {
  const { check, data } = config.values
  if (check && data === undefined) throw new NewcutError('BAD_OPTION', '--check: of what? give it --data DIR')
  return untilStopped((stopped) =>
    check && data !== undefined ? runCheck(data, stopped, (line) => console.log(line)) : serve(config, stopped),
  )
}

async function serve(config: Config<typeof devnetOptions>, stopped: AbortSignal): Promise<number> {
  const { values } = config
  const face = faceFor(values.log)
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  const failed = new AbortController()
  const devnet = await startDevnet({
    ...chosenSettings(config),
    dataDir: values.data,
    backupDir: values['backup-dir'],
    host: values.host,
    port: values.port,
    product: values.product,
    updateStreamMs: values['update-stream'],
    updateStreamLimit: values['update-stream-limit'],
    workLimit: values['work-limit'],
    ...(accounts && { accounts }),
    onSolved: ({ chainId: chain, height: h, target }, addition) => {
      const height = Number(h)
      if (addition.status === 'added') {
        face.show({ type: 'block', chain, height, difficulty: Number(difficultyOf(target) ?? 0n) })
      } else {
        const reason = addition.status === 'stale' ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        face.show({ type: 'refused', chain, height, reason })
      }
    },
    onFailure: () => failed.abort(),
    onNotice: (message) => face.show({ type: 'warning', message }),
  })
  face.show({ type: 'banner', lines: banner(devnet, values) })
  await aborted(AbortSignal.any([stopped, failed.signal]))
  // After a failed write closing throws what it was.
  await devnet.close()
  return 0
}

function banner(devnet: Devnet, values: Values<typeof devnetOptions>): string[] {
  const { chains, network, url } = devnet
  const mining = `${url}/${values.product}/0.0/${network.name}/mining/work`
  return [
    `newcut ${packageVersion}`,
    networkLine(devnet),
    ...(values.data === undefined ? [] : [`data: ${values.data}, ${chains.store.size} blocks`]),
    `mine it: newcut mine --node ${url} (work at ${mining})`,
  ]
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
