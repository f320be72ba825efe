/** Polls the workers of the rigs every ten seconds: they are too many for the event stream. */
import type { WorkerRow, WorkerTable } from '#mining/accounts/rig-rows.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { ageText, groupDigits, NONE, rateText } from '../../kit/numbers.ts'

const REFRESH_MS = 10_000
/** Limit of rows: workers with a warning first, then the fastest. */
const MAX_SHOWN = 50

export class RigTableView {
  #askedAtMs = Number.NEGATIVE_INFINITY

  /** Polls if the interval is over. Call it often. */
  look(): void {
    const nowMs = performance.now()
    if (document.hidden || nowMs - this.#askedAtMs < REFRESH_MS) return
    this.#askedAtMs = nowMs
    void this.#refresh()
  }

  async #refresh(): Promise<void> {
    const response = await fetch(`/api/rigs?limit=${MAX_SHOWN}`).catch(() => null)
    // The page already says that the miner is unreachable.
    if (response?.ok) this.#show((await response.json()) as WorkerTable)
  }

  #show({ rigs, total, nowMs, isLogWell }: WorkerTable): void {
    fill(
      element('rig-workers'),
      rigs,
      ({ user, worker }) => `${user}\n${worker}`,
      () => make('li', {}, make('b'), make('span'), make('small')),
      (item, rig) => {
        item.dataset.state = rig.warning !== null ? 'troubled' : rig.connections > 0 ? 'active' : 'away'
        item.title = `${rig.user} ${rig.agent} ${rig.address}`
        write(item.children[0], rig.worker === '' ? rig.user : rig.worker)
        write(item.children[1], rateText(rig.hashrates['1h'] ?? rig.hashrates.now))
        write(item.children[2], detailsOf(rig, nowMs))
      },
    )
    const others = total - rigs.length
    write('rig-others', others > 0 ? `and ${groupDigits(others)} more; newcut rigs lists all` : '')
    if (isLogWell === false)
      write('rig-others', 'The share log cannot be written, so shares are refused. Check the disk.')
  }
}

function detailsOf({ accepted, refused, lastShareMs, warning }: WorkerRow, nowMs: number): string {
  const parts = [`${groupDigits(accepted)} accepted`]
  for (const [verdict, count] of Object.entries(refused)) parts.push(`${groupDigits(count)} ${verdict}`)
  parts.push(`last share ${lastShareMs === null ? NONE : ageText(Math.max(0, nowMs - lastShareMs))}`)
  if (warning !== null) parts.push(`too many refused shares, mostly ${warning.reason}`)
  return parts.join(' · ')
}
