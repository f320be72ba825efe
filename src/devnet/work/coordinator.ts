/**
 * Work for miners (PROTOCOL.md A): issues headers with open nonces, accepts solved ones, and announces the end of work.
 */
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { decodeWork, encodeWork, type Header, type WorkFields } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { encodeWorkResponse } from '#ground/chain/work.ts'
import type { CopiedBase } from '../ledger/copied-base.ts'
import type { RunCommand } from '../ledger/draft.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Mempools } from '../mempool/mempools.ts'
import type { Addition, Chains } from '../rules/chains.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { TimeSlicer } from '../time-slicer.ts'
import { Drafts } from './drafts.ts'
import { RefreshScheduler } from './refreshes.ts'

export interface CoordinatorOptions {
  readonly pools: Mempools
  readonly ledger: Ledger
  readonly turns: TimeSlicer
  /** Executes the commands of blocks. Default: at once. */
  readonly run?: RunCommand | undefined
  /** Accounts that may mine, compared as a whole triple; null allows anyone. */
  readonly accounts: readonly MinerAccount[] | null
  /** Maximum payloads that wait for a solution. */
  readonly payloadLimit: number
  /** Time that a payload waits for its solution. */
  readonly payloadLifetimeMs: number
  /** Least time between two events that report other transactions of a chain. */
  readonly refreshMs: number
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Time of the node, which may be ahead of its machine. */
  readonly nowMs: () => number
  readonly clock: Clock
  /** Called with messages for the operator. */
  readonly onNotice?: (message: string) => void
  /** State below the first blocks, if the network was forked. */
  readonly fork?: CopiedBase | null | undefined
  /** Called with every submission that is acknowledged to its miner, and with its outcome. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
}

/** Maximum accounts reported because they cannot be paid, and maximum characters of their names: anybody may name one. */
const MAX_UNPAID = 100
const MAX_SHOWN_ACCOUNT = 80

/** `New Cut`: the work of a chain is over, or possible again. `Refreshed Block`: it has other transactions. */
type WorkEvent = 'New Cut' | 'Refreshed Block'

/** Reasons why a miner gets no work. */
export type NoWork =
  | { readonly unauthorized: string }
  /** Every chain is paused, or waits for a paused one. */
  | { readonly noOpenChain: { readonly paused: readonly number[]; readonly chains: number } }
  /** The limit of payloads that wait for a solution is reached. */
  | { readonly full: 'work' }

/** Reasons why a solution is refused. */
export type SolutionRefusal =
  | { readonly malformed: string }
  | { readonly unknown: 'payload' }
  /** Its hash does not meet its target. */
  | { readonly unsolved: true }

interface BuiltPayload {
  readonly payload: StoredPayload
  /** Payload hash as in JSON. */
  readonly key: string
  readonly chain: number
  /** The only parent with which it is valid. */
  readonly parent: Header
}

interface WaitingPayload {
  readonly built: BuiltPayload
  /** Its key in `#built` while it was the newest. */
  readonly slot: string
  readonly expiresAtMs: number
}

export class Coordinator {
  readonly pools: Mempools
  readonly ledger: Ledger
  readonly drafts: Drafts
  readonly #chains: Chains
  readonly #options: CoordinatorOptions
  /** Payload hash -> payload, oldest first. */
  readonly #waiting = new Map<string, WaitingPayload>()
  /** Chain and miner -> the payload for the next work request, oldest first. */
  readonly #built = new Map<string, BuiltPayload>()
  readonly #listeners = new Map<number, Set<(event: WorkEvent) => void>>()
  readonly #blockedChains = new Set<number>()
  readonly #refreshes: RefreshScheduler
  readonly #paused = new Set<number>()
  /** Accounts that were reported because their reward cannot be paid. */
  readonly #unpaid = new Set<string>()

  constructor(chains: Chains, options: CoordinatorOptions) {
    this.#chains = chains
    this.#options = options
    this.pools = options.pools
    this.ledger = options.ledger
    this.drafts = new Drafts({
      run: options.run,
      ledger: options.ledger,
      pools: options.pools,
      turns: options.turns,
      head: (chain) => this.#head(chain),
      onUnpaid: (chain, miner, fault) => this.#reportUnpaid(chain, miner, fault),
      onGrown: (chain) => this.#refreshes.plan(chain),
      fork: options.fork,
      onNotice: options.onNotice,
    })
    this.#refreshes = new RefreshScheduler({
      pools: options.pools,
      intervalMs: options.refreshMs,
      clock: options.clock,
      hasNews: (chain) => this.drafts.hasNews(chain),
      // A blocked chain has no work. Its miners get the transactions after its next New Cut.
      announce: (chain) => {
        if (!chains.isBlocked(chain)) this.#emit(chain, 'Refreshed Block')
      },
    })
    chains.onCut((changed) => this.#announce(changed))
  }

  /**
   * Issues work (A.1) for the suggested chain, or for a random open chain if none is suggested or that one is not open.
   * Registers the payload; a repeated request for the same work renews it.
   * @returns a work response
   */
  work(miner: MinerAccount, suggested: number | null): Uint8Array | NoWork {
    const { accounts, payloadLimit, payloadLifetimeMs, nowMs } = this.#options
    if (accounts !== null && !accounts.some((account) => sameAccount(account, miner))) {
      return { unauthorized: miner.account }
    }
    const chain = this.#pickChain(suggested)
    if (chain === null) return { noOpenChain: { paused: this.#pausedAscending(), chains: this.#chains.cut.size } }
    const slot = `${chain} ${JSON.stringify([miner.account, miner.predicate, miner.publicKeys])}`
    const built = this.#payload(slot, chain, miner)
    this.#dropExpired()
    if (!this.#waiting.delete(built.key) && !this.#makeRoom(payloadLimit)) return { full: 'work' }
    const fields = this.#chains.newWork(chain, built.payload.payloadHash)
    if ('blockedBy' in fields) throw new Error(`chain ${chain} was picked but is blocked`)
    this.#waiting.set(built.key, { built, slot, expiresAtMs: nowMs() + payloadLifetimeMs })
    return encodeWorkResponse({ bytes: encodeWork(fields), fields })
  }

  /** Like `work`, once what the reward reads of a forked network is there. */
  workLater(miner: MinerAccount, suggested: number | null): Promise<Uint8Array | NoWork> | Uint8Array | NoWork {
    return this.runComplete(() => this.work(miner, suggested), miner)
  }

  /** Runs what begins a block for a miner, until nothing of a forked network is missing. */
  runComplete<T>(run: () => T, miner: MinerAccount): T | Promise<T> {
    const { fork } = this.#options
    return fork == null ? run() : fork.complete(run, [JSON.stringify(miner.account)])
  }

  /**
   * Accepts solved work bytes (A.2). Any decoded submission uses up its payload, even a wrong one.
   * @returns null for success, and also if the block came too late or broke a rule: miners do not hear of either
   */
  solve(bytes: Uint8Array): SolutionRefusal | null {
    let fields: WorkFields
    try {
      fields = decodeWork(bytes)
    } catch (error) {
      return { malformed: describeError(error) }
    }
    this.#dropExpired()
    const key = encodeBase64Url(fields.payloadHash)
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return { unknown: 'payload' }
    this.#waiting.delete(key)
    if (this.#chains.checkPow && !meets(powHash(bytes), fields.target)) return { unsolved: true }
    const addition = this.#paused.has(fields.chainId)
      ? ({ status: 'stale' } as const)
      : this.#chains.add(fields, waiting.built.payload)
    this.#options.onSolved?.(fields, addition)
    return null
  }

  /** Calls `listener` with every event of the work of `chain`. @returns a function that unsubscribes */
  onNewWork(chain: number, listener: (event: WorkEvent) => void): () => void {
    const listeners = this.#listeners.get(chain) ?? new Set()
    this.#listeners.set(chain, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Reports once that an account cannot be paid; its miner continues without a reward. */
  #reportUnpaid(chain: number, { account }: MinerAccount, fault: string): void {
    if (this.#unpaid.has(account) || this.#unpaid.size >= MAX_UNPAID) return
    this.#unpaid.add(account)
    const shown = printable(account, MAX_SHOWN_ACCOUNT)
    this.#options.onNotice?.(`the reward of ${shown} on chain ${chain} cannot be paid: ${printable(fault)}`)
  }

  /** Payload of the next block of a chain, with the transactions executed so far. */
  #payload(slot: string, chain: number, miner: MinerAccount): BuiltPayload {
    const live = this.drafts.draftOf(chain, miner)
    if (this.drafts.extend(live) === 'more') this.drafts.plan(chain)
    const payload = this.drafts.payload(live)
    const known = this.#built.get(slot)
    if (known?.payload === payload) return known
    const built = { payload, key: encodeBase64Url(payload.payloadHash), chain, parent: live.parent }
    this.#built.delete(slot)
    this.#built.set(slot, built)
    const [oldest] = this.#built.keys()
    if (this.#built.size > this.#options.payloadLimit) this.#built.delete(oldest)
    return built
  }

  #head(chain: number): Header {
    const head = this.#chains.cut.get(chain)
    if (head === undefined) throw new Error(`chain ${chain} has no head`)
    return head
  }

  /** Refuses solutions of all earlier work. */
  forgetWork(): void {
    this.#waiting.clear()
    this.#built.clear()
  }

  /** Like forgetWork, and tells miners to fetch new work. */
  renewWork(): void {
    this.forgetWork()
    for (const chain of this.#chains.chainIds) this.#emit(chain, 'New Cut')
  }

  get paused(): ReadonlySet<number> {
    return this.#paused
  }

  /** Stops work for this chain. Solutions of earlier work count as stale. */
  pause(chain: number): void {
    if (this.#paused.has(chain)) return
    this.#paused.add(chain)
    this.#emit(chain, 'New Cut')
  }

  resume(chain: number): void {
    if (this.#paused.delete(chain)) this.#emit(chain, 'New Cut')
  }

  /** Cancels planned events. */
  stop(): void {
    this.#refreshes.stop()
  }

  /** Chains that can be mined now. */
  get open(): number[] {
    return this.#chains.chainIds.filter((chain) => this.#isOpen(chain))
  }

  #isOpen(chain: number): boolean {
    return this.#chains.cut.has(chain) && !this.#paused.has(chain) && !this.#chains.isBlocked(chain)
  }

  /**
   * @returns null if every chain is paused or waits for a paused one. Without paused chains the lowest is always open
   */
  #pickChain(suggested: number | null): number | null {
    if (suggested !== null && this.#isOpen(suggested)) return suggested
    const { open } = this
    return open[Math.floor(this.#options.random() * open.length)] ?? null
  }

  #pausedAscending(): number[] {
    return [...this.#paused].sort((a, b) => a - b)
  }

  /** Sends one event for every chain with a new parent, and for every chain that has just been unblocked. */
  #announce(changed: readonly number[]): void {
    for (const chain of changed) {
      this.drafts.plan(chain)
      this.#emit(chain, 'New Cut')
      if (this.#chains.isBlocked(chain)) this.#blockedChains.add(chain)
      else this.#blockedChains.delete(chain)
    }
    for (const chain of this.#blockedChains) {
      if (this.#chains.isBlocked(chain)) continue
      this.#blockedChains.delete(chain)
      this.#emit(chain, 'New Cut')
    }
  }

  #emit(chain: number, event: WorkEvent): void {
    if (event === 'New Cut') this.#refreshes.restart(chain)
    for (const listener of this.#listeners.get(chain) ?? []) listener(event)
  }

  #dropExpired(): void {
    const nowMs = this.#options.nowMs()
    for (const [key, { expiresAtMs }] of this.#waiting) {
      if (expiresAtMs > nowMs) break
      this.#waiting.delete(key)
    }
  }

  /**
   * Makes room for one more payload. At the limit it drops work whose chain has moved on, so that a fast network does
   * not lock out its miners. Then it drops the oldest work that other transactions have replaced.
   * @returns whether there is room
   */
  #makeRoom(limit: number): boolean {
    if (this.#waiting.size < limit) return true
    for (const [key, { built }] of this.#waiting) {
      const head = this.#chains.cut.get(built.chain)?.hash
      if (head === undefined || !equalBytes(head, built.parent.hash)) this.#waiting.delete(key)
    }
    for (const [key, { built, slot }] of this.#waiting) {
      if (this.#waiting.size < limit) break
      const newest = this.#built.get(slot)
      if (newest !== undefined && newest !== built) this.#waiting.delete(key)
    }
    return this.#waiting.size < limit
  }
}

function sameAccount(a: MinerAccount, b: MinerAccount): boolean {
  const keys = (miner: MinerAccount) => JSON.stringify([...miner.publicKeys].sort())
  return a.account === b.account && a.predicate === b.predicate && keys(a) === keys(b)
}
