/** Facts about earlier requests of a client that later requests depend on. */
import { encodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { decodeWorkResponse } from '#ground/chain/work.ts'
import { requestNameOf } from './aims.ts'
import { type ClientAnswer, type ClientRequest, keysOf, parseBody } from './client-request.ts'

/** Facts about the served network. */
export interface ServedNetwork {
  readonly network: string
  readonly chains: number
  /** Gas limit of a block. */
  readonly blockGas: number
}

/** Bytes of work that a miner may change: votes, creation time, and the nonce at its end (PROTOCOL.md A.5). */
const FORK_END = 4
const TIME_END = 16
const NONCE_BYTES = 8

const SECOND_MS = 1000
const isRecent = (request: ClientRequest) => (atMs: number) => request.atMs - atMs < SECOND_MS

/** The bytes of work that a miner does not change, as hex. */
export function fixedPartOf(work: Uint8Array): string {
  return encodeHex(Uint8Array.from([...work.subarray(0, FORK_END), ...work.subarray(TIME_END, -NONCE_BYTES)]))
}

/** The requests of a client so far, as far as rules need them. */
export class ClientHistory {
  readonly served: ServedNetwork
  /** Request key -> the chain that it was sent to. */
  readonly sent = new Map<string, string>()
  /** Request key -> the first request for its result at another chain, if its own chain was never asked. */
  readonly requestedElsewhere = new Map<string, ClientRequest>()
  readonly #requestedAtHome = new Set<string>()
  /** Fixed parts of the work that the client received. */
  readonly works = new Set<string>()
  /** Chains of that work. */
  readonly workChains = new Set<number>()
  /** Accepted solution, as hex -> the time at which the client received that answer. */
  readonly acceptedSolutions = new Map<string, number>()
  /** Numbers of requests whose solutions were accepted. */
  readonly #acceptedNumbers = new Set<number>()
  /** Proof -> its request key and its target chain. */
  readonly proofs = new Map<string, { readonly key: string; readonly target: string }>()
  /** Times of solutions: a miner looks for each of them on the chain. */
  readonly solvedAtMs: number[] = []
  /** The last requests, as long as they are equal: their name, and the times of those sent after an answer. */
  equalRun: { readonly name: string; readonly atMs: readonly number[] } = { name: '', atMs: [] }
  /** Name of a request -> how many of them have no answer yet. */
  readonly #open = new Map<string, number>()

  constructor(served: ServedNetwork) {
    this.served = served
  }

  /** Records a request, after it was judged. */
  recordRequest(request: ClientRequest): void {
    const { operation, params } = request
    if (operation?.id === 'solved') this.solvedAtMs.push(request.atMs)
    const name = requestNameOf(request)
    // Concurrent requests are not a retry loop.
    if (name !== this.equalRun.name) this.equalRun = { name, atMs: [request.atMs] }
    else if (!this.#open.has(name))
      this.equalRun = { name, atMs: [...this.equalRun.atMs, request.atMs].filter(isRecent(request)) }
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
    for (const key of keysOf(request)) {
      if (operation?.id === 'send' && !this.sent.has(key)) this.sent.set(key, params.chain ?? '')
      if (operation?.id !== 'send') this.#recordResultRequest(request, key)
    }
  }

  #recordResultRequest(request: ClientRequest, key: string): void {
    const home = this.sent.get(key)
    if (home === request.params.chain) {
      this.#requestedAtHome.add(key)
      this.requestedElsewhere.delete(key)
    } else if (home !== undefined && !this.#requestedAtHome.has(key) && !this.requestedElsewhere.has(key)) {
      this.requestedElsewhere.set(key, request)
    }
  }

  /** Records the end of any answer. @param isSent whether the client was still connected */
  recordEnd(request: ClientRequest, nowMs: number, isSent: boolean): void {
    if (isSent && this.#acceptedNumbers.has(request.number)) {
      const solution = encodeHex(request.body)
      this.acceptedSolutions.set(solution, this.acceptedSolutions.get(solution) ?? nowMs)
    }
    const name = requestNameOf(request)
    const others = (this.#open.get(name) ?? 1) - 1
    if (others > 0) this.#open.set(name, others)
    else this.#open.delete(name)
  }

  /** Records an answer of the node. */
  recordAnswer(request: ClientRequest, answer: ClientAnswer): void {
    if (answer.status >= 300) return
    const json = parseBody(answer.body)
    if (request.operation?.id === 'work') this.#recordWork(answer.body)
    if (request.operation?.id === 'solved') this.#acceptedNumbers.add(request.number)
    if (request.operation?.id === 'spv' && typeof json === 'string') {
      const [key = ''] = keysOf(request)
      const target = String((request.json as { readonly targetChainId?: unknown }).targetChainId)
      this.proofs.set(json, { key, target })
    }
  }

  #recordWork(body: Uint8Array): void {
    try {
      const { bytes, fields } = decodeWorkResponse(body)
      this.works.add(fixedPartOf(bytes))
      this.workChains.add(fields.chainId)
    } catch (error) {
      // A situation may have replaced the work by other bytes.
      if (!(error instanceof FormatError)) throw error
    }
  }
}
