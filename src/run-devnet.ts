/** `newcut devnet`: the embedded node on its own. */

import type { Config } from './cli/config.ts'
import { type Face, jsonFace, textFace } from './cli/console.ts'
import type { devnetOptions, Values } from './cli/options.ts'
import type { MinerAccount } from './core/payload.ts'
import { difficultyOf } from './core/target.ts'
import { formatDuration, withPrefix } from './core/units.ts'
import { type Devnet, startDevnet } from './devnet/devnet.ts'
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

export function runDevnet({ values }: Config<typeof devnetOptions>): Promise<number> {
  return untilStopped((stopped) => serve(values, stopped))
}

async function serve(values: Values<typeof devnetOptions>, stopped: AbortSignal): Promise<number> {
  const face = faceFor(values.log)
  const keys = values['mining-public-key']
  const accounts = keys?.map((key): MinerAccount => ({ account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }))
  const devnet = await startDevnet({
    ...networkSettings(values),
    host: values.host,
    port: values.port,
    product: values.product,
    updateStreamMs: values['update-stream'],
    updateStreamLimit: values['update-stream-limit'],
    workLimit: values['work-limit'],
    refreshMs: values.refresh,
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
  })
  const mining = `${devnet.url}/${values.product}/0.0/${devnet.network.name}/mining/work`
  face.show({
    type: 'banner',
    lines: [
      `newcut ${packageVersion}`,
      networkLine(devnet, values),
      `mine it: newcut mine --node ${devnet.url} (work at ${mining})`,
    ],
  })
  await new Promise<void>((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve(), { once: true })
  })
  await devnet.close()
  return 0
}
