/**
 * HTTP answers. Here is the only reader of those of other machines: it limits the time and the unpacked bytes of an
 * answer, and follows no redirect. The client in src/client/node has connections of its own, with the same limits
 * (node/round-trip.ts). Own answers with long texts are compressed (RFC 9110 section 12.5.3).
 */
import { gzipSync } from 'node:zlib'
import { ByteBuffer } from './bytes.ts'
import { baseErrors, describeError, NewcutError, operatingError } from './errors.ts'
import { printable } from './printable.ts'
import { withFirstOf } from './signals.ts'

/** A request, and the limits of its answer. */
export interface AnswerRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number
  /** Maximum number of bytes of the answer, after unpacking; default MAX_ANSWER_BYTES. */
  readonly maxBytes?: number
  /** When it aborts, the call rejects with its reason as it is. */
  readonly signal?: AbortSignal | undefined
}

/** A complete answer of any status that is not a redirect. */
export interface FetchedAnswer {
  readonly status: number
  /** Whether the status is 200 to 299. */
  readonly ok: boolean
  readonly headers: Headers
  /** Unpacked. */
  readonly bytes: Uint8Array
}

/**
 * Maximum number of bytes of an answer by default. A longer one would fill the memory: the parsed text takes several times
 * that of its bytes. A request for all keys of a table has the longest answer: 64 MiB have about 900,000 keys.
 */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Maximum length of the target of a redirect in an error: another machine chose it. */
const MAX_LOCATION = 100

/** Why an answer is incomplete. Only the last two may pass if the request is repeated. */
type AnswerFailure = 'redirect' | 'too long' | 'timeout' | 'unreachable'

/** An answer that did not arrive, or that newcut does not read to its end. */
export class AnswerError extends NewcutError {
  readonly reason: AnswerFailure
  /** The message without the server. */
  readonly what: string

  constructor({ url, reason, what }: { url: string | URL; reason: AnswerFailure; what: string }, cause?: unknown) {
    const code = reason === 'redirect' || reason === 'too long' ? 'NODE_MISBEHAVED' : 'NODE_UNREACHABLE'
    super(code, `${new URL(url).origin}: ${what}`, { hint: HINTS[reason], cause })
    this.reason = reason
    this.what = what
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return this.reason === 'timeout' || this.reason === 'unreachable'
  }
}

const HINTS: Readonly<Record<AnswerFailure, string>> = {
  redirect: 'name the address that answers itself',
  'too long': 'does the server at that address speak the interface that newcut expects?',
  timeout: 'try again, or check that the server is up',
  unreachable: 'check the address, and that the server is up',
}

/**
 * Sends a request and reads its answer.
 * @throws AnswerError; NewcutError BAD_OPTION for an address with a user or a password
 */
export async function fetchAnswer(url: string | URL, request: AnswerRequest): Promise<FetchedAnswer> {
  const { method = 'GET', headers, body, timeoutMs, maxBytes = MAX_ANSWER_BYTES, signal } = request
  signal?.throwIfAborted()
  expectNoUser(new URL(url))
  const deadline = AbortSignal.timeout(timeoutMs)
  const ends = signal === undefined ? [deadline] : [signal, deadline]
  try {
    return await withFirstOf(ends, async (end) => {
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        signal: end,
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body }),
      })
      if (REDIRECTS.has(response.status)) throw await redirectError(url, response)
      const bytes = await bytesOf(url, response, maxBytes)
      return { status: response.status, ok: response.ok, headers: response.headers, bytes }
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof AnswerError) throw error
    if (!deadline.aborted) throw new AnswerError({ url, reason: 'unreachable', what: describeError(error) }, error)
    throw new AnswerError({ url, reason: 'timeout', what: `no answer within ${timeoutMs} ms` }, error)
  }
}

/**
 * The error of `fetch` for such an address would contain the password.
 * @throws NewcutError BAD_OPTION
 */
function expectNoUser({ username, password, origin }: URL): void {
  if (username + password === '') return
  throw operatingError(baseErrors.userInAddress, { origin })
}

/** The text of an answer, in UTF-8. */
export const textOfAnswer = ({ bytes }: FetchedAnswer): string => new TextDecoder().decode(bytes)

async function redirectError(url: string | URL, response: Response): Promise<AnswerError> {
  await response.body?.cancel()
  const location = response.headers.get('location') ?? 'nowhere'
  const target = URL.canParse(location) ? new URL(location).origin : printable(location, MAX_LOCATION)
  const what = `status ${response.status}, a redirect to ${target}: newcut follows no redirect`
  return new AnswerError({ url, reason: 'redirect', what })
}

async function bytesOf(url: string | URL, { body }: Response, maxBytes: number): Promise<Uint8Array> {
  const bytes = new ByteBuffer()
  const reader = body?.getReader()
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    if (bytes.size + part.value.length > maxBytes) {
      await reader?.cancel()
      throw new AnswerError({ url, reason: 'too long', what: `the answer is longer than ${maxBytes} bytes` })
    }
    bytes.append(part.value)
  }
  return bytes.take()
}

/** Header Vary of an answer that may be compressed. */
export const VARY = 'accept-encoding'

/** A text that does not change. It is compressed once, for the first client that accepts it. */
export class CompressedText {
  readonly #text: string
  #gzip: Buffer | undefined

  constructor(text: string) {
    this.#text = text
  }

  /**
   * The body for a client, with the headers that describe it.
   * @param accepted header Accept-Encoding of the request
   */
  bodyFor(accepted: string | undefined): { readonly headers: Record<string, string>; readonly body: Buffer } {
    if (!acceptsGzip(accepted)) return { headers: { vary: VARY }, body: Buffer.from(this.#text) }
    this.#gzip ??= gzipSync(this.#text, { level: 9 })
    return { headers: { vary: VARY, 'content-encoding': 'gzip' }, body: this.#gzip }
  }
}

/** Whether an Accept-Encoding header names gzip, or everything, and does not refuse it with a quality of 0. */
function acceptsGzip(header = ''): boolean {
  const codings = header
    .toLowerCase()
    .split(',')
    .map((each) => each.trim().split(/\s*;\s*/))
  const found = codings.find(([name]) => name === 'gzip') ?? codings.find(([name]) => name === '*')
  return found !== undefined && !found.slice(1).some((each) => /^q=0(\.0*)?$/.test(each))
}
