/**
 * Errors of the node client.
 *
 * | class | code | when |
 * |---|---|---|
 * | UnreachableError | NODE_UNREACHABLE | no complete response: refused, timed out, connection lost, TLS |
 * | NotRecognised | NODE_NOT_RECOGNISED | the server at that address is not the service API of a node |
 * | NodeRefusal | NODE_REFUSED | any status except 2xx; the five below are refusals with a known meaning |
 * | NotFound | NODE_REFUSED | 404 that names the missing item |
 * | UnauthorizedMiner | NODE_REFUSED | 403 on work, in the words of the node |
 * | MinersPoolFull | NODE_REFUSED | 403 on work: the node takes no more miners for now; retryable |
 * | BranchBoundsExceeded | NODE_REFUSED | 400 for more branch bounds than the node takes |
 * | NotAcceptable | NODE_REFUSED | 406: the node has no such encoding |
 * | NodeMisbehaved | NODE_MISBEHAVED | a 2xx whose body breaks the interface |
 * | InvalidHeader, InvalidPayload | NODE_MISBEHAVED | `verify` found a broken rule of the chain |
 *
 * Two properties say how to react. They are defined here and nowhere else:
 *
 * - `retryable`: the same request may succeed later.
 * - `isNodesOwn` (refusals): the node itself judged this request. Anything else may come from a proxy in front of a
 *   node that restarts: a 404 or 502, a redirection. To outlast an outage, give up only if this is true.
 */
import { NewcutError } from '#ground/base/errors.ts'
import { withoutSecrets } from '#ground/base/host.ts'
import { printable } from '#ground/base/printable.ts'
import { type ForkState, forkStateOf } from '#ground/chain/fork.ts'
import type { Header } from '#ground/chain/header.ts'
import type { HeaderRule } from '#ground/chain/validate.ts'

/** 408, 429, 502, 503 and 504: the node, or a proxy in front of it, may accept the same request later. */
const RETRYABLE_STATUS: readonly number[] = [408, 429, 502, 503, 504]
/** Maximum for the beginning of a body. */
const MAX_EXCERPT_CHARACTERS = 200
/** Maximum for the text of a refusal, which may report several commands. */
export const MAX_REFUSAL_CHARACTERS = 1000
/** Maximum for a message or a hint: text of a node may become part of both. */
const MAX_MESSAGE_CHARACTERS = 600
const MAX_REFUSAL_MESSAGE_CHARACTERS = MAX_MESSAGE_CHARACTERS + MAX_REFUSAL_CHARACTERS
/** Text of a node about an account that may not mine (PROTOCOL.md A.1). */
const UNAUTHORIZED_MINER = /^unauthorized miner\b/i
/** Text of a node after 3.2 that is set to refuse miners which it does not list. */
const UNKNOWN_MINER = /^unauthorized miner\/unknown miners not allowed\b/i
/** Text of a node after 3.2 at its limit of miners. It forgets a miner that has not asked for work for 5 minutes. */
const MINERS_POOL_FULL = /^unauthorized miner\/miners pool full\b/i

const UNAUTHORIZED_HINT =
  'the node mines for the accounts in its configuration; name, predicate and keys must all agree'
const UNKNOWN_MINER_HINT =
  'the node mines for the accounts it lists: its operator has to list this one, or to set it to take unknown miners'

/** Whether a retry may help: the `retryable` of an error of this client; false for all other errors. */
export function isRetryable(error: unknown): boolean {
  return error instanceof NewcutError && 'retryable' in error && error.retryable === true
}

/** Whether a response carries the version header that nodes always send (PROTOCOL.md E.0); proxies have none. */
export function isFromNode(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['x-chainweb-node-version'] !== undefined || headers['x-ledger-node-version'] !== undefined
}

/** End of the year 9999: a clock of a node beyond it means nothing. */
const MAX_TIMESTAMP_SECONDS = 253_402_300_799

/** Clock of a node by a header that nodes send with every response: milliseconds since 1970, or null. */
export function serverMsOf(headers: Readonly<Record<string, string | undefined>>): number | null {
  const text = headers['x-server-timestamp'] ?? ''
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  return seconds <= MAX_TIMESTAMP_SECONDS ? seconds * 1000 : null
}

/** Longest pause that a client makes because a server asks for it. */
const MAX_RETRY_AFTER_S = 60

/** Pause that a response asks for by Retry-After, in milliseconds, at most a minute; null if it names no seconds. */
export function retryAfterMsOf(headers: Readonly<Record<string, string | undefined>>): number | null {
  const text = headers['retry-after'] ?? ''
  return /^\d{1,9}$/.test(text) ? Math.min(Number(text), MAX_RETRY_AFTER_S) * 1000 : null
}

/** A response, as errors describe it. */
export interface AnswerDetails {
  /** Requested URL. */
  readonly url: string
  /** HTTP status. */
  readonly status: number
  /** Beginning of the body as one line of printable text: at most 200 characters, of a refusal 1,000. */
  readonly excerpt: string
  /** Id of the operation (src/ground/schema/operations.ts); undefined for a request outside of the table. */
  readonly operation?: string | undefined
  /** Whether the response carries the version header of a node. Default false. */
  readonly isFromNode?: boolean
  /** Clock of the node, in milliseconds since 1970; null if the response has none. */
  readonly serverMs?: number | null
  /** Pause that the response asks for by Retry-After, in milliseconds; null if it asks for none. */
  readonly retryAfterMs?: number | null
  /** Target of a redirection (3xx) by its Location header; undefined if there is none. */
  readonly location?: string | undefined
}

/** The server is not the service API of a node. Code NODE_NOT_RECOGNISED. */
export class NotRecognised extends NewcutError {
  /** Whether a proxy in front of a node may have responded in its place: there was no version header. */
  readonly retryable: boolean

  constructor(cause: NodeRefusal | NodeMisbehaved) {
    super('NODE_NOT_RECOGNISED', `${cause.message}: that is not the service API of a node`, {
      hint: 'give the root address of the service API, usually http://HOST:1848',
      cause,
    })
    this.retryable = !cause.isFromNode
  }
}

/** The node responded with an error status, or with a redirection, which is not followed. Code NODE_REFUSED. */
export class NodeRefusal extends NewcutError implements AnswerDetails {
  readonly url: string
  readonly status: number
  readonly excerpt: string
  readonly operation: string | undefined
  /** Whether the response carries the version header of a node. */
  readonly isFromNode: boolean
  /** Clock of the node when it refused, in milliseconds since 1970; null if the response has none. */
  readonly serverMs: number | null
  /** Pause that the response asks for by Retry-After, in milliseconds, at most a minute; null if it asks for none. */
  readonly retryAfterMs: number | null
  /** The same request may succeed later: true for 408, 429, 502, 503 and 504, and MinersPoolFull. */
  readonly retryable: boolean

  constructor(answer: AnswerDetails, hint?: string) {
    const { url, status, operation, location } = answer
    const excerpt = printable(answer.excerpt, MAX_REFUSAL_CHARACTERS)
    const isRedirection = status >= 300 && status < 400 && location !== undefined
    const redirection = isRedirection ? `, a redirection to ${locationText(location)}` : ''
    const message = `${url} answered ${status}${redirection}${excerpt === '' ? '' : `: ${excerpt}`}`
    super('NODE_REFUSED', printable(message, MAX_REFUSAL_MESSAGE_CHARACTERS), { hint: hint && cutMessage(hint) })
    this.url = url
    this.status = status
    this.excerpt = excerpt
    this.operation = operation
    this.isFromNode = answer.isFromNode ?? false
    this.serverMs = answer.serverMs ?? null
    this.retryAfterMs = answer.retryAfterMs ?? null
    this.retryable = RETRYABLE_STATUS.includes(status)
  }

  /**
   * Whether the node itself judged this request and found it wrong: a 4xx except 408 and 429, with the version header
   * of a node. False for anything that may pass with an outage: the 404 or 502 of a proxy, a redirection, a 5xx.
   */
  get isNodesOwn(): boolean {
    return this.isFromNode && this.status >= 400 && this.status < 500 && !this.retryable
  }
}

/**
 * Status 403 for a request for work, in the words of the node: this account may not mine there. `isNodesOwn` is true.
 */
export class UnauthorizedMiner extends NodeRefusal {
  /** Whether the node could accept miners that it does not list, and is configured not to. */
  readonly isUnknown: boolean

  constructor(answer: AnswerDetails) {
    const isUnknown = UNKNOWN_MINER.test(answer.excerpt)
    super(answer, isUnknown ? UNKNOWN_MINER_HINT : UNAUTHORIZED_HINT)
    this.isUnknown = isUnknown
  }

  /** Whether a response is this refusal. */
  static is(answer: AnswerDetails): boolean {
    return isRefusedMiner(answer) && !MINERS_POOL_FULL.test(answer.excerpt)
  }
}

/**
 * Status 403 for a request for work, in the words of the node: it takes no more miners now. It forgets miners that stop
 * asking, so the same request may succeed later: `retryable` is true, and `isNodesOwn` false.
 */
export class MinersPoolFull extends NodeRefusal {
  override readonly retryable = true

  constructor(answer: AnswerDetails) {
    super(answer, 'the node takes no more miners for now: try later, or give another node')
  }

  /** Whether a response is this refusal. */
  static is(answer: AnswerDetails): boolean {
    return isRefusedMiner(answer) && MINERS_POOL_FULL.test(answer.excerpt)
  }
}

function isRefusedMiner({ status, operation, isFromNode, excerpt }: AnswerDetails): boolean {
  return status === 403 && operation === 'work' && isFromNode === true && UNAUTHORIZED_MINER.test(excerpt)
}

/** Status 404 of an existing endpoint, for a missing item. */
export class NotFound extends NodeRefusal {
  /**
   * Key of the missing item, such as a block hash; null if the node names none. At most 200 characters, like reason.
   */
  readonly key: string | null
  /** Reason in the words of the node, such as `key not found`. */
  readonly reason: string

  constructor(answer: AnswerDetails, key: string | null, reason: string) {
    super(answer)
    this.key = key && printable(key, MAX_EXCERPT_CHARACTERS)
    this.reason = printable(reason, MAX_EXCERPT_CHARACTERS)
  }
}

/** Status 400 of a branch request: more bounds than the node takes (32 each on a service API, PROTOCOL.md E.0). */
export class BranchBoundsExceeded extends NodeRefusal {
  /** Limit of the node, or null if it does not say. */
  readonly limit: number | null

  constructor(answer: AnswerDetails) {
    super(answer, 'ask with fewer upper or lower bounds at a time')
    const [, limit] = /only (\d{1,9}) values/i.exec(answer.excerpt) ?? []
    this.limit = limit === undefined ? null : Number(limit)
  }
}

/** Status 406: the endpoint has no such encoding. For example, the P2P API of live nodes has no object headers. */
export class NotAcceptable extends NodeRefusal {
  constructor(answer: AnswerDetails) {
    super(answer, 'choose another encoding')
  }
}

/** The node responded with success, but the body breaks the interface. Code NODE_MISBEHAVED. */
export class NodeMisbehaved extends NewcutError {
  /** Requested URL. */
  readonly url: string
  /** HTTP status; null if the fault is in a stream or an endless list. */
  readonly status: number | null
  /** Beginning of the body as one line of printable text, at most 200 characters. */
  readonly excerpt: string
  /** Id of the operation (src/ground/schema/operations.ts). */
  readonly operation: string | undefined
  /** Whether the response carries the version header of a node; false for streams. */
  readonly isFromNode: boolean
  /** A later response may be right: true for streams that end too soon, and for work that does not fit the node. */
  readonly retryable: boolean

  constructor(
    message: string,
    options: {
      readonly url: string
      readonly status?: number | null
      readonly excerpt?: string
      readonly operation?: string | undefined
      readonly isFromNode?: boolean
      readonly retryable?: boolean
      readonly hint?: string | undefined
      readonly cause?: unknown
    },
  ) {
    super('NODE_MISBEHAVED', cutMessage(message), {
      hint: options.hint && cutMessage(options.hint),
      cause: options.cause,
    })
    this.url = options.url
    this.status = options.status ?? null
    this.excerpt = printable(options.excerpt ?? '', MAX_EXCERPT_CHARACTERS)
    this.operation = options.operation
    this.isFromNode = options.isFromNode ?? false
    this.retryable = options.retryable ?? false
  }
}

/** Message and hint for a header without proof of work, on a network that may have been set up without it. */
const ANY_NONCE = [
  ': its hash does not meet its target, so this network seems to take any nonce',
  'a development network without proof of work? Leave that rule out with verify: { checkPow: false }',
] as const

/** A header that `verify` found to be invalid. */
export class InvalidHeader extends NodeMisbehaved {
  /** Broken rules, in the order of HeaderRule. */
  readonly rules: readonly HeaderRule[]
  readonly chain: number
  readonly height: bigint
  /** Block hash as the node gave it, base64url. */
  readonly hash: string

  constructor(
    {
      chain,
      height,
      hash,
      featureFlags,
    }: Pick<Header, 'height' | 'featureFlags'> & { readonly chain: number; readonly hash: string },
    rules: readonly HeaderRule[],
    options: ConstructorParameters<typeof NodeMisbehaved>[1] & { readonly takesAnyNonce?: boolean },
  ) {
    const flags = rules.some(isForkRule)
      ? ` (featureFlags ${featureFlags}: ${forkText(forkStateOf(featureFlags))})`
      : ''
    const broken = `breaks the rule${rules.length > 1 ? 's' : ''} ${rules.join(', ')}${flags}`
    const [why, hint] = options.takesAnyNonce ? ANY_NONCE : ['', options.hint]
    super(`${options.url}: header ${hash} (chain ${chain}, height ${height}) ${broken}${why}`, { ...options, hint })
    this.rules = rules
    this.chain = chain
    this.height = height
    this.hash = hash
  }
}

const isForkRule = (rule: HeaderRule) => ['unknownFork', 'forkNumber', 'forkVotes'].includes(rule)

const forkText = ({ number, votes }: ForkState) => `fork number ${number}, ${votes} thousandths of a vote`

/** The three hashes of a payload. */
export type PayloadRule = 'transactionsHash' | 'outputsHash' | 'payloadHash'

/** A payload that `verify` found not to match its hashes. */
export class InvalidPayload extends NodeMisbehaved {
  /** Hashes that are wrong. */
  readonly rules: readonly PayloadRule[]
  /** Payload hash as the node gave it, base64url. */
  readonly hash: string

  constructor(hash: string, rules: readonly PayloadRule[], options: ConstructorParameters<typeof NodeMisbehaved>[1]) {
    super(`${options.url}: payload ${hash} does not have the ${rules.join(', ')} that it claims`, options)
    this.rules = rules
    this.hash = hash
  }
}

/** Beginning of a body as one line of printable text of at most `most` characters. */
export function excerptOf(body: Uint8Array, most = MAX_EXCERPT_CHARACTERS): string {
  return printable(new TextDecoder().decode(body.subarray(0, 4 * most)), most)
}

/** A Location header for errors, without user and password. */
function locationText(location: string): string {
  return printable(withoutSecrets(location), MAX_EXCERPT_CHARACTERS)
}

function cutMessage(text: string): string {
  return printable(text, MAX_MESSAGE_CHARACTERS)
}
