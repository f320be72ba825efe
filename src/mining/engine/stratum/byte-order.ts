/** Byte order of a rig's nonces: most significant byte first, or memory order, as on the BlackMiner F1. */
import type { ByteOrder } from '../../stratum/nonces.ts'

/** Agent names of programs with memory order. */
const IN_MEMORY_ORDER = /black ?-?miner/i
/** Option in a password, which may contain more, such as `x,order=memory`. */
const OPTION = /(?:^|[\s,;])order=(memory|usual)(?:$|[\s,;])/i

/** The byte order of a program, from its agent name. */
export function orderOf(agent: string): ByteOrder {
  return IN_MEMORY_ORDER.test(agent) ? 'memory' : 'usual'
}

/** The byte order that a password asks for, or null. */
export function requestedOrder(password: unknown): ByteOrder | null {
  if (typeof password !== 'string') return null
  const [, order] = OPTION.exec(password.slice(0, 512)) ?? []
  return order === undefined ? null : (order.toLowerCase() as ByteOrder)
}
