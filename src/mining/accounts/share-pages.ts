/** Pages of a share log over HTTP. Each names the start of the next one. */
import type { RefusedShares, ShareEntry, ShareReader, TimeRange } from './share-store.ts'

/** Response header with the `after` parameter of the next page; absent on the last one. */
export const PAGE_HEADER = 'newcut-after'

interface LogPage<T> {
  readonly lines: readonly T[]
  /** Null on the last page. */
  readonly next: string | null
}

/** Position of a share, which may be deleted already. */
interface ShareCursor {
  readonly timeMs: number
  readonly id: string
}

/** Position within the refusals: a minute, and how many of its records were read. */
interface InvalidCursor {
  readonly minuteMs: number
  readonly count: number
}

/** @returns null if the text is not a cursor */
export function shareCursor(text: string): ShareCursor | null {
  const [, time, id] = /^(\d{1,16})\.([\w-]{1,64})$/.exec(text) ?? []
  return time === undefined ? null : { timeMs: Number(time), id }
}

/** @returns null if the text is not a cursor */
export function refusedCursor(text: string): InvalidCursor | null {
  const [, minute, count] = /^(\d{1,16})\.(\d{1,9})$/.exec(text) ?? []
  return minute === undefined ? null : { minuteMs: Number(minute), count: Number(count) }
}

interface ShareRange extends TimeRange {
  readonly newestFirst?: boolean
  readonly after?: ShareCursor | undefined
}

export async function sharePage(log: ShareReader, range: ShareRange, limit: number): Promise<LogPage<ShareEntry>> {
  const { newestFirst = false, after } = range
  const lines: ShareEntry[] = []
  const rest = after === undefined ? {} : newestFirst ? { untilMs: after.timeMs + 1 } : { fromMs: after.timeMs }
  for await (const share of log.shares({ ...range, ...rest })) {
    if (after !== undefined && !isAfter(share, after, newestFirst)) continue
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
  { after, ...range }: TimeRange & { readonly after?: InvalidCursor | undefined },
  limit: number,
): Promise<LogPage<RefusedShares>> {
  const lines: RefusedShares[] = []
  let place: InvalidCursor = { minuteMs: -1, count: 0 }
  for await (const refused of log.refusals(after === undefined ? range : { ...range, fromMs: after.minuteMs })) {
    const { minuteMs } = refused
    const next = minuteMs === place.minuteMs ? { minuteMs, count: place.count + 1 } : { minuteMs, count: 1 }
    const isRead = after !== undefined && minuteMs === after.minuteMs && next.count <= after.count
    if (!isRead && lines.length >= limit) return { lines, next: `${place.minuteMs}.${place.count}` }
    place = next
    if (!isRead) lines.push(refused)
  }
  return { lines, next: null }
}

function isAfter(share: ShareEntry, after: ShareCursor, newestFirst: boolean): boolean {
  if (share.timeMs !== after.timeMs) return true
  return newestFirst ? share.id < after.id : share.id > after.id
}
