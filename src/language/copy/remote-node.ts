/** Requests to the node whose state is forked: at a limited rate, with timeout, and with retries of what may pass. */
import { NewcutError } from '#ground/base/errors.ts'
import { AnswerError, fetchAnswer, textOfAnswer } from '#ground/base/http-answer.ts'
import { JsonDepthError, parsePlainJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'

export interface RemoteOptions {
  /** `http://HOST:PORT`, without the path of the interface. */
  readonly url: string
  /** Most requests in a second. */
  readonly perSecond: number
  /** Longest wait for the answer to one request. */
  readonly timeoutMs: number
  /** Called with a message when the node is slow, refuses for now, or answers again. */
  readonly onNotice?: ((message: string) => void) | undefined
}

export interface RemoteAnswer {
  readonly status: number
  readonly text: string
}

/** Attempts of one request. The waits between them are a quarter of a second, then twice as long each time. */
const ATTEMPTS = 6
const FIRST_WAIT_MS = 250
const MAX_WAIT_MS = 30_000
/** Statuses of nodes and proxies that are busy or restart. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
/** Attempts of a request that a node answers with 500: an old state that a node lacks is refused so, too. */
const ATTEMPTS_AT_500 = 2
const MAX_SHOWN = 200

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export class RemoteNode {
  readonly url: string
  /** Requests so far, repeated ones included. */
  requests = 0
  readonly #options: RemoteOptions
  #nextMs = 0
  #isTold = false

  constructor(options: RemoteOptions) {
    this.url = options.url.replace(/\/+$/, '')
    this.#options = options
  }

  notice(message: string): void {
    this.#options.onNotice?.(message)
  }

  get(path: string): Promise<RemoteAnswer> {
    return this.#retried(() => path)
  }

  /** @param path called when the limit allows the request, which may be a while later */
  post(path: string | (() => string), body: unknown): Promise<RemoteAnswer> {
    return this.#retried(typeof path === 'string' ? () => path : path, JSON.stringify(body))
  }

  /**
   * Throws NewcutError NODE_UNREACHABLE if the node gives no answer, NODE_REFUSED if it stays busy, NODE_MISBEHAVED for a
   * redirect or an answer that is too long.
   */
  async #retried(path: () => string, body?: string): Promise<RemoteAnswer> {
    let waitMs = FIRST_WAIT_MS
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#once(path, body)
      const isLast = attempt === ATTEMPTS || (answer.status === 500 && attempt === ATTEMPTS_AT_500)
      if (answer.status !== null && (!PASSING.has(answer.status) || (isLast && answer.status === 500))) {
        this.#isTold = false
        return { status: answer.status, text: answer.text }
      }
      const why = answer.status === null ? answer.text : `status ${answer.status}: ${shown(answer.text)}`
      if (isLast) throw this.#gaveUp(answer.status, why)
      if (!this.#isTold) this.#options.onNotice?.(`the forked node ${this.url}: ${why}; newcut tries again`)
      this.#isTold = true
      await sleep(Math.min(Math.max(waitMs, answer.afterMs), MAX_WAIT_MS))
      waitMs *= 2
    }
  }

  #gaveUp(status: number | null, why: string): NewcutError {
    const hint = 'a cache that has all entries needs no node; see also `fork.perSecond` and `fork.timeoutMs`'
    const code = status === null ? 'NODE_UNREACHABLE' : 'NODE_REFUSED'
    return new NewcutError(code, `the forked node ${this.url} gave no answer in ${ATTEMPTS} attempts: ${why}`, { hint })
  }

  /**
   * One attempt.
   * @returns status null if there was no whole answer
   * @throws NewcutError NODE_MISBEHAVED for a redirect, or an answer that is too long or nests too deep
   */
  async #once(
    path: () => string,
    body?: string,
  ): Promise<{ readonly status: number | null; readonly text: string; readonly afterMs: number }> {
    await this.#turn()
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
        throw new NewcutError('NODE_MISBEHAVED', `the forked node ${this.url}: ${error.message}`, { cause: error })
      }
      if (!(error instanceof AnswerError)) throw error
      if (!error.mayPass) {
        throw new NewcutError(error.code, `the forked node ${this.url}: ${error.what}`, {
          hint: error.hint,
          cause: error,
        })
      }
      const text = error.reason === 'timeout' ? `${error.what} (\`fork.timeoutMs\`)` : error.what
      return { status: null, text, afterMs: 0 }
    }
  }

  /** Waits until the limit allows the next request. */
  async #turn(): Promise<void> {
    const nowMs = performance.now()
    const atMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = atMs + 1000 / this.#options.perSecond
    if (atMs > nowMs) await sleep(atMs - nowMs)
  }
}

/** Says why an answer is not whole JSON. */
function partText(text: string): string {
  const isPart = /^\s*(?:$|[[{"\d])/.test(text)
  return isPart ? 'the answer was cut' : `the answer is no JSON: ${shown(text)}`
}

/** Whether an answer is whole JSON: a proxy may cut it without an error. Throws JsonDepthError. */
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
export function shown(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, ' ').trim())
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}...` : line
}
