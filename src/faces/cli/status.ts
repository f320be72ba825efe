/** The status line of a miner: as much of its current state as fits. */
import { formatHashrate } from '#ground/base/units.ts'
import type { Pause } from '#mining/mine/pauses.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { powerText } from './energy-text.ts'
import type { Paint, Style } from './line.ts'
import { countsText, percent } from './lines.ts'
import { profitPart } from './profit-lines.ts'
import { textWidth } from './text-width.ts'

/** A part of the status line. */
export interface Part {
  /** The priority of the part: parts with a lower rank win the space. */
  readonly rank: number
  readonly text: string
  readonly style?: Style
}

const GAP = '  '
/** Between effort and chain. */
const PROFIT_RANK = 4.5

/** At most `columns` wide. */
export function statusText(snapshot: Snapshot, columns: number, paint: Paint): string {
  return fitParts(partsOf(snapshot), columns, paint)
}

/** The parts that fit, in their order. */
export function fitParts(parts: readonly Part[], columns: number, paint: Paint): string {
  const shown = new Set<Part>()
  let width = 0
  for (const part of parts.toSorted((a, b) => a.rank - b.rank)) {
    const more = textWidth(part.text) + (shown.size === 0 ? 0 : GAP.length)
    if (width + more > columns) continue
    width += more
    shown.add(part)
  }
  return parts
    .filter((part) => shown.has(part))
    .map(({ style, text }) => (style === undefined ? text : paint(style, text)))
    .join(GAP)
}

function partsOf(snapshot: Snapshot): Part[] {
  const { work, results, connected, idleReason, waitReason, pauses, hashrates, highestHashrate, meanHashrate } =
    snapshot
  const parts: Part[] = []
  const [pause] = pauses
  if (pause !== undefined) parts.push({ rank: 0, text: pauseText(pause), style: 'yellow' })
  else if (idleReason !== null) parts.push({ rank: 0, text: 'nothing searches', style: 'red' })
  else if (waitReason !== undefined) parts.push({ rank: 0, text: `waits ${waitReason}`, style: 'cyan' })
  else if (work === null) parts.push({ rank: 0, text: 'no work', style: 'yellow' })
  parts.push({ rank: 1, text: formatHashrate(hashrates['10s'] ?? meanHashrate), style: 'bold' })
  if (highestHashrate !== null) parts.push({ rank: 6, text: `max ${formatHashrate(highestHashrate)}` })
  parts.push({ rank: 2, text: countsText(snapshot), style: 'green' })
  if (work !== null) parts.push({ rank: 5, text: `chain ${work.chain} at ${work.height}`, style: 'cyan' })
  parts.push({ rank: 4, text: `effort ${percent(results.effort)}` })
  if (pause === undefined) parts.push(...profitPart(snapshot).map((part) => ({ rank: PROFIT_RANK, ...part })))
  if (!connected) parts.push({ rank: 3, text: 'no news', style: 'yellow' })
  const warmest = Math.max(...snapshot.hardware.map(({ celsius }) => celsius ?? Number.NEGATIVE_INFINITY))
  if (Number.isFinite(warmest)) parts.push({ rank: 7, text: `${Math.round(warmest)} C` })
  const power = powerText(snapshot.energy)
  if (power !== '') parts.push({ rank: 8, text: power })
  if (snapshot.issuer !== null) parts.push({ rank: 9, text: placeOf(snapshot.issuer), style: 'dim' })
  return parts
}

const pauseText = ({ by, text }: Pause) => (by === 'user' ? 'paused' : `paused ${text}`)

/** Host and port of the node whose work is searched. */
function placeOf(issuer: string): string {
  return URL.canParse(issuer) ? new URL(issuer).host : issuer
}
