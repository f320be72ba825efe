/** Message about a banned worker. */
import type { RigBehaviour } from './conduct.ts'
import type { Worker } from './workers.ts'

/**
 * Not throttled, because it is given for a worker at most once in ten minutes.
 * @param address where the worker is banned
 */
export function banText({ device, user }: Worker, { bad, good }: RigBehaviour, address: string): string {
  const what = `${bad} of its last ${bad + good} shares were low or malformed`
  return `${device} of ${user} is banned for a while at ${address}, since ${what}: is it set to another network, or its order of bytes?`
}
