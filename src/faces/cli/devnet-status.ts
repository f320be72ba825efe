/** The status line of a development network: as much of its current state as fits. */
import { type DevnetActivity, type DevnetNow, heightsText } from './devnet-activity.ts'
import { countText, type Paint } from './line.ts'
import { fitParts, type Part } from './status.ts'

/** At most `columns` wide. */
export function devnetStatusText(
  now: DevnetNow,
  counts: DevnetActivity['counts'],
  columns: number,
  paint: Paint,
): string {
  const { blocks, emptyBlocks, ok, failed, refused } = counts
  const parts: Part[] = [{ rank: 0, text: heightsText(now), style: 'cyan' }]
  if (now.pending > 0) parts.push({ rank: 1, text: `${now.pending} pending`, style: 'yellow' })
  if (ok > 0) parts.push({ rank: 2, text: `${ok} ok`, style: 'green' })
  if (failed > 0) parts.push({ rank: 3, text: `${failed} failed`, style: 'red' })
  if (refused > 0) parts.push({ rank: 4, text: `${refused} refused`, style: 'red' })
  parts.push({ rank: 5, text: `${countText(blocks, 'block')}, ${emptyBlocks} without transactions` })
  parts.push({ rank: 6, text: now.blocksBy, style: 'dim' })
  return fitParts(parts, columns, paint)
}
