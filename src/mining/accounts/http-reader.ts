/** Reads the share log of a running miner over HTTP. */
import { operatingError } from '#ground/base/errors.ts'
import { AnswerError, fetchAnswer, textOfAnswer } from '#ground/base/http-answer.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { shareErrors } from './errors.ts'
import { PAGE_HEADER } from './share-pages.ts'
import type { RefusedShares, ShareEntry, ShareReader, TimeRange } from './share-store.ts'

const PAGE = 10_000
const TIMEOUT_MS = 30_000

interface HttpReaderOptions {
  /** `http://HOST:PORT` */
  readonly url: string
  /** HTTP token of the miner; undefined if it has none. */
  readonly token?: string | undefined
  readonly stopped?: AbortSignal
}

/**
 * Requests page after page.
 * @throws NewcutError if the miner is unreachable, refuses, or sends an invalid answer
 */
export class HttpShareReader implements ShareReader {
  readonly #options: HttpReaderOptions

  constructor(options: HttpReaderOptions) {
    this.#options = options
  }

  shares({ newestFirst = false, ...range }: TimeRange & { newestFirst?: boolean } = {}): AsyncIterable<ShareEntry> {
    return this.#lines<ShareEntry>('/api/shares', { ...range, order: newestFirst ? 'newest' : 'oldest' })
  }

  refusals(range: TimeRange = {}): AsyncIterable<RefusedShares> {
    return this.#lines<RefusedShares>('/api/shares/refused', range)
  }

  async close(): Promise<void> {
    // Nothing to close: the connections belong to the pool of the process.
  }

  async *#lines<T>(path: string, { fromMs, untilMs, order }: TimeRange & { order?: string }): AsyncGenerator<T> {
    let after: string | null = null
    do {
      const url: URL = new URL(path, this.#options.url)
      const query = {
        from: queryTime(fromMs),
        until: queryTime(untilMs),
        order,
        limit: String(PAGE),
        after: after ?? undefined,
      }
      for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
      const { text, next }: { text: string; next: string | null } = await this.#page(url)
      for (const line of text.split('\n')) if (line !== '') yield parseRecord<T>(line, url)
      after = next
    } while (after !== null)
  }

  async #page(url: URL): Promise<{ readonly text: string; readonly next: string | null }> {
    const { token, stopped } = this.#options
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetchAnswer(url, { headers, timeoutMs: TIMEOUT_MS, signal: stopped }).catch(
      (error: unknown) => {
        if (!(error instanceof AnswerError && error.mayPass)) throw error
        throw operatingError(shareErrors.minerSilent, { url: url.origin, why: error.what }, error)
      },
    )
    const text = textOfAnswer(answer)
    if (answer.ok) return { text, next: answer.headers.get(PAGE_HEADER) }
    throw operatingError(shareErrors.minerRefuses, { url: url.origin, why: reasonOf(text, answer.status) })
  }
}

const queryTime = (timeMs: number | undefined) =>
  timeMs === undefined ? undefined : String(Math.max(0, Math.ceil(timeMs)))

function reasonOf(text: string, status: number): string {
  try {
    const { error, message } = parsePlainJson(text) as { readonly error?: unknown; readonly message?: unknown }
    return String(message ?? error)
  } catch {
    return `status ${status}`
  }
}

function parseRecord<T>(line: string, url: URL): T {
  try {
    return parsePlainJson(line) as T
  } catch (error) {
    throw operatingError(shareErrors.lineNotJson, { url: url.origin }, error)
  }
}
