/** Lists that a node gives out page by page. Cursors are used literally (PROTOCOL.md E.1). */
import { NewcutError } from '../core/errors.ts'
import type { Operation } from '../schema/operation.ts'
import { validatorOf } from '../schema/validator.ts'
import { NodeMisbehaved } from './errors.ts'
import type { CallOptions } from './requests.ts'

/** A page, and how to get the next. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Items in this page, as the node counts them. */
  readonly limit: number
  /**
   * Cursor. `inclusive:<key>` names the first item of the next page. `exclusive:<key>` names the last item of this
   * page: there is no more for now, and asking with it later gives what has come since. null: there is no more.
   */
  readonly next: string | null
}

/** How far to go. */
export interface PagesOptions extends CallOptions {
  /**
   * Cursor to begin with; default: the beginning. With the `exclusive:` one of an earlier last page, what has come
   * since is asked for. Where nothing has, the page is empty and its `next` null: keep the cursor and ask with it
   * again later. What comes at a height already passed, such as a late orphan, is not in it; headerUpdates tells of
   * every header.
   */
  readonly from?: string
  /** Most pages to ask for; a list that does not end by then is an error. Default 1,000,000. */
  readonly mostPages?: number
}

/** As PagesOptions. */
export interface ItemsOptions extends PagesOptions {
  /** Ends after this many items; default: all of them. */
  readonly most?: number
}

/** Asks for one page; undefined: the first. */
export type PageFetch<T> = (cursor: string | undefined, call: CallOptions) => Promise<Page<T>>

const MAX_PAGES = 1_000_000

/**
 * A list in pages. Nothing is asked for before a page is; each iteration begins anew.
 *
 * ```ts
 * for await (const header of client.headers(0, { minheight: 100 }).items()) console.log(header.height)
 * ```
 *
 * Every method throws what its operation throws: UnreachableError, NodeRefusal (NotFound for a cursor or a bound that
 * does not exist), NodeMisbehaved; the latter also for a list that never ends: a cursor that comes again, or an empty
 * page that names a next one.
 */
export class Paging<T> implements AsyncIterable<T> {
  readonly #fetch: PageFetch<T>
  readonly #defaults: CallOptions & { readonly limit?: number }
  readonly #list: { readonly url: string; readonly operation: Operation }

  /**
   * Made by the methods of NodeClient.
   * @internal
   */
  constructor(
    fetch: PageFetch<T>,
    defaults: CallOptions & { readonly limit?: number },
    list: { readonly url: string; readonly operation: Operation },
  ) {
    this.#fetch = fetch
    this.#defaults = defaults
    this.#list = list
  }

  /** One page: the first, or the one that the `next` of an earlier page stands for. */
  async page(cursor?: string | null, call: CallOptions = {}): Promise<Page<T>> {
    const { signal, timeoutMs } = { ...this.#defaults, ...call }
    const page = await this.#fetch(cursor ?? undefined, {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    const { limit } = this.#defaults
    if (limit !== undefined && page.items.length > limit) {
      throw this.#misbehaved(`${page.items.length} items where at most ${limit} are allowed`)
    }
    if (page.next !== null && !validatorOf(this.#list.operation.query).accepts({ next: page.next })) {
      throw this.#misbehaved(`a malformed cursor: ${JSON.stringify(page.next.slice(0, 80))}`)
    }
    return page
  }

  /** All pages, one request each, until `next` is null or `exclusive:`. At least one. */
  async *pages(options: PagesOptions = {}): AsyncGenerator<Page<T>, void, void> {
    const { from, mostPages = MAX_PAGES, ...call } = options
    if (this.#defaults.limit === 0) {
      throw new NewcutError('BAD_OPTION', `${this.#list.operation.id}: pages of limit 0 never come to an end`)
    }
    const seen = new CursorLoop()
    let cursor = from
    for (let count = 0; count < mostPages; count++) {
      const page = await this.page(cursor, call)
      yield page
      if (page.next === null || page.next.startsWith('exclusive:')) return
      if (page.items.length === 0) throw this.#misbehaved('an empty page that names a next one')
      if (seen.comesAgain(page.next)) throw this.#misbehaved(`the same cursor again: ${page.next}`)
      cursor = page.next
    }
    throw this.#misbehaved(`more than ${mostPages} pages`)
  }

  /** The items of all pages, one by one. */
  async *items(options: ItemsOptions = {}): AsyncGenerator<T, void, void> {
    const { most = Number.POSITIVE_INFINITY, ...pages } = options
    let left = most
    if (left <= 0) return
    for await (const { items } of this.pages(pages)) {
      for (const item of items) {
        yield item
        if (--left <= 0) return
      }
    }
  }

  /** As items(). */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    return this.items()
  }

  /** All items, or the first `most`, in an array. */
  async all(options: ItemsOptions = {}): Promise<T[]> {
    const all: T[] = []
    for await (const item of this.items(options)) all.push(item)
    return all
  }

  #misbehaved(what: string): NodeMisbehaved {
    const { url, operation } = this.#list
    return new NodeMisbehaved(`${url} answered with ${what}`, { url, operation: operation.id })
  }
}

/** Finds that cursors go round in a circle of any size, and remembers one only (Brent's cycle detection). */
class CursorLoop {
  #mark = ''
  #steps = 0
  #power = 1

  comesAgain(cursor: string): boolean {
    if (cursor === this.#mark) return true
    if (++this.#steps === this.#power) {
      this.#mark = cursor
      this.#power *= 2
      this.#steps = 0
    }
    return false
  }
}
