/** Lines about the embedded network of the commands `mine` and `devnet`. */

import type { EmbeddedNode } from '#devnet/devnet.ts'
import { formatDuration, withPrefix } from '#ground/base/units.ts'

/** A line about an embedded network. */
export function networkLine({ cut, network, settings, url }: EmbeddedNode): string {
  const parts = [
    `${network.name}, ${cut.size} chains`,
    `block delay ${formatDuration(settings.blockDelayMs)}`,
    settings.pow ? `difficulty ${withPrefix(Number(settings.difficulty))}` : 'no proof of work',
  ]
  return `embedded network: ${parts.join(', ')} at ${url}`
}
