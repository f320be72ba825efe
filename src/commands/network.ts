/** The embedded network of the commands `mine` and `devnet`. */
import { formatDuration, withPrefix } from '../base/units.ts'
import type { mineOptions } from '../cli/options/mine.ts'
import type { Values } from '../cli/options/row.ts'
import type { EmbeddedNode } from '../devnet/devnet.ts'

export type NetworkValues = Pick<
  Values<typeof mineOptions>,
  'graph' | 'block-delay' | 'difficulty' | 'pow' | 'fork-epoch'
>

/** The options of an embedded network that `mine` and `devnet` share. */
export function networkSettings(values: NetworkValues) {
  return {
    graph: values.graph,
    blockDelayMs: values['block-delay'],
    difficulty: values.difficulty,
    pow: values.pow,
    forkEpoch: values['fork-epoch'],
  }
}

/** A line about an embedded network. */
export function networkLine({ cut, network, settings, url }: EmbeddedNode): string {
  const parts = [
    `${network.name}, ${cut.size} chains`,
    `block delay ${formatDuration(settings.blockDelayMs)}`,
    settings.pow ? `difficulty ${withPrefix(Number(settings.difficulty))}` : 'no proof of work',
  ]
  return `embedded network: ${parts.join(', ')} at ${url}`
}
