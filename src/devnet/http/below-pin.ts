/** Answers about blocks below the pin of a fork come from the forked node. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { exactJsonText, fieldsOf, parseExactJson, parseJson, parsePlainJson } from '#ground/base/json.ts'
import { shortestPath } from '#ground/chain/graph.ts'
import { graphAt } from '#ground/chain/network.ts'
import { payloadHash } from '#ground/chain/payload.ts'
import { BINARY, JSON_TYPE } from '#ground/schema/operation.ts'
import { excerpt } from '#language/copy/remote-node.ts'
import type { NodeCopy } from '../copy/node-copy.ts'
import { payloadIn } from '../copy/pinned-payloads.ts'
import type { Mempools } from '../mempool/mempools.ts'
import type { Chains } from '../rules/chains.ts'
import { type App, chooseMediaType } from './app.ts'
import { payloadBytes, payloadOutputsBytes, payloadOutputsText, payloadText } from './encode/payload-text.ts'
import { httpErrors } from './errors.ts'

interface BelowPinOptions {
  readonly fork: NodeCopy
  readonly chains: Chains
  readonly pools: Mempools
  /** Path of the interface up to the name of the network. */
  readonly prefix: string
  readonly nowMs: () => number
  readonly onNotice: (message: string) => void
}

/** Paths of single payloads. */
const PAYLOAD = /^\/chain\/(\d+)\/payload\/([\w-]{43})(\/outputs)?\/?$/
const COMMANDS = /^\/chain\/(\d+)\/pact\/(?:api\/v1\/)?(poll|spv)\/?$/
/** Pause of requests to the forked node after one without an answer, so that clients do not all wait for it. */
const NODE_BACKOFF_MS = 30_000
/** Maximum results that are remembered; the oldest is requested again when a client polls it. */
const MAX_RESULTS = 10_000

type Body = string | Buffer

interface PinAnswer {
  readonly type: string
  readonly body: Body
}

/** Replaces answers of the node that only the forked one can give. */
export function addBelowPin(app: App, options: BelowPinOptions): void {
  const below = new BelowPin(options)
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    return below.answer(request, reply, payload)
  })
}

class BelowPin {
  readonly #options: BelowPinOptions
  /** Hashes of pinned payloads that the forked node did not have at the start. */
  readonly #absent: ReadonlySet<string>
  /** Chain and request key -> its result below the pin, or null. */
  readonly #results = new Map<string, { readonly text: string; readonly height: number } | null>()
  #pausedUntilMs = 0

  constructor(options: BelowPinOptions) {
    this.#options = options
    const { store } = options.chains
    const roots = Array.from({ length: store.chains }, (_, i) => store.at(i).payloadHash)
    const isAbsent = (hash: Uint8Array) => {
      const kept = store.payloads.get(hash)
      return kept === undefined || !equalBytes(payloadHash(kept.transactionsHash, kept.outputsHash), hash)
    }
    this.#absent = new Set(roots.filter(isAbsent).map(encodeBase64Url))
  }

  async answer(request: FastifyRequest, reply: FastifyReply, payload: Body): Promise<Body> {
    const { prefix, onNotice, nowMs } = this.#options
    if (!request.url.startsWith(`${prefix}/chain/`)) return payload
    const [bare] = request.url.slice(prefix.length).split('?')
    if (nowMs() < this.#pausedUntilMs) return noteMissing(bare, reply, payload)
    try {
      if (request.method === 'GET') return await this.#single(PAYLOAD.exec(bare), request, reply, payload)
      const [, chain, endpoint] = COMMANDS.exec(bare) ?? []
      if (endpoint === 'poll' && reply.statusCode === 200) return await this.#poll(Number(chain), request, payload)
      if (endpoint === 'spv' && reply.statusCode === 400) return await this.#spv(Number(chain), request, reply, payload)
      return payload
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      this.#pausedUntilMs = nowMs() + NODE_BACKOFF_MS
      onNotice(`below the fork nothing can be told for a while: ${describeError(error)}`)
      return noteMissing(bare, reply, payload)
    }
  }

  async #single(match: RegExpExecArray | null, request: FastifyRequest, reply: FastifyReply, payload: Body) {
    if (match === null) return payload
    const [, chain, hash, outputs] = match
    if (reply.statusCode !== 404 && !this.#absent.has(hash)) return payload
    const accept = request.headers.accept ?? '*/*'
    const told = await this.#payload(chain, hash, accept, outputs !== undefined)
    if (told === null) return payload
    reply.code(200).type(told.type)
    return setLength(reply, told.body)
  }

  /** @returns null for a payload that is unknown */
  async #payload(chain: string, hash: string, accept: string, hasOutputs: boolean): Promise<PinAnswer | null> {
    // Both forms are those of one payload, whose hash needs the outputs.
    const { status, text } = await this.#options.fork.get(`/chain/${chain}/payload/${hash}/outputs`)
    if (status !== 200) return null
    const payload = payloadIn(parseJson(text), hash)
    if (payload === null) {
      const { url } = this.#options.fork
      throw operatingError(httpErrors.unreadablePayload, { url, hash, answer: excerpt(text) })
    }
    const type = chooseMediaType(accept, [JSON_TYPE, BINARY]) ?? JSON_TYPE
    if (type === BINARY) return { type, body: hasOutputs ? payloadOutputsBytes(payload) : payloadBytes(payload) }
    return { type, body: hasOutputs ? payloadOutputsText(payload) : payloadText(payload) }
  }

  async #poll(chain: number, request: FastifyRequest, payload: Body): Promise<Body> {
    const { fork, pools } = this.#options
    const known = parsePlainJson(payload.toString()) as Record<string, unknown>
    const { requestKeys } = bodyOf(request) as { readonly requestKeys: readonly string[] }
    const unknown = requestKeys.filter((key) => known[key] === undefined && pools.poolOf(chain).get(key) === undefined)
    if (unknown.length === 0 || fork.stateOf(chain) === null) return payload
    await this.#fetchResults(
      chain,
      unknown.filter((key) => !this.#results.has(`${chain} ${key}`)),
    )
    const found = unknown.flatMap((key) => {
      const result = this.#results.get(`${chain} ${key}`)
      return result == null ? [] : [`${JSON.stringify(key)}:${result.text}`]
    })
    if (found.length === 0) return payload
    const own = payload.toString().trim().slice(1, -1)
    return `{${[...(own === '' ? [] : [own]), ...found].join(',')}}`
  }

  /** Asks for results that are in no block here. That there is none below the pin never changes. */
  async #fetchResults(chain: number, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    const { fork } = this.#options
    const { status, text } = await fork.post(`/chain/${chain}/pact/api/v1/poll`, { requestKeys: keys })
    if (status !== 200) return
    const results = fieldsOf(parseExactJson(text))
    for (const key of keys) {
      const { blockHeight: height } = fieldsOf(fieldsOf(results[key]).metaData)
      const isBelow = typeof height === 'number' && height <= fork.pin.height
      this.#results.set(`${chain} ${key}`, isBelow ? { text: exactJsonText(results[key]), height } : null)
      const [oldest] = this.#results.keys()
      if (this.#results.size > MAX_RESULTS) this.#results.delete(oldest)
    }
  }

  /** A proof of a transfer that began below the pin. */
  async #spv(chain: number, request: FastifyRequest, reply: FastifyReply, payload: Body): Promise<Body> {
    const { fork, chains } = this.#options
    if (!isNotFound(payload)) return payload
    const body = bodyOf(request) as { readonly requestKey: string; readonly targetChainId: string }
    await this.#fetchResults(chain, [body.requestKey])
    const { height } = this.#results.get(`${chain} ${body.requestKey}`) ?? {}
    const path = shortestPath(graphAt(chains.network, fork.pin.height), chain, Number(body.targetChainId))
    // The root of the proof is a block of the target chain, higher by the distance of the two chains.
    if (height === undefined || path === null || height + path.length - 1 > fork.pin.height) {
      return setLength(
        reply,
        `${payload}, nor below the fork at height ${fork.pin.height}: this transfer is newer than the fork`,
      )
    }
    const { status, text } = await fork.post(`/chain/${chain}/pact/spv`, body)
    if (status === 200) reply.code(200).type(JSON_TYPE)
    return setLength(reply, text)
  }
}

/** A transaction that is not found may be below the fork: clients must not take it for one that does not exist. */
function noteMissing(path: string, reply: FastifyReply, payload: Body): Body {
  const isProof = COMMANDS.exec(path)?.[2] === 'spv' && reply.statusCode === 400 && isNotFound(payload)
  return isProof
    ? setLength(reply, `${payload}; below the fork nothing can be told: its node gives no answer`)
    : payload
}

const isNotFound = (payload: Body) => payload.toString().startsWith('Transaction hash not found')
const bodyOf = (request: FastifyRequest): unknown => parsePlainJson((request.body as Buffer).toString())

function setLength(reply: FastifyReply, body: Body): Body {
  reply.header('content-length', Buffer.byteLength(body))
  return body
}
