/** Lists the node's snapshots, to revert to one of them. */
import type { SnapshotResult } from '#ground/schema/control.ts'
import { element, make, write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'

export class SnapshotPanel {
  readonly #list = element<HTMLSelectElement>('revert-snapshot')
  /** Descriptions of snapshots that this page took. */
  readonly #known = new Map<number, string>()
  #ids: readonly number[] = []
  #shown = ''

  /** Lists the snapshots, newest first. Selects a new one. */
  show(ids: readonly number[]): void {
    this.#ids = ids
    const texts = ids.toReversed().map((id): [number, string] => [id, this.#known.get(id) ?? `snapshot ${id}`])
    const shown = JSON.stringify(texts)
    if (shown === this.#shown) return
    this.#shown = shown
    const [chosen, newest] = [this.#list.value, this.#list.options[0]?.value]
    this.#list.replaceChildren(...texts.map(([id, text]) => make('option', { value: String(id) }, text)))
    // Keep the selection unless it is gone or was the newest.
    if (chosen !== newest && ids.includes(Number(chosen))) this.#list.value = chosen
    this.enable()
    write('snapshots-state', ids.length === 0 ? 'none taken' : `${ids.length} taken`)
  }

  /** Enables the button if a snapshot exists; also after a control request, which disabled it. */
  enable(): void {
    const hasNone = this.#ids.length === 0
    this.#list.disabled = hasNone
    element<HTMLButtonElement>('revert-button').disabled = hasNone
  }

  /** Handles the answer to a control request that took a snapshot. */
  onTaken(text: string): void {
    const { id, heights } = JSON.parse(text) as SnapshotResult
    const all = Object.values(heights)
    const [low, high] = [Math.min(...all), Math.max(...all)]
    const where = low === high ? `height ${groupDigits(low)}` : `heights ${groupDigits(low)} to ${groupDigits(high)}`
    this.#known.set(id, `snapshot ${id}, at ${where}`)
    // The stream may have reported the snapshot first.
    this.show(this.#ids)
  }
}
