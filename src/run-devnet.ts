/** `newcut devnet`: the embedded node on its own. */

import { type Config, resolveConfig } from './cli/config.ts'
import { type Face, jsonFace, textFace } from './cli/console.ts'
import { type devnetOptions, mineOptions, type Values } from './cli/options.ts'
import { NewcutError } from './core/errors.ts'
import type { MinerAccount } from './core/payload.ts'
import { difficultyOf } from './core/target.ts'
import { formatDuration, withPrefix } from './core/units.ts'
import { describeAutoMine } from './devnet/auto-mine.ts'
import { type Devnet, type DevnetOptions, startDevnet } from './devnet/devnet.ts'
import { runMiner } from './run-miner.ts'
import { untilStopped } from './shutdown.ts'
import { packageVersion } from './version.ts'

type DevnetValues = Values<typeof devnetOptions>
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

/** One line on an embedded network. */
export function networkLine({ chains, network, url }: Devnet, values: NetworkValues): string {
  const parts = [
    `${network.name}, ${chains.cut.size} chains`,
    `block delay ${formatDuration(values['block-delay'])}`,
    values.pow ? `difficulty ${withPrefix(Number(values.difficulty))}` : 'no proof of work',
  ]
  return `embedded network: ${parts.join(', ')} at ${url}`
}

export function faceFor(format: 'text' | 'json'): Face {
  return format === 'json' ? jsonFace(process.stdout) : textFace(process.stdout)
}

export async function runDevnet(config: Config<typeof devnetOptions>): Promise<number> {
  checkModes(config)
  return untilStopped((stopped) => serve(config.values, stopped))
}

/** Throws NewcutError BAD_OPTION for modes that exclude each other. */
function checkModes({ values, origins }: Config<typeof devnetOptions>): void {
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

async function serve(values: DevnetValues, stopped: AbortSignal): Promise<number> {
  const face = faceFor(values.log)
  const devnet = await startDevnet(settingsOf(values, face))
  try {
    face.show({ type: 'banner', lines: banner(devnet, values) })
    if (values.mine) await mineItself(devnet, values, face, stopped)
    else await untilAborted(stopped)
    return 0
  } catch (error) {
    if (stopped.aborted) return 0
    throw error
  } finally {
    await devnet.close()
  }
}

function settingsOf(values: DevnetValues, face: Face): DevnetOptions {
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  const autoMine = values['auto-mine']
  return {
    ...networkSettings(values),
    host: values.host,
    port: values.port,
    product: values.product,
    updateStreamMs: values['update-stream'],
    updateStreamLimit: values['update-stream-limit'],
    workLimit: values['work-limit'],
    refreshMs: values.refresh,
    ...(accounts && { accounts }),
    ...(autoMine && { autoMine, pow: false }),
    onSolved: ({ chainId: chain, height: h, target }, addition) => {
      const height = Number(h)
      if (addition.status === 'added') {
        face.show({ type: 'block', chain, height, difficulty: Number(difficultyOf(target) ?? 0n) })
      } else {
        const reason = addition.status === 'stale' ? 'stale' : `breaks the rule of ${addition.rules.join(', ')}`
        face.show({ type: 'refused', chain, height, reason })
      }
    },
  }
}

function banner(devnet: Devnet, values: DevnetValues): string[] {
  const autoMine = values['auto-mine']
  const isSearched = values.pow && autoMine === undefined
  const mining = `${devnet.url}/${values.product}/0.0/${devnet.network.name}/mining/work`
  const mode = autoMine ? `auto-mine: ${describeAutoMine(autoMine)}` : values.mine ? 'mine: by itself' : null
  return [
    `newcut ${packageVersion}`,
    networkLine(devnet, { ...values, pow: isSearched }),
    ...(mode === null ? [] : [mode]),
    `mine it: newcut mine --node ${devnet.url} (work at ${mining})`,
    `control it: ${devnet.url}/devnet/status`,
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
