/** Work for miners (PROTOCOL.md A): hands out headers with an open nonce, takes solved ones, tells when work is over. */
import { encodeBase64Url, equalBytes } from '../core/bytes.ts'
import { describeError } from '../core/errors.ts'
import { decodeWork, encodeWork, type WorkFields } from '../core/header.ts'
import type { MinerAccount } from '../core/payload.ts'
import { meets, powHash } from '../core/pow.ts'
import { encodeWorkResponse } from '../core/work.ts'
import type { Addition, Chains } from './chains.ts'
import { blockPayload, type Payload } from './payload.ts'

export interface CoordinatorOptions {
  /** Accounts that may mine, compared as a whole triple; null: anyone. */
  readonly accounts: readonly MinerAccount[] | null
  /** Most payloads waiting for a solution. */
  readonly payloadLimit: number
  /** How long a payload waits for its solution. */
  readonly payloadLifetimeMs: number
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly nowMs: () => number
  /** Hears of every submission that passed the checks a miner is told about. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
}

/** An answer with an HTTP status other than success. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

interface WaitingPayload {
  readonly payload: Payload
  readonly chain: number
  /** Hash of the block on top of which alone it is valid. */
  readonly parent: Uint8Array
  readonly expiresAtMs: number
}

export class Coordinator {
  readonly #chains: Chains
  readonly #options: CoordinatorOptions
  /** Payload hash -> payload, oldest first. */
  readonly #waiting = new Map<string, WaitingPayload>()
  readonly #listeners = new Map<number, Set<() => void>>()
  readonly #blockedChains = new Set<number>()
  readonly #paused = new Set<number>()

  constructor(chains: Chains, options: CoordinatorOptions) {
    this.#chains = chains
    this.#options = options
    chains.onCut((changed) => this.#announce(changed))
  }

  /**
   * A work response (A.1) for the suggested chain or, when there is none or it is blocked, for a random chain that is
   * not. Registers the payload; asking again for the same work renews it.
   */
  work(miner: MinerAccount, suggested: number | null): Uint8Array | Refusal {
    const { accounts, payloadLimit, payloadLifetimeMs, nowMs } = this.#options
    if (accounts !== null && !accounts.some((account) => sameAccount(account, miner))) {
      return { status: 403, message: `Unauthorized Miner: ${miner.account}` }
    }
    const chain = this.#pickChain(suggested)
    if (chain === null) return { status: 503, message: `No chain can be mined: ${this.#pausedText()}` }
    const parent = this.#chains.cut.get(chain)
    if (parent === undefined) throw new Error(`chain ${chain} has no head`)
    const payload = blockPayload(miner, parent.hash)
    const key = encodeBase64Url(payload.payloadHash)
    this.#prune()
    if (!this.#waiting.delete(key) && this.#waiting.size >= payloadLimit) {
      return { status: 503, message: 'Too many work requests' }
    }
    const fields = this.#chains.newWork(chain, payload.payloadHash)
    if (typeof fields === 'number') throw new Error(`chain ${chain} was picked but is blocked`)
    this.#waiting.set(key, { payload, chain, parent: parent.hash, expiresAtMs: nowMs() + payloadLifetimeMs })
    return encodeWorkResponse({ bytes: encodeWork(fields), fields })
  }

  /**
   * Takes solved work bytes (A.2). null is success, whether the block was added, came too late or breaks a rule that
   * miners are not told about. Any decoded submission uses up its payload, even a wrong one.
   */
  solve(bytes: Uint8Array): Refusal | null {
    let fields: WorkFields
    try {
      fields = decodeWork(bytes)
    } catch (error) {
      return { status: 400, message: `Decoding error: ${describeError(error)}` }
    }
    this.#prune()
    const key = encodeBase64Url(fields.payloadHash)
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return { status: 404, message: 'No associated Payload' }
    this.#waiting.delete(key)
    if (this.#chains.checkPow && !meets(powHash(bytes), fields.target)) {
      return { status: 400, message: 'Invalid solved work: Invalid POW hash' }
    }
    const addition = this.#paused.has(fields.chainId)
      ? ({ status: 'stale' } as const)
      : this.#chains.add(fields, waiting.payload)
    this.#options.onSolved?.(fields, addition)
    return null
  }

  /** Calls `listener` whenever the work of `chain` is over or becomes possible again. Returns a function that ends it. */
  onNewWork(chain: number, listener: () => void): () => void {
    const listeners = this.#listeners.get(chain) ?? new Set()
    this.#listeners.set(chain, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  get paused(): ReadonlySet<number> {
    return this.#paused
  }

  /** From now on there is no work for this chain, and solutions of earlier work come too late. */
  pause(chain: number): void {
    if (this.#paused.has(chain)) return
    this.#paused.add(chain)
    this.#emit(chain)
  }

  resume(chain: number): void {
    if (this.#paused.delete(chain)) this.#emit(chain)
  }

  /** Chains that can be mined now. */
  get open(): number[] {
    return this.#chains.chainIds.filter((chain) => this.#isOpen(chain))
  }

  #isOpen(chain: number): boolean {
    return this.#chains.cut.has(chain) && !this.#paused.has(chain) && !this.#chains.isBlocked(chain)
  }

  /** null: every chain is paused, or waits for one that is. A chain of least height is never blocked otherwise. */
  #pickChain(suggested: number | null): number | null {
    if (suggested !== null && this.#isOpen(suggested)) return suggested
    const { open } = this
    return open[Math.floor(this.#options.random() * open.length)] ?? null
  }

  #pausedText(): string {
    const chains = [...this.#paused].sort((a, b) => a - b)
    return chains.length === this.#chains.cut.size
      ? 'all are paused'
      : `all wait for paused ones (${chains.join(', ')})`
  }

  /** New parent: one event on its chain. A chain that was blocked and is no longer: one event on that chain. */
  #announce(changed: readonly number[]): void {
    for (const chain of changed) {
      this.#emit(chain)
      if (this.#chains.isBlocked(chain)) this.#blockedChains.add(chain)
    }
    for (const chain of this.#blockedChains) {
      if (this.#chains.isBlocked(chain)) continue
      this.#blockedChains.delete(chain)
      this.#emit(chain)
    }
  }

  #emit(chain: number): void {
    for (const listener of this.#listeners.get(chain) ?? []) listener()
  }

  /** Drops what expired; at the limit also work whose chain moved on, so that a fast network does not lock itself out. */
  #prune(): void {
    const nowMs = this.#options.nowMs()
    for (const [key, { expiresAtMs }] of this.#waiting) {
      if (expiresAtMs > nowMs) break
      this.#waiting.delete(key)
    }
    if (this.#waiting.size < this.#options.payloadLimit) return
    for (const [key, { chain, parent }] of this.#waiting) {
      const head = this.#chains.cut.get(chain)?.hash
      if (head !== undefined && equalBytes(head, parent)) continue
      this.#waiting.delete(key)
    }
  }
}

function sameAccount(a: MinerAccount, b: MinerAccount): boolean {
  const keys = (miner: MinerAccount) => JSON.stringify([...miner.publicKeys].sort())
  return a.account === b.account && a.predicate === b.predicate && keys(a) === keys(b)
}
