/** How a rig writes nonces: the highest byte first, or in the order of memory, as the BlackMiner F1 does. */
import type { ByteOrder } from '../../stratum/nonces.ts'

/** What such programs say of themselves. */
const IN_MEMORY_ORDER = /black ?-?miner/i
/** In a password, which may have more, such as `x,order=memory`. */
const OPTION = /(?:^|[\s,;])order=(memory|usual)(?:$|[\s,;])/i

/** By its program alone. */
export function orderOf(agent: string): ByteOrder {
  return IN_MEMORY_ORDER.test(agent) ? 'memory' : 'usual'
}

/** What the password asks for; null: nothing. */
export function orderAsked(password: unknown): ByteOrder | null {
  if (typeof password !== 'string') return null
  const [, order] = OPTION.exec(password.slice(0, 512)) ?? []
  return order === undefined ? null : (order.toLowerCase() as ByteOrder)
}
