/** Pages of a share log, as they go over HTTP: each names where the next one begins. */
import type { RefusedShares, ShareEntry, ShareReader, TimeRange } from './share-store.ts'

/** Header with the parameter `after` of the next page; absent at the last one. */
export const PAGE_HEADER = 'newcut-after'

export interface Page<T> {
  readonly lines: readonly T[]
  /** null: it is the last one. */
  readonly next: string | null
}

/** A share, or the place of one that is gone. */
export interface ShareCursor {
  readonly timeMs: number
  readonly id: string
}

/** Time of a minute, and how many of its records were read. */
export interface RefusedCursor {
  readonly minuteMs: number
  readonly count: number
}

/** null: it is none. */
export function shareCursor(text: string): ShareCursor | null {
  const [, time, id] = /^(\d{1,16})\.([\w-]{1,64})$/.exec(text) ?? []
  return time === undefined ? null : { timeMs: Number(time), id }
}

/** null: it is none. */
export function refusedCursor(text: string): RefusedCursor | null {
  const [, minute, count] = /^(\d{1,16})\.(\d{1,9})$/.exec(text) ?? []
  return minute === undefined ? null : { minuteMs: Number(minute), count: Number(count) }
}

export interface ShareRange extends TimeRange {
  readonly newestFirst?: boolean
  readonly after?: ShareCursor | undefined
}

export async function sharePage(log: ShareReader, range: ShareRange, limit: number): Promise<Page<ShareEntry>> {
  const { newestFirst = false, after } = range
  const lines: ShareEntry[] = []
  const rest = after === undefined ? {} : newestFirst ? { untilMs: after.timeMs + 1 } : { fromMs: after.timeMs }
  for await (const share of log.shares({ ...range, ...rest })) {
    if (after !== undefined && !isBehind(share, after, newestFirst)) continue
    if (lines.length >= limit) {
      const last = lines.at(-1) ?? share
      return { lines, next: `${last.timeMs}.${last.id}` }
    }
    lines.push(share)
  }
  return { lines, next: null }
}

export async function refusedPage(
  log: ShareReader,
  { after, ...range }: TimeRange & { readonly after?: RefusedCursor | undefined },
  limit: number,
): Promise<Page<RefusedShares>> {
  const lines: RefusedShares[] = []
  let place: RefusedCursor = { minuteMs: -1, count: 0 }
  for await (const refused of log.refused(after === undefined ? range : { ...range, fromMs: after.minuteMs })) {
    const { minuteMs } = refused
    const next = minuteMs === place.minuteMs ? { minuteMs, count: place.count + 1 } : { minuteMs, count: 1 }
    const isRead = after !== undefined && minuteMs === after.minuteMs && next.count <= after.count
    if (!isRead && lines.length >= limit) return { lines, next: `${place.minuteMs}.${place.count}` }
    place = next
    if (!isRead) lines.push(refused)
  }
  return { lines, next: null }
}

function isBehind(share: ShareEntry, after: ShareCursor, newestFirst: boolean): boolean {
  if (share.timeMs !== after.timeMs) return true
  return newestFirst ? share.id < after.id : share.id > after.id
}
