/** Lists that a node returns page by page. Cursors go back unchanged (PROTOCOL.md E.1). */
import { operatingError } from '#ground/base/errors.ts'
import type { Operation } from '#ground/schema/operation.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { nodeErrors } from './error-rows.ts'
import { NodeMisbehaved } from './errors.ts'
import type { CallOptions } from './requests.ts'

/** A page, and the cursor of the next one. */
export interface Page<T> {
  readonly items: readonly T[]
  /** Number of items in this page by the count of the node. */
  readonly limit: number
  /**
   * Cursor. `inclusive:<key>` names the first item of the next page. `exclusive:<key>` names the last item of this
   * page: there are no more for now, and a later request with it returns newer ones. null if there are no more.
   */
  readonly next: string | null
}

/** Extent of a list. */
export interface PagesOptions extends CallOptions {
  /**
   * First cursor; default: the beginning. The `exclusive:` one of an earlier last page requests newer items. If there
   * are none, the page is empty and its `next` null: keep the cursor for a later request. New items at a height already
   * passed, such as a late orphan, are not in it; headerUpdates reports every header.
   */
  readonly from?: string
  /** Maximum number of pages; a list that does not end by then is an error. Default 1,000,000. */
  readonly mostPages?: number
}

/** Like PagesOptions, with a limit of items. */
export interface ItemsOptions extends PagesOptions {
  /** Ends after this many items; default: all of them. */
  readonly most?: number
}

/** Requests one page; without a cursor the first one. */
export type PageFetch<T> = (cursor: string | undefined, call: CallOptions) => Promise<Page<T>>

/** Default for `mostPages`: a node that invents pages must not keep a caller forever. */
const MAX_PAGES = 1_000_000

/**
 * A list in pages. It sends no request before a page is needed; each iteration starts from the beginning.
 *
 * ```ts
 * for await (const header of client.headers(0, { minheight: 100 }).items()) console.log(header.height)
 * ```
 *
 * Every method throws the errors of its operation: UnreachableError, NodeRefusal (NotFound for an unknown cursor or
 * bound), NodeMisbehaved. An endless list is NodeMisbehaved too: a cursor that repeats, or an empty page that names a
 * next one.
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

  /**
   * Requests one page: the first, or the one for the `next` of an earlier page.
   * @throws NodeMisbehaved if the page has more than `limit` items, or a malformed cursor
   */
  async page(cursor?: string | null, call: CallOptions = {}): Promise<Page<T>> {
    const { signal, timeoutMs } = { ...this.#defaults, ...call }
    const page = await this.#fetch(cursor ?? undefined, {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
    const { limit } = this.#defaults
    if (limit !== undefined && page.items.length > limit) {
      throw this.#misbehaviourOf(`${page.items.length} items where at most ${limit} are allowed`)
    }
    if (page.next !== null && !validatorOf(this.#list.operation.query).accepts({ next: page.next })) {
      throw this.#misbehaviourOf(`a malformed cursor: ${JSON.stringify(page.next.slice(0, 80))}`)
    }
    return page
  }

  /**
   * All pages, one request each, until `next` is null or `exclusive:`; at least one.
   * @throws NewcutError BAD_OPTION if the limit of a page is 0
   */
  async *pages(options: PagesOptions = {}): AsyncGenerator<Page<T>, void, void> {
    const { from, mostPages = MAX_PAGES, ...call } = options
    if (this.#defaults.limit === 0) {
      throw operatingError(nodeErrors.emptyPages, { operation: this.#list.operation.id })
    }
    const seen = new CycleDetector()
    let cursor = from
    for (let count = 0; count < mostPages; count++) {
      const page = await this.page(cursor, call)
      yield page
      if (page.next === null || page.next.startsWith('exclusive:')) return
      if (page.items.length === 0) throw this.#misbehaviourOf('an empty page that names a next one')
      if (seen.hasSeen(page.next)) throw this.#misbehaviourOf(`the same cursor again: ${page.next}`)
      cursor = page.next
    }
    throw this.#misbehaviourOf(`more than ${mostPages} pages`)
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

  /** Like items(). */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    return this.items()
  }

  /** All items, or the first `most`, in an array. */
  async all(options: ItemsOptions = {}): Promise<T[]> {
    const all: T[] = []
    for await (const item of this.items(options)) all.push(item)
    return all
  }

  #misbehaviourOf(what: string): NodeMisbehaved {
    const { url, operation } = this.#list
    return new NodeMisbehaved(`${url} answered with ${what}`, { url, operation: operation.id })
  }
}

/** Detects cursors that repeat in a cycle of any length, and stores only one (Brent's cycle detection). */
class CycleDetector {
  #mark = ''
  #steps = 0
  #power = 1

  hasSeen(cursor: string): boolean {
    if (cursor === this.#mark) return true
    if (++this.#steps === this.#power) {
      this.#mark = cursor
      this.#power *= 2
      this.#steps = 0
    }
    return false
  }
}
