/** Rounds of shares: the shares that belong to a block, without those of earlier blocks. */

/** Position of a share in the order of time and id. */
export interface Position {
  readonly timeMs: number
  readonly id: string
}

/** Shares after `after` up to and including `upTo`. `after` is null from the first share. */
export interface Span {
  readonly after: Position | null
  readonly upTo: Position
}

/** @returns a negative number if `a` comes before `b` */
export function comparePositions(a: Position, b: Position): number {
  if (a.timeMs !== b.timeMs) return a.timeMs - b.timeMs
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/**
 * The round of the block found by the share at `upTo`: all shares up to it that are in none of the used spans.
 * Ascending, without empty spans.
 */
export function roundUpTo(upTo: Position, used: readonly Span[]): Span[] {
  const round: Span[] = []
  let from: Position | null = null
  for (const { after, upTo: end } of used.toSorted(byStart)) {
    if (after !== null && isBefore(from, after)) {
      if (comparePositions(after, upTo) >= 0) break
      round.push({ after: from, upTo: after })
    }
    if (isBefore(from, end)) from = end
  }
  if (isBefore(from, upTo)) round.push({ after: from, upTo })
  return round
}

const isBefore = (from: Position | null, position: Position) => from === null || comparePositions(from, position) < 0

function byStart(a: Span, b: Span): number {
  if (a.after === null || b.after === null) return Number(b.after === null) - Number(a.after === null)
  return comparePositions(a.after, b.after)
}

/** Whether a share is in one of the spans. */
export function isInside(position: Position, spans: readonly Span[]): boolean {
  return spans.some(({ after, upTo }) => isBefore(after, position) && comparePositions(position, upTo) <= 0)
}
