/**
 * Keys and values of the share log in LevelDB. Values are JSON with a checksum, since LevelDB does not verify reads.
 */
import { crc32 } from 'node:zlib'
import type { RefusedShares, ShareEntry, ShareRejection, TimeRange } from './share-store.ts'

/** Key prefixes of shares, refusals, accounts and tallies of shares. All other keys begin with `m/`. */
export const SHARES = 's/'
export const REFUSED = 'r/'
export const ACCOUNTS = 'a/'
export const TALLIES = 't/'
/** Upper bound of the keys with a prefix that ends in `/`. */
export const endOfPrefix = (prefix: string) => `${prefix.slice(0, -1)}0`

const TIME_DIGITS = 15

/** A time as text that sorts like the number. */
export const shareTimeText = (timeMs: number) => String(Math.max(0, Math.floor(timeMs))).padStart(TIME_DIGITS, '0')

/**
 * Key of shares of one time that were appended together.
 * @param id the lowest of their ids
 */
export const sharesKey = (timeMs: number, id: string) => `${SHARES}${shareTimeText(timeMs)}/${id}`

/** Unix time in milliseconds in the key of a share, refusal or tally. */
export const timeOfShareKey = (key: string) => Number(key.slice(SHARES.length, SHARES.length + TIME_DIGITS))

export const refusedKey = ({ minuteMs, user, worker, verdict }: Omit<RefusedShares, 'count'>) =>
  `${REFUSED}${shareTimeText(minuteMs)}/${verdict}/${JSON.stringify([user, worker])}`

/** All shares must have the same time. */
export function sharesValue(shares: readonly ShareEntry[]): string {
  return sealRecord(
    shares.map(({ id, user, worker, agent, address, chain, height, difficulty, blockDifficulty, block, refusedAs }) => {
      const record = [id, user, worker, agent, address, chain, height, difficulty, blockDifficulty, block]
      return refusedAs === undefined ? record : [...record, refusedAs]
    }),
  )
}

/** @returns null if the checksum or the content is wrong */
export function readShares(key: string, value: string): ShareEntry[] | null {
  const records = unsealRecord(value)
  if (!Array.isArray(records)) return null
  const timeMs = timeOfShareKey(key)
  return records.map(
    ([id, user, worker, agent, address, chain, height, difficulty, blockDifficulty, block, refusedAs]) => {
      const share = { id, timeMs, user, worker, agent, address, chain, height, difficulty, blockDifficulty, block }
      return refusedAs === undefined ? share : { ...share, refusedAs }
    },
  )
}

export const refusedValue = (count: number) => sealRecord(count)

/** @returns null if the checksum or the content is wrong */
export function readRefusal(key: string, value: string): RefusedShares | null {
  const count = unsealRecord(value)
  if (typeof count !== 'number') return null
  const minuteMs = timeOfShareKey(key)
  const rest = key.slice(REFUSED.length + TIME_DIGITS + 1)
  const slash = rest.indexOf('/')
  const [user, worker] = JSON.parse(rest.slice(slash + 1)) as [string, string]
  return { minuteMs, user, worker, verdict: rest.slice(0, slash) as ShareRejection, count }
}

/** JSON after its checksum. */
export function sealRecord(value: unknown): string {
  const text = JSON.stringify(value)
  return `${crc32(text).toString(36)} ${text}`
}

/** @returns undefined if the checksum is wrong */
export function unsealRecord(value: string): unknown {
  const space = value.indexOf(' ')
  const text = value.slice(space + 1)
  return crc32(text).toString(36) === value.slice(0, space) ? JSON.parse(text) : undefined
}

/** Shares of the same time together. */
export function byTime(shares: readonly ShareEntry[]): Map<number, ShareEntry[]> {
  const groups = new Map<number, ShareEntry[]>()
  for (const share of shares) {
    const group = groups.get(share.timeMs)
    if (group === undefined) groups.set(share.timeMs, [share])
    else group.push(share)
  }
  return groups
}

/** Sorted by id, without duplicates. */
export function distinctShares(shares: readonly ShareEntry[]): ShareEntry[] {
  const sorted = shares.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  return sorted.filter(({ id }, i) => id !== sorted[i - 1]?.id)
}

/** Keys of the records with this prefix and a time in this range. */
export function rangeOf(prefix: string, { fromMs, untilMs }: TimeRange) {
  const gte = fromMs === undefined ? prefix : prefix + shareTimeText(Math.ceil(fromMs))
  return { gte, lt: untilMs === undefined ? endOfPrefix(prefix) : prefix + shareTimeText(Math.ceil(untilMs)) }
}
