/** The last requests that the node has answered, without those of its own page. */
import { MAX_VIEW_ITEMS, PAGE_HEADER, type RequestView } from '#ground/schema/view.ts'
import type { App } from '../app.ts'

const MAX_PATH_LENGTH = 160

/** Files and requests of the page itself. */
const OWN = /^\/(?:$|\?|explorer(?:[/?]|$)|devnet\/(?:live|view)(?:\?|$))/

export class RequestLog {
  readonly #ring: RequestView[] = []
  #newest = 0

  /** Records every response of `app` once it has ended, streams included, except reads of the page itself. */
  constructor(app: App, nowMs: () => number) {
    app.addHook('onResponse', (request, reply, done) => {
      const isOwn = OWN.test(request.url) || request.headers[PAGE_HEADER] !== undefined
      if (!isOwn) this.#add(request.method, request.url, reply.statusCode, reply.elapsedTime, nowMs())
      done()
    })
  }

  /** Number of the last request; the first one is number 1. */
  get newest(): number {
    return this.#newest
  }

  /** Requests after this number, oldest first; at most `MAX_VIEW_ITEMS`. */
  since(id: number): RequestView[] {
    const count = Math.min(this.#newest - id, this.#ring.length)
    return Array.from({ length: Math.max(0, count) }, (_, i) => {
      return this.#ring[(this.#newest - count + i) % MAX_VIEW_ITEMS]
    })
  }

  #add(method: string, url: string, status: number, elapsedMs: number, nowMs: number): void {
    const path = url.length > MAX_PATH_LENGTH ? `${url.slice(0, MAX_PATH_LENGTH)}…` : url
    const ms = Math.round(elapsedMs * 100) / 100
    this.#ring[this.#newest % MAX_VIEW_ITEMS] = {
      id: this.#newest + 1,
      atMs: Math.floor(nowMs - ms),
      method,
      path,
      status,
      ms,
    }
    this.#newest++
  }
}
