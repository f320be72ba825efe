/** A list in pages, the newest items first. New blocks renew it. */
import { groupDigits } from '../../kit/numbers.ts'

/** A page as the node sends it. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly next: string | null
  /** Time of the last block that was searched. */
  readonly searchedTo: number | null
}

/** The parts of a button that a list uses. */
interface MoreButton {
  hidden: boolean | string
  disabled: boolean
  addEventListener(type: 'click', listener: () => void): void
}

export interface PagedListOptions<T> {
  /** Reads a page. @param next cursor; undefined for the first page */
  readonly read: (next: string | undefined) => Promise<ListPage<T>>
  /** Identity of an item. */
  readonly keyOf: (item: T) => string
  readonly show: (items: readonly T[]) => void
  readonly more: MoreButton
  readonly onStatus: (text: string) => void
  /** Name of one item. */
  readonly noun: string
  /** Text for a list without items. Default: `No NOUN yet.` */
  readonly describeNone?: () => string
}

/** Requests that go on by themselves while pages are empty: each searches 5,000 blocks. */
const MAX_EMPTY_PAGES = 40

export class PagedList<T> {
  readonly #options: PagedListOptions<T>
  #items: readonly T[] = []
  #next: string | null = null
  #searchedTo: number | null = null
  /** Counts restarts: pages of an earlier one are dropped. */
  #run = 0

  constructor(options: PagedListOptions<T>) {
    this.#options = options
    options.more.hidden = true
    options.more.addEventListener('click', () => {
      void this.#grow(this.#run).catch((error: unknown) =>
        options.onStatus(error instanceof Error ? error.message : String(error)),
      )
    })
  }

  /** Begins again with the first page. */
  async restart(): Promise<void> {
    const run = ++this.#run
    this.#items = []
    this.#next = null
    this.#options.show([])
    await this.#grow(run)
  }

  /** Reads the first page again, for new items and changed ones. Keeps what was read of older ones. */
  async renew(): Promise<void> {
    const run = this.#run
    const { read, keyOf, show } = this.#options
    const page = await read(undefined)
    if (run !== this.#run) return
    const known = new Set(this.#items.map(keyOf))
    const hasGap = page.items.length > 0 && page.next !== null && !page.items.some((item) => known.has(keyOf(item)))
    if (hasGap || this.#items.length <= page.items.length) {
      this.#items = page.items
      if (page.items.length > 0 || page.next === null) {
        this.#next = page.next
        this.#searchedTo = page.searchedTo
      }
    } else {
      const renewed = new Set(page.items.map(keyOf))
      const last = this.#items.findLastIndex((item) => renewed.has(keyOf(item)))
      this.#items = [...page.items, ...this.#items.slice(last + 1)]
    }
    show(this.#items)
    this.#tell()
  }

  async #grow(run: number): Promise<void> {
    const { read, show, more, onStatus: onTold } = this.#options
    more.disabled = true
    onTold('searching')
    try {
      for (let empty = 0; empty < MAX_EMPTY_PAGES; empty++) {
        const page = await read(this.#next ?? undefined)
        if (run !== this.#run) return
        this.#items = [...this.#items, ...page.items]
        this.#next = page.next
        this.#searchedTo = page.searchedTo
        if (page.items.length > 0 || page.next === null) break
        this.#tell()
      }
    } finally {
      more.disabled = false
    }
    show(this.#items)
    this.#tell()
  }

  #tell(): void {
    const { more, onStatus: onTold, noun, describeNone = () => `No ${noun} yet.` } = this.#options
    more.hidden = this.#next === null
    const count = this.#items.length
    const shown = count === 1 ? `1 ${noun}` : `${groupDigits(count)} ${noun}s`
    const to = this.#searchedTo === null ? '' : new Date(this.#searchedTo).toLocaleString('en-GB')
    if (this.#next !== null) onTold(`${shown}, back to ${to}`)
    else onTold(count === 0 ? describeNone() : `${shown}: these are all`)
  }
}
