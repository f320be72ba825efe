/** The keys that a running miner obeys. */

/** Key -> its action, in the order of the list. */
export const keys = {
  h: 'hashrate',
  s: 'results',
  c: 'connection',
  e: 'health',
  m: 'money',
  p: 'pause',
  r: 'resume',
  q: 'quit',
  '?': 'keys',
} as const
export type Key = keyof typeof keys

export function isKey(name: string): name is Key {
  return Object.hasOwn(keys, name)
}

/** `h hashrate, s results, ...` */
export const keysText = Object.entries(keys)
  .map(([key, what]) => `${key} ${what}`)
  .join(', ')
