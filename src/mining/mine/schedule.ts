/**
 * When to mine: weekly windows in local time.
 *
 *     schedule: part (',' part)*        a part with days only joins them to the next part
 *     part:     days | [days ' '] times
 *     days:     mon | mon-fri | fri-mon
 *     times:    22:00-06:00             an end at or before the start is on the next day
 */

/** Local time of day. */
interface LocalTime {
  /** 0 is Sunday. */
  readonly day: number
  /** Minutes since midnight as a local clock shows them. */
  readonly minute: number
}

interface TimeWindow {
  /** Days on which it begins. */
  readonly days: ReadonlySet<number>
  /** Minutes since midnight. `to` is after `from`, and may be on the next day. */
  readonly from: number
  readonly to: number
}

export interface Schedule {
  /** The text as the user wrote it. */
  readonly text: string
  readonly windows: readonly TimeWindow[]
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const DAY_MIN = 24 * 60
const MINUTE_MS = 60_000
/** A week, plus a day in which daylight saving time changes. */
const HORIZON_MIN = 8 * DAY_MIN

/** @returns the schedule, or a problem of the text */
export function parseSchedule(text: string): Schedule | { readonly problem: string } {
  const windows: TimeWindow[] = []
  let waiting: number[] = []
  for (const part of text.toLowerCase().split(',')) {
    const [first = '', second, ...rest] = part.trim().split(/\s+/)
    if (rest.length > 0) return { problem: `"${part.trim()}" has more than days and times` }
    const isTimes = /^\d/.test(first)
    const days = isTimes ? null : daysOf(first)
    if (typeof days === 'string') return { problem: days }
    const typed = isTimes ? first : second
    if (isTimes && second !== undefined) return { problem: `in "${part.trim()}" days come before times` }
    waiting = [...waiting, ...(days ?? [])]
    if (typed === undefined) continue
    const times = timesOf(typed)
    if (typeof times === 'string') return { problem: times }
    windows.push({ days: new Set(waiting.length > 0 ? waiting : DAYS.keys()), ...times })
    waiting = []
  }
  if (waiting.length > 0) return { problem: `no times follow ${DAYS[waiting[waiting.length - 1]]}` }
  return { text: text.trim(), windows }
}

/** The days of `mon` or `fri-mon`, or a problem. */
function daysOf(text: string): number[] | string {
  if (text === '') return 'a part is empty'
  const [from, to, ...rest] = text.split('-').map((name) => DAYS.indexOf(name))
  if (from === -1 || to === -1 || rest.length > 0)
    return `"${text}" is not a day; use mon, tue, ... or a range such as mon-fri`
  const count = to === undefined ? 1 : ((to - from + 7) % 7) + 1
  return Array.from({ length: count }, (_, i) => (from + i) % 7)
}

function timesOf(text: string): Pick<TimeWindow, 'from' | 'to'> | string {
  const [, h1, m1, h2, m2] = /^(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)$/.exec(text) ?? []
  if (h1 === undefined) return `"${text}" is not a time; use HH:MM-HH:MM, such as 22:00-06:00`
  const from = Number(h1) * 60 + Number(m1)
  const to = Number(h2) * 60 + Number(m2)
  if (Number(m1) > 59 || Number(m2) > 59 || from >= DAY_MIN || to > DAY_MIN)
    return `"${text}" has a time that no clock shows; the last one is 24:00, as an end`
  if (from === to) return `"${text}" is empty; a whole day is 00:00-24:00`
  return { from, to: to > from ? to : to + DAY_MIN }
}

/** Whether to mine at that time. */
export function isOpen({ windows }: Schedule, { day, minute }: LocalTime): boolean {
  const before = (day + 6) % 7
  return windows.some(({ days, from, to }) => {
    return (days.has(day) && from <= minute && minute < to) || (days.has(before) && minute < to - DAY_MIN)
  })
}

/**
 * When the answer of isOpen() changes next. Checks every minute, so days of 23 or 25 hours need no special case.
 * @param localTime converts a Unix time in milliseconds
 * @returns Unix time in milliseconds at a full minute, or null if it never changes
 */
export function nextChangeMs(
  schedule: Schedule,
  nowMs: number,
  localTime: (unixMs: number) => LocalTime,
): number | null {
  const now = isOpen(schedule, localTime(nowMs))
  const start = Math.floor(nowMs / MINUTE_MS)
  for (let minute = start + 1; minute <= start + HORIZON_MIN; minute++) {
    if (isOpen(schedule, localTime(minute * MINUTE_MS)) !== now) return minute * MINUTE_MS
  }
  return null
}

/** `22:00` within a day, else `mon 22:00`. */
export function clockText(unixMs: number, nowMs: number, localTime: (unixMs: number) => LocalTime): string {
  const { day, minute } = localTime(unixMs)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
  return unixMs - nowMs < DAY_MIN * MINUTE_MS ? time : `${DAYS[day]} ${time}`
}
