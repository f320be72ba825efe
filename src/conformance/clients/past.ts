/** Facts about earlier requests of a client that later requests depend on. */
import { encodeHex } from '../../core/bytes.ts'
import { FormatError } from '../../core/errors.ts'
import { decodeWorkResponse } from '../../core/work.ts'
import { type Asked, asksForResult, type ClientAnswer, jsonIn, keysOf } from './asked.ts'

/** Facts about the served network. */
export interface Served {
  readonly network: string
  readonly chains: number
}

/** Bytes of work that a miner may change: votes, creation time, and the nonce at its end (PROTOCOL.md A.5). */
const FORK_END = 4
const TIME_END = 16
const NONCE_BYTES = 8

/** The bytes of work that stay as they are, as hex. */
export function fixedPart(work: Uint8Array): string {
  return encodeHex(Uint8Array.from([...work.subarray(0, FORK_END), ...work.subarray(TIME_END, -NONCE_BYTES)]))
}

export class Past {
  readonly served: Served
  /** Request key -> the chain that it was sent to. */
  readonly sent = new Map<string, string>()
  /** Request keys that the client asked for before it sent them. */
  readonly askedEarly = new Set<string>()
  /** Path -> cursors that its pages had. */
  readonly cursors = new Map<string, Set<string>>()
  /** Work that the client got: its fixed part. */
  readonly works = new Set<string>()
  /** Chains of that work. */
  readonly workChains = new Set<number>()
  /** Solution that the node took, as hex -> the time of its request. */
  readonly taken = new Map<string, number>()
  /** Proof -> its request key and its target chain. */
  readonly proofs = new Map<string, { readonly key: string; readonly target: string }>()
  /** Times of solutions: a miner looks for each of them on the chain. */
  readonly solvedAtMs: number[] = []
  /** Times of equal requests. */
  readonly times = new Map<string, number[]>()

  constructor(served: Served) {
    this.served = served
  }

  /** Keeps a request, after it was judged. */
  asked(asked: Asked): void {
    const { operation, params } = asked
    if (operation?.id === 'solved') this.solvedAtMs.push(asked.atMs)
    for (const key of keysOf(asked)) {
      if (operation?.id === 'send' && !this.sent.has(key)) this.sent.set(key, params.chain ?? '')
      if (operation !== null && asksForResult.has(operation.id) && !this.sent.has(key)) this.askedEarly.add(key)
    }
  }

  /** Keeps an answer that came from the node. */
  answered(asked: Asked, answer: ClientAnswer): void {
    if (answer.status >= 300) return
    const json = jsonIn(answer.body)
    const next = (json as { readonly next?: unknown } | null | undefined)?.next
    if (typeof next === 'string') {
      const known = this.cursors.get(asked.path) ?? new Set<string>()
      this.cursors.set(asked.path, known.add(next))
    }
    if (asked.operation?.id === 'work') this.#keepWork(answer.body)
    if (asked.operation?.id === 'solved') this.taken.set(encodeHex(asked.body), asked.atMs)
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
