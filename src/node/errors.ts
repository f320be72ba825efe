/**
 * What a node may answer instead of what was asked for. `retryable` tells whether the same call may succeed later.
 *
 * | class | code | when |
 * |---|---|---|
 * | UnreachableError | NODE_UNREACHABLE | no complete answer: refused, timed out, connection lost, TLS |
 * | NodeRefusal | NODE_REFUSED | any status but 2xx; the three below are refusals with a known meaning |
 * | NotFound | NODE_REFUSED | 404 that says what does not exist |
 * | BranchBoundsExceeded | NODE_REFUSED | 400 for more branch bounds than the node takes |
 * | NotAcceptable | NODE_REFUSED | 406: the node has no such encoding |
 * | NodeMisbehaved | NODE_MISBEHAVED | a 2xx whose body is not what the interface promises |
 * | InvalidHeader, InvalidPayload | NODE_MISBEHAVED | what `verify` found to break the rules of the chain |
 */
import { NewcutError } from '../core/errors.ts'
import type { HeaderRule } from '../core/validate.ts'

/** 408, 429, 502, 503 and 504: the node, or something in front of it, may answer the same request later. */
const RETRYABLE_STATUS: readonly number[] = [408, 429, 502, 503, 504]
const EXCERPT_CHARACTERS = 200
/** Of a message or a hint: what a node sends finds its way into both. */
const MESSAGE_CHARACTERS = 600

/** An answer as errors tell of it. */
export interface AnswerDetails {
  /** What was asked for. */
  readonly url: string
  /** HTTP status. */
  readonly status: number
  /** The beginning of the body as one line of printable text, at most 200 characters. */
  readonly excerpt: string
  /** Id of the operation (src/schema/operations.ts); undefined for a request outside of the table. */
  readonly operation?: string | undefined
}

/** The node answered with an error status, or with a redirection: those are not followed. Code NODE_REFUSED. */
export class NodeRefusal extends NewcutError implements AnswerDetails {
  readonly url: string
  readonly status: number
  readonly excerpt: string
  readonly operation: string | undefined
  /** 408, 429, 502, 503 and 504. */
  readonly retryable: boolean

  constructor({ url, status, excerpt, operation }: AnswerDetails, hint?: string) {
    const message = `${url} answered ${status}${excerpt === '' ? '' : `: ${excerpt}`}`
    super('NODE_REFUSED', oneLine(message), { hint: hint && oneLine(hint) })
    this.url = url
    this.status = status
    this.excerpt = excerpt
    this.operation = operation
    this.retryable = RETRYABLE_STATUS.includes(status)
  }
}

/** Status 404 of an endpoint that exists, for something that does not. */
export class NotFound extends NodeRefusal {
  /** What does not exist, such as a block hash; null when the node does not say. At most 200 characters, as reason. */
  readonly key: string | null
  /** In the node's words, such as `key not found`. */
  readonly reason: string

  constructor(answer: AnswerDetails, key: string | null, reason: string) {
    super(answer)
    this.key = key && oneLine(key, EXCERPT_CHARACTERS)
    this.reason = oneLine(reason, EXCERPT_CHARACTERS)
  }
}

/** Status 400 of a branch request: more bounds than the node takes (32 each on a service API, PROTOCOL.md E.0). */
export class BranchBoundsExceeded extends NodeRefusal {
  /** How many it takes; null when it does not say. */
  readonly limit: number | null

  constructor(answer: AnswerDetails) {
    super(answer, 'ask with fewer upper or lower bounds at a time')
    const [, limit] = /only (\d{1,9}) values/i.exec(answer.excerpt) ?? []
    this.limit = limit === undefined ? null : Number(limit)
  }
}

/** Status 406: the endpoint has no such encoding, as the P2P API of live nodes has no object headers. */
export class NotAcceptable extends NodeRefusal {
  constructor(answer: AnswerDetails) {
    super(answer, 'choose another encoding')
  }
}

/** The node answered with success, but not with what the interface promises. Code NODE_MISBEHAVED. */
export class NodeMisbehaved extends NewcutError {
  /** What was asked for. */
  readonly url: string
  /** HTTP status; null when it is a stream or an endless list that went wrong. */
  readonly status: number | null
  /** The beginning of the body. */
  readonly excerpt: string
  /** Id of the operation (src/schema/operations.ts). */
  readonly operation: string | undefined
  /** False: the same bytes would come again; true for streams that end too soon. */
  readonly retryable: boolean

  constructor(
    message: string,
    options: {
      readonly url: string
      readonly status?: number | null
      readonly excerpt?: string
      readonly operation?: string | undefined
      readonly retryable?: boolean
      readonly hint?: string | undefined
      readonly cause?: unknown
    },
  ) {
    super('NODE_MISBEHAVED', oneLine(message), { hint: options.hint, cause: options.cause })
    this.url = options.url
    this.status = options.status ?? null
    this.excerpt = options.excerpt ?? ''
    this.operation = options.operation
    this.retryable = options.retryable ?? false
  }
}

/** A header that `verify` found to be invalid. */
export class InvalidHeader extends NodeMisbehaved {
  /** The rules it breaks, in the order of HeaderRule. */
  readonly rules: readonly HeaderRule[]
  readonly chain: number
  readonly height: bigint
  /** Block hash as the node gave it, base64url. */
  readonly hash: string

  constructor(
    { chain, height, hash }: { readonly chain: number; readonly height: bigint; readonly hash: string },
    rules: readonly HeaderRule[],
    options: ConstructorParameters<typeof NodeMisbehaved>[1],
  ) {
    const broken = `breaks the rule${rules.length > 1 ? 's' : ''} ${rules.join(', ')}`
    super(`${options.url}: header ${hash} (chain ${chain}, height ${height}) ${broken}`, options)
    this.rules = rules
    this.chain = chain
    this.height = height
    this.hash = hash
  }
}

/** The three hashes of a payload. */
export type PayloadRule = 'transactionsHash' | 'outputsHash' | 'payloadHash'

/** A payload that `verify` found not to be what its hashes say. */
export class InvalidPayload extends NodeMisbehaved {
  /** The hashes that are wrong. */
  readonly rules: readonly PayloadRule[]
  /** Payload hash as the node gave it, base64url. */
  readonly hash: string

  constructor(hash: string, rules: readonly PayloadRule[], options: ConstructorParameters<typeof NodeMisbehaved>[1]) {
    super(`${options.url}: payload ${hash} does not have the ${rules.join(', ')} that it claims`, options)
    this.rules = rules
    this.hash = hash
  }
}

/** The beginning of a body as one line of printable text. */
export function excerptOf(body: Uint8Array): string {
  return oneLine(new TextDecoder().decode(body.subarray(0, 4 * EXCERPT_CHARACTERS)), EXCERPT_CHARACTERS)
}

/** Text of a node made fit for a log: printable, without line ends, and cut where it is longer than that. */
function oneLine(text: string, mostCharacters = MESSAGE_CHARACTERS): string {
  // Cut first: the text may have megabytes.
  const line = text
    .slice(0, 4 * mostCharacters)
    .replace(/[\p{C}\s\uFFFD]+/gu, ' ')
    .trim()
  return line.length <= mostCharacters ? line : `${line.slice(0, mostCharacters - 1)}…`
}
