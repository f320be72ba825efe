/**
 * What a node may answer instead of what was asked for.
 *
 * | class | code | when |
 * |---|---|---|
 * | UnreachableError | NODE_UNREACHABLE | no complete answer: refused, timed out, connection lost, TLS |
 * | NotRecognised | NODE_NOT_RECOGNISED | what answers at that address is not the service API of a node |
 * | NodeRefusal | NODE_REFUSED | any status but 2xx; the five below are refusals with a known meaning |
 * | NotFound | NODE_REFUSED | 404 that says what does not exist |
 * | UnauthorizedMiner | NODE_REFUSED | 403 on work, in the node's own words |
 * | MinersPoolFull | NODE_REFUSED | 403 on work: the node takes no more miners for now; retryable |
 * | BranchBoundsExceeded | NODE_REFUSED | 400 for more branch bounds than the node takes |
 * | NotAcceptable | NODE_REFUSED | 406: the node has no such encoding |
 * | NodeMisbehaved | NODE_MISBEHAVED | a 2xx whose body is not what the interface promises |
 * | InvalidHeader, InvalidPayload | NODE_MISBEHAVED | what `verify` found to break the rules of the chain |
 *
 * Two properties tell what to do next. They are defined here and nowhere else:
 *
 * - `retryable`: the same request may succeed later. Who wants an answer asks again.
 * - `isNodesOwn` (refusals): the node itself judged this request. Everything else may come from what stands before a
 *   node while it restarts: a proxy's 404 or 502, a redirection. Who must outlast an outage gives up for this only.
 */
import { NewcutError } from '../core/errors.ts'
import { type ForkState, forkStateOf } from '../core/fork.ts'
import type { Header } from '../core/header.ts'
import { withoutSecrets } from '../core/host.ts'
import { printable } from '../core/printable.ts'
import type { HeaderRule } from '../core/validate.ts'

/** 408, 429, 502, 503 and 504: the node, or something in front of it, may answer the same request later. */
const RETRYABLE_STATUS: readonly number[] = [408, 429, 502, 503, 504]
/** Of the beginning of a body. */
const MAX_EXCERPT_CHARACTERS = 200
/** Of the text of a refusal: it may tell of several commands. */
export const MAX_REFUSAL_CHARACTERS = 1000
/** Of a message or a hint: what a node sends finds its way into both. */
const MAX_MESSAGE_CHARACTERS = 600
const MAX_REFUSAL_MESSAGE_CHARACTERS = MAX_MESSAGE_CHARACTERS + MAX_REFUSAL_CHARACTERS
/** What a node says of an account that may not mine (PROTOCOL.md A.1). */
const UNAUTHORIZED_MINER = /^unauthorized miner\b/i
/** Nodes after 3.2 may take miners that they do not list. One that may not: */
const UNKNOWN_MINER = /^unauthorized miner\/unknown miners not allowed\b/i
/** The same nodes, when as many miners ask for work as they take. They forget one that has not asked for 5 minutes. */
const MINERS_POOL_FULL = /^unauthorized miner\/miners pool full\b/i

const UNAUTHORIZED_HINT =
  'the node mines for the accounts in its configuration; name, predicate and keys must all agree'
const UNKNOWN_MINER_HINT =
  'the node mines for the accounts it lists: its operator has to list this one, or to set it to take unknown miners'

/** Whether asking again may help: the `retryable` of an error of this client; false for all other errors. */
export function isRetryable(error: unknown): boolean {
  return error instanceof NewcutError && 'retryable' in error && error.retryable === true
}

/**
 * Whether an answer carries the version header that nodes put on all of theirs (PROTOCOL.md E.0); proxies have none.
 */
export function isFromNode(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['x-chainweb-node-version'] !== undefined || headers['x-ledger-node-version'] !== undefined
}

/** An answer as errors tell of it. */
export interface AnswerDetails {
  /** What was asked for. */
  readonly url: string
  /** HTTP status. */
  readonly status: number
  /** The beginning of the body as one line of printable text: at most 200 characters, of a refusal 1,000. */
  readonly excerpt: string
  /** Id of the operation (src/schema/operations.ts); undefined for a request outside of the table. */
  readonly operation?: string | undefined
  /** Whether the answer carries the version header of a node. Default false. */
  readonly isFromNode?: boolean
  /** Where a redirection (3xx) leads, as its Location header says; undefined: not told. */
  readonly location?: string | undefined
}

/** What answers is not the service API of a node. Code NODE_NOT_RECOGNISED. */
export class NotRecognised extends NewcutError {
  /** Whether something that stands before a node may have answered in its place: no version header was sent. */
  readonly retryable: boolean

  constructor(cause: NodeRefusal | NodeMisbehaved) {
    super('NODE_NOT_RECOGNISED', `${cause.message}: that is not the service API of a node`, {
      hint: 'give the root address of the service API, usually http://HOST:1848',
      cause,
    })
    this.retryable = !cause.isFromNode
  }
}

/** The node answered with an error status, or with a redirection: those are not followed. Code NODE_REFUSED. */
export class NodeRefusal extends NewcutError implements AnswerDetails {
  readonly url: string
  readonly status: number
  readonly excerpt: string
  readonly operation: string | undefined
  /** Whether the answer carries the version header of a node. */
  readonly isFromNode: boolean
  /** The same request may succeed later: 408, 429, 502, 503 and 504, and MinersPoolFull. */
  readonly retryable: boolean

  constructor(answer: AnswerDetails, hint?: string) {
    const { url, status, operation, location } = answer
    const excerpt = printable(answer.excerpt, MAX_REFUSAL_CHARACTERS)
    const isRedirection = status >= 300 && status < 400 && location !== undefined
    const redirection = isRedirection ? `, a redirection to ${shownLocation(location)}` : ''
    const message = `${url} answered ${status}${redirection}${excerpt === '' ? '' : `: ${excerpt}`}`
    super('NODE_REFUSED', printable(message, MAX_REFUSAL_MESSAGE_CHARACTERS), { hint: hint && oneLine(hint) })
    this.url = url
    this.status = status
    this.excerpt = excerpt
    this.operation = operation
    this.isFromNode = answer.isFromNode ?? false
    this.retryable = RETRYABLE_STATUS.includes(status)
  }

  /**
   * Whether the node itself judged this request and found it wrong: a 4xx but for 408 and 429, with the version header
   * of a node. False for what may pass with an outage: the 404 or 502 of a proxy, a redirection, a 5xx.
   */
  get isNodesOwn(): boolean {
    return this.isFromNode && this.status >= 400 && this.status < 500 && !this.retryable
  }
}

/** Status 403 of a request for work in the node's own words: this account may not mine there. `isNodesOwn` is true. */
export class UnauthorizedMiner extends NodeRefusal {
  /** Whether the node could take miners that it does not list, and is set not to. */
  readonly isUnknown: boolean

  constructor(answer: AnswerDetails) {
    const isUnknown = UNKNOWN_MINER.test(answer.excerpt)
    super(answer, isUnknown ? UNKNOWN_MINER_HINT : UNAUTHORIZED_HINT)
    this.isUnknown = isUnknown
  }

  /** Whether a refusal is one. */
  static is(answer: AnswerDetails): boolean {
    return isRefusedMiner(answer) && !MINERS_POOL_FULL.test(answer.excerpt)
  }
}

/**
 * Status 403 of a request for work in the node's own words: it takes no more miners now. It forgets miners that stop
 * asking, so the same request may succeed later: `retryable` is true, and `isNodesOwn` false.
 */
export class MinersPoolFull extends NodeRefusal {
  override readonly retryable = true

  constructor(answer: AnswerDetails) {
    super(answer, 'the node takes no more miners for now: try later, or give another node')
  }

  /** Whether a refusal is one. */
  static is(answer: AnswerDetails): boolean {
    return isRefusedMiner(answer) && MINERS_POOL_FULL.test(answer.excerpt)
  }
}

function isRefusedMiner({ status, operation, isFromNode, excerpt }: AnswerDetails): boolean {
  return status === 403 && operation === 'work' && isFromNode === true && UNAUTHORIZED_MINER.test(excerpt)
}

/** Status 404 of an endpoint that exists, for something that does not. */
export class NotFound extends NodeRefusal {
  /** What does not exist, such as a block hash; null when the node does not say. At most 200 characters, as reason. */
  readonly key: string | null
  /** In the node's words, such as `key not found`. */
  readonly reason: string

  constructor(answer: AnswerDetails, key: string | null, reason: string) {
    super(answer)
    this.key = key && printable(key, MAX_EXCERPT_CHARACTERS)
    this.reason = printable(reason, MAX_EXCERPT_CHARACTERS)
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
  /** The beginning of the body as one line of printable text, at most 200 characters. */
  readonly excerpt: string
  /** Id of the operation (src/schema/operations.ts). */
  readonly operation: string | undefined
  /** Whether the answer carries the version header of a node; false for streams. */
  readonly isFromNode: boolean
  /** The same request may be answered rightly later: streams that end too soon, and work that does not fit the node. */
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
    super('NODE_MISBEHAVED', oneLine(message), { hint: options.hint && oneLine(options.hint), cause: options.cause })
    this.url = options.url
    this.status = options.status ?? null
    this.excerpt = printable(options.excerpt ?? '', MAX_EXCERPT_CHARACTERS)
    this.operation = options.operation
    this.isFromNode = options.isFromNode ?? false
    this.retryable = options.retryable ?? false
  }
}

/** What a header without proof of work tells of a network that may have been set up without, and what to do. */
const ANY_NONCE = [
  ': its hash does not meet its target, so this network seems to take any nonce',
  'a development network without proof of work? Leave that rule out with verify: { checkPow: false }',
] as const

/** A header that `verify` found to be invalid. */
export class InvalidHeader extends NodeMisbehaved {
  /** The rules it breaks, in the order of HeaderRule. */
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

/** The beginning of a body as one line of printable text, at most so many characters. */
export function excerptOf(body: Uint8Array, most = MAX_EXCERPT_CHARACTERS): string {
  return printable(new TextDecoder().decode(body.subarray(0, 4 * most)), most)
}

/** A Location header as errors show it: without user and password. */
function shownLocation(location: string): string {
  return printable(withoutSecrets(location), MAX_EXCERPT_CHARACTERS)
}

function oneLine(text: string): string {
  return printable(text, MAX_MESSAGE_CHARACTERS)
}
