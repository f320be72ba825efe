/** Facts about earlier requests of a client that later requests depend on. */
import { encodeHex } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { decodeWorkResponse } from '#ground/chain/work.ts'
import { requestNameOf } from './aims.ts'
import { type Asked, type ClientAnswer, jsonIn, keysOf } from './asked.ts'

/** Facts about the served network. */
export interface Served {
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
const isRecent = (asked: Asked) => (atMs: number) => asked.atMs - atMs < SECOND_MS

/** The bytes of work that stay as they are, as hex. */
export function fixedPart(work: Uint8Array): string {
  return encodeHex(Uint8Array.from([...work.subarray(0, FORK_END), ...work.subarray(TIME_END, -NONCE_BYTES)]))
}

export class Past {
  readonly served: Served
  /** Request key -> the chain that it was sent to. */
  readonly sent = new Map<string, string>()
  /** Request key -> the first request for its result at another chain, if its own chain was never asked. */
  readonly askedElsewhere = new Map<string, Asked>()
  readonly #askedAtHome = new Set<string>()
  /** Work that the client got: its fixed part. */
  readonly works = new Set<string>()
  /** Chains of that work. */
  readonly workChains = new Set<number>()
  /** Solution that the node took, as hex -> the time at which the client got that answer. */
  readonly taken = new Map<string, number>()
  /** Numbers of requests with such solutions. */
  readonly #accepted = new Set<number>()
  /** Proof -> its request key and its target chain. */
  readonly proofs = new Map<string, { readonly key: string; readonly target: string }>()
  /** Times of solutions: a miner looks for each of them on the chain. */
  readonly solvedAtMs: number[] = []
  /** The last requests, as long as they are equal: their name, and the times of those that had an answer before them. */
  row: { readonly name: string; readonly atMs: readonly number[] } = { name: '', atMs: [] }
  /** Name of a request -> how many of them have no answer yet. */
  readonly #open = new Map<string, number>()

  constructor(served: Served) {
    this.served = served
  }

  /** Keeps a request, after it was judged. */
  asked(asked: Asked): void {
    const { operation, params } = asked
    if (operation?.id === 'solved') this.solvedAtMs.push(asked.atMs)
    const name = requestNameOf(asked)
    // Requests at the same time are no loop.
    if (name !== this.row.name) this.row = { name, atMs: [asked.atMs] }
    else if (!this.#open.has(name)) this.row = { name, atMs: [...this.row.atMs, asked.atMs].filter(isRecent(asked)) }
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
    for (const key of keysOf(asked)) {
      if (operation?.id === 'send' && !this.sent.has(key)) this.sent.set(key, params.chain ?? '')
      if (operation?.id !== 'send') this.#keepQuestion(asked, key)
    }
  }

  #keepQuestion(asked: Asked, key: string): void {
    const home = this.sent.get(key)
    if (home === asked.params.chain) {
      this.#askedAtHome.add(key)
      this.askedElsewhere.delete(key)
    } else if (home !== undefined && !this.#askedAtHome.has(key) && !this.askedElsewhere.has(key)) {
      this.askedElsewhere.set(key, asked)
    }
  }

  /** Keeps the end of an answer, of whatever kind. `isSent`: whether the client was there to get it. */
  ended(asked: Asked, nowMs: number, isSent: boolean): void {
    if (isSent && this.#accepted.has(asked.number)) {
      const solution = encodeHex(asked.body)
      this.taken.set(solution, this.taken.get(solution) ?? nowMs)
    }
    const name = requestNameOf(asked)
    const others = (this.#open.get(name) ?? 1) - 1
    if (others > 0) this.#open.set(name, others)
    else this.#open.delete(name)
  }

  /** Keeps an answer that came from the node. */
  answered(asked: Asked, answer: ClientAnswer): void {
    if (answer.status >= 300) return
    const json = jsonIn(answer.body)
    if (asked.operation?.id === 'work') this.#keepWork(answer.body)
    if (asked.operation?.id === 'solved') this.#accepted.add(asked.number)
    if (asked.operation?.id === 'spv' && typeof json === 'string') {
      const [key = ''] = keysOf(asked)
      const target = String((asked.json as { readonly targetChainId?: unknown }).targetChainId)
      this.proofs.set(json, { key, target })
    }
  }

  #keepWork(body: Uint8Array): void {
    try {
      const { bytes, fields } = decodeWorkResponse(body)
      this.works.add(fixedPart(bytes))
      this.workChains.add(fields.chainId)
    } catch (error) {
      // A situation may have replaced the work by other bytes.
      if (!(error instanceof FormatError)) throw error
    }
  }
}
