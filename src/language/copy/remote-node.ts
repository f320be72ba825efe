/** Requests to the node whose state is forked: at a limited rate, with timeout, and with retries of what may pass. */
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { AnswerError, fetchAnswer, textOfAnswer } from '#ground/base/http-answer.ts'
import { JsonDepthError, parsePlainJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { copyErrors } from './errors.ts'

export interface RemoteOptions {
  /** `http://HOST:PORT`, without the path of the interface. */
  readonly url: string
  /** Maximum number of requests in a second. */
  readonly perSecond: number
  /** Maximum wait for the answer to one request. */
  readonly timeoutMs: number
  /** Called with a message when the node is slow, refuses for now, or answers again. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** Called with the requests that are answered. More may follow, so their total is unknown. */
  readonly onProgress?: OnProgress | undefined
}

export interface RemoteAnswer {
  readonly status: number
  readonly text: string
}

/** Attempts of one request. The waits between them are a quarter of a second, then twice as long each time. */
const ATTEMPTS = 6
const FIRST_WAIT_MS = 250
/** Maximum wait before a retry, even if the node names a longer one: a run must not stand still for hours. */
const MAX_WAIT_MS = 30_000
/** Statuses of nodes and proxies that are busy or restart. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** Attempts of a request that a node answers with 500: an old state that a node lacks is refused so, too. */
const ATTEMPTS_AT_500 = 2
/** Maximum length of a text of the node in a message: its answers may have megabytes. */
const MAX_EXCERPT = 200

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export class RemoteNode {
  readonly url: string
  /** Requests so far, repeated ones included. */
  requests = 0
  #begun = 0
  #answered = 0
  readonly #options: RemoteOptions
  #nextMs = 0
  #isTroubleNoticed = false

  constructor(options: RemoteOptions) {
    this.url = options.url.replace(/\/+$/, '')
    this.#options = options
  }

  notice(message: string): void {
    this.#options.onNotice?.(message)
  }

  get(path: string): Promise<RemoteAnswer> {
    return this.#requestWithRetries(() => path)
  }

  /** @param path called when the limit allows the request, which may be a while later */
  post(path: string | (() => string), body: unknown): Promise<RemoteAnswer> {
    return this.#requestWithRetries(typeof path === 'string' ? () => path : path, JSON.stringify(body))
  }

  /**
   * @throws NewcutError NODE_UNREACHABLE if the node gives no answer, NODE_REFUSED if it stays busy, NODE_MISBEHAVED for
   * a redirect or an answer that is too long
   */
  async #requestWithRetries(path: () => string, body?: string): Promise<RemoteAnswer> {
    this.#begun++
    this.#reportProgress()
    const answer = await this.#repeatRequest(path, body)
    this.#answered++
    this.#reportProgress()
    return answer
  }

  #reportProgress(): void {
    const waiting = this.#begun - this.#answered
    const unit = waiting > 1 ? `requests, ${waiting} wait` : 'requests'
    this.#options.onProgress?.({ what: `copying from ${this.url}`, done: this.#answered, total: 0, unit })
  }

  async #repeatRequest(path: () => string, body?: string): Promise<RemoteAnswer> {
    let waitMs = FIRST_WAIT_MS
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#requestOnce(path, body)
      const isLast = attempt === ATTEMPTS || (answer.status === 500 && attempt === ATTEMPTS_AT_500)
      if (answer.status !== null && (!PASSING.has(answer.status) || (isLast && answer.status === 500))) {
        this.#isTroubleNoticed = false
        return { status: answer.status, text: answer.text }
      }
      const why = answer.status === null ? answer.text : `status ${answer.status}: ${excerpt(answer.text)}`
      if (isLast) throw this.#noAnswerError(answer.status, why)
      if (!this.#isTroubleNoticed) this.#options.onNotice?.(`the forked node ${this.url}: ${why}; newcut tries again`)
      this.#isTroubleNoticed = true
      await sleep(Math.min(Math.max(waitMs, answer.afterMs), MAX_WAIT_MS))
      waitMs *= 2
    }
  }

  #noAnswerError(status: number | null, why: string): NewcutError {
    const row = status === null ? copyErrors.noAnswer : copyErrors.busy
    return operatingError(row, { url: this.url, attempts: ATTEMPTS, why })
  }

  /**
   * One attempt.
   * @returns status null if there was no whole answer
   * @throws NewcutError NODE_MISBEHAVED for a redirect, or an answer that is too long or nests too deep
   */
  async #requestOnce(
    path: () => string,
    body?: string,
  ): Promise<{ readonly status: number | null; readonly text: string; readonly afterMs: number }> {
    await this.#awaitRateLimit()
    this.requests++
    const { timeoutMs } = this.#options
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
    try {
      const answer = await fetchAnswer(this.url + path(), {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        ...(body !== undefined && { body }),
        timeoutMs,
      })
      const text = textOfAnswer(answer)
      const after = Number(answer.headers.get('retry-after'))
      if (answer.ok && !isWhole(text)) return { status: null, text: partText(text), afterMs: 0 }
      return { status: answer.status, text, afterMs: Number.isFinite(after) ? after * 1000 : 0 }
    } catch (error) {
      if (error instanceof JsonDepthError) {
        throw this.#unsuitableError(error.message, 'try another node of the network', error)
      }
      if (!(error instanceof AnswerError)) throw error
      if (!error.mayPass) throw this.#unsuitableError(error.what, error.hint ?? '', error)
      const text = error.reason === 'timeout' ? `${error.what} (\`fork.timeoutMs\`)` : error.what
      return { status: null, text, afterMs: 0 }
    }
  }

  #unsuitableError(why: string, advice: string, cause: unknown): NewcutError {
    return operatingError(copyErrors.unsuitableAnswer, { url: this.url, why, advice }, cause)
  }

  /** Waits until the limit allows the next request. */
  async #awaitRateLimit(): Promise<void> {
    const nowMs = performance.now()
    const atMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = atMs + 1000 / this.#options.perSecond
    if (atMs > nowMs) await sleep(atMs - nowMs)
  }
}

/** Why an answer is not complete JSON. */
function partText(text: string): string {
  const isPart = /^\s*(?:$|[[{"\d])/.test(text)
  return isPart ? 'the answer was cut' : `the answer is not valid JSON: ${excerpt(text)}`
}

/**
 * Whether an answer is complete JSON: a proxy may cut it without an error.
 * @throws JsonDepthError
 */
function isWhole(text: string): boolean {
  try {
    parsePlainJson(text)
    return true
  } catch (error) {
    if (error instanceof JsonDepthError) throw error
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** The start of a text of the node, for messages. */
export function excerpt(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}...` : line
}
