/** Message about a banned worker. */
import type { Worker } from './workers.ts'

/** Not throttled, because a worker is banned at most once in ten minutes. */
export function banText({ device, user, bad, good }: Worker): string {
  const what = `${bad} of its last ${bad + good} shares were low or malformed`
  return `${device} of ${user} is banned for a while, since ${what}: is it set to another network, or its order of bytes?`
}
