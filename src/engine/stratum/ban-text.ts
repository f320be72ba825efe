/** What is said of a worker that is banned. */
import type { Worker } from './workers.ts'

/** Told each time: a worker is banned once in ten minutes at most. */
export function banText({ device, user, bad, good }: Worker): string {
  const what = `${bad} of its last ${bad + good} shares were low or malformed`
  return `${device} of ${user} is banned for a while, since ${what}: is it set to another network, or its order of bytes?`
}
