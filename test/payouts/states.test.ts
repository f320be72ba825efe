/**
 * The life of a payment in every order of events, up to a depth. The world has one chain, one user with one credited
 * block, and a payer that may be killed. Its node forgets, is away or gives wrong results; blocks come with the payment
 * or without it, and leave the chain again. `npm run check:states` goes deeper.
 */
import { expect, it } from 'vitest'
import { signingKey } from '../../src/client/wallet/keys.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import { PayoutLedger } from '../../src/pool/payouts/ledger.ts'
import { payBalances } from '../../src/pool/payouts/pay.ts'
import type { CreditLine, PayoutLine, ResultLine, SentLine } from '../../src/pool/payouts/payout-line.ts'
import { lookOnce, type SettleOptions } from '../../src/pool/payouts/settle.ts'
import { explore, type World } from '../explore.ts'
import { isFull } from '../rotation.ts'
import { VirtualTime } from '../sim/virtual-time.ts'
import { blockOf } from './memory-shares.ts'
import { Chain } from './sim/network.ts'
import { type Lie, NO_FAULTS, nodeOf } from './sim/node.ts'

const DEPTH = isFull ? 6 : 3
const CONFIRMATIONS = 2
const TTL_S = 60
const BLOCK_S = 10
const COIN = 10n ** 12n
const [POOL, USER] = [signingKey('1'.repeat(64)), signingKey('2'.repeat(64))]
const [POOL_ACCOUNT, USER_ACCOUNT] = [`k:${POOL.publicKey}`, `k:${USER.publicKey}`]
const START_MS = new VirtualTime().trueWallMs()

const CREDIT: CreditLine = {
  at: '2027-01-15T08:00:00.000Z',
  type: 'credit',
  network: 'development',
  account: POOL_ACCOUNT,
  chain: 0,
  block: blockOf('b'),
  height: 0,
  foundMs: 0,
  finder: USER_ACCOUNT,
  scheme: 'solo',
  window: '2.0',
  feePercent: '0.0',
  reward: '1.0',
  fee: '0.0',
  rest: '0.0',
  round: [],
  parts: [{ payee: USER_ACCOUNT, amount: '1.0', shares: 1, worth: '1' }],
}

type Move =
  /** The payer orders what is due. The transaction arrives, is lost, or the payer is killed before it sends. */
  | readonly ['order', 'arrives' | 'lost' | 'killed']
  | readonly ['look', 'true' | 'forgets' | 'away' | Lie]
  | readonly ['block', 'with' | 'without']
  /** The head is replaced by another block, which is empty. */
  | readonly ['reorg']
  | readonly ['forget mempool']
  | readonly ['time passes']
  | readonly ['coins leave' | 'coins return']
  | readonly ['next run']

class Killed extends Error {}

class SmallPool implements World<Move> {
  readonly #time = new VirtualTime()
  readonly #chain = new Chain(0, START_MS - 1000, new Map([[POOL_ACCOUNT, 10n * COIN]]))
  readonly #lines: PayoutLine[] = [CREDIT]
  #ledger = new PayoutLedger([CREDIT])
  #claimed = new Set<string>()
  #nowMs = START_MS
  #lie: Lie | 'forgets' | null = null
  #isAway = false
  #isKilled = false
  #lateness = 0

  /** Waits end at once. */
  readonly #clock: Clock = {
    wallMs: () => this.#nowMs,
    monotonicMs: () => this.#nowMs,
    after: (_, run) => {
      queueMicrotask(run)
      return () => undefined
    },
  }

  readonly #client = nodeOf({
    chains: [this.#chain],
    time: this.#time,
    faults: NO_FAULTS,
    random: () => 0.5,
    poolKey: POOL.publicKey,
    step: () => {
      if (this.#isKilled) throw new Killed()
    },
    onSent: () => undefined,
    nowMs: () => this.#nowMs,
    lie: () => this.#lie,
    isAway: () => this.#isAway,
  }).client

  constructor() {
    this.#mine('without')
  }

  get #orders(): SentLine[] {
    return this.#lines.flatMap((line) => (line.type === 'order' ? [line] : []))
  }

  get #results(): ReadonlyMap<string, ResultLine> {
    return new Map(this.#lines.flatMap((line) => (line.type === 'result' ? [[line.requestKey, line]] : [])))
  }

  moves(): Move[] {
    const isDue = this.#ledger.balances(POOL_ACCOUNT).length > 0
    const isOpen = this.#ledger.openPayouts.length > 0
    const each = <Name extends string, Kind extends string>(name: Name, ...kinds: readonly Kind[]) =>
      kinds.map((kind) => [name, kind] as const)
    return [
      ...(isDue && this.#orders.length < 3 ? each('order', 'arrives', 'lost', 'killed') : []),
      ...(isOpen ? each('look', 'true', 'forgets', 'away', 'failure', 'success') : []),
      ...each('block', 'with', 'without'),
      ...(this.#chain.head.height > 1 ? ([['reorg']] as const) : []),
      ...(this.#chain.mempool.size > 0 ? ([['forget mempool']] as const) : []),
      ...(this.#lateness < 3 ? ([['time passes']] as const) : []),
      [this.#coins > COIN ? 'coins leave' : 'coins return'],
      ...(this.#claimed.size > 0 ? ([['next run']] as const) : []),
    ]
  }

  get #coins(): bigint {
    return this.#chain.head.balances.get(POOL_ACCOUNT) ?? 0n
  }

  async play([name, kind]: Move): Promise<void> {
    if (name === 'order') await this.#order(kind)
    else if (name === 'look') await this.#look(kind)
    else if (name === 'block') this.#mine(kind)
    else if (name === 'reorg') this.#reorg()
    else if (name === 'forget mempool') this.#chain.mempool.clear()
    else if (name === 'next run') this.#nextRun()
    else if (name === 'time passes') {
      this.#lateness++
      this.#nowMs += (TTL_S / 2 + 1) * 1000
    } else this.#chain.adjust(this.#chain.head, this.#withCoins(name === 'coins leave' ? COIN / 10n : 10n * COIN))
    this.#judge()
  }

  #withCoins(coins: bigint) {
    return new Map(this.#chain.head.balances).set(POOL_ACCOUNT, coins)
  }

  #nextRun(): void {
    this.#claimed = new Set()
    this.#ledger = new PayoutLedger(this.#lines)
  }

  async #order(kind: 'arrives' | 'lost' | 'killed'): Promise<void> {
    const append = (...lines: readonly PayoutLine[]) => {
      this.#lines.push(...lines)
      this.#isKilled = kind === 'killed'
      this.#isAway = kind === 'lost'
    }
    try {
      await payBalances(this.#ledger.balances(POOL_ACCOUNT), {
        node: this.#client,
        ledger: this.#ledger,
        account: POOL_ACCOUNT,
        minimum: 0n,
        keys: [POOL],
        journal: { append, now: () => CREDIT.at },
        terms: { gasLimit: 10_000, gasPrice: '0.00000001', ttlMs: TTL_S * 1000 },
        clock: this.#clock,
        signal: new AbortController().signal,
        onStep: () => undefined,
        onTrouble: () => undefined,
      })
    } catch (error) {
      if (kind === 'arrives') throw error
    } finally {
      this.#isKilled = false
      this.#isAway = false
    }
    if (kind !== 'arrives') this.#nextRun()
  }

  async #look(kind: 'true' | 'forgets' | 'away' | Lie): Promise<void> {
    this.#isAway = kind === 'away'
    this.#lie = kind === 'true' || kind === 'away' ? null : kind
    const options: SettleOptions = {
      node: this.#client,
      confirmations: CONFIRMATIONS,
      clock: this.#clock,
      claimed: this.#claimed,
      signal: new AbortController().signal,
      onStep: () => undefined,
      onResult: (result) => {
        this.#lines.push(result)
        this.#ledger.add(result)
        this.#judgeResult(result)
      },
    }
    await lookOnce(this.#ledger.openPayouts, options).catch((error: unknown) => {
      if (kind !== 'away') throw error
    })
    this.#isAway = false
    this.#lie = null
  }

  #mine(kind: 'with' | 'without'): void {
    this.#nowMs = Math.max(this.#nowMs, Number(this.#chain.head.header.creationTime / 1000n) + BLOCK_S * 1000)
    const block = this.#chain.mine(this.#chain.head, this.#nowMs, null, () => kind === 'with')
    this.#chain.follow(block)
  }

  #reorg(): void {
    const { parent, header } = this.#chain.head
    if (parent === null) return
    this.#chain.follow(this.#chain.mine(parent, Number(header.creationTime / 1000n), null, () => false))
  }

  /** A result agrees with the chain at the moment when it is written. */
  #judgeResult({ requestKey, outcome }: ResultLine): void {
    const found = this.#chain.including(requestKey)
    const order = this.#orders.find((each) => each.requestKey === requestKey)
    if (outcome === 'expired') {
      expect(found, 'an expired payment is in no block').toBe(null)
      const canEnter = order !== undefined && this.#chain.takes(this.#chain.head, order.command)
      expect(canEnter, 'no block can take an expired payment').toBe(false)
      return
    }
    const depth = found === null ? 0 : this.#chain.head.height - found.block.height + 1
    expect(depth, 'a final payment is deep').toBeGreaterThanOrEqual(CONFIRMATIONS)
    expect(found?.tx.verdict.status, 'the result is that of the block').toBe(outcome === 'paid' ? 'success' : 'failure')
  }

  #judge(): void {
    const has = this.#chain.head.balances.get(USER_ACCOUNT) ?? 0n
    expect(has, 'the user has at most his part').toBeLessThanOrEqual(COIN)
    const open = this.#orders.filter(({ requestKey }) => !this.#results.has(requestKey))
    expect(open.length, 'one order at a time').toBeLessThanOrEqual(1)
  }

  key(): string {
    const names = new Map(this.#orders.map(({ requestKey }, i) => [requestKey, i]))
    const blocks = [...this.#chain.branch()].map(({ included, header, balances }) => {
      const secondsAgo = Math.floor((this.#nowMs - Number(header.creationTime / 1000n)) / 1000)
      const inside = included.map(({ command, verdict }) => [names.get(command.hash), verdict.status])
      return [Math.min(secondsAgo, 2 * TTL_S), inside, `${balances.get(POOL_ACCOUNT)}`]
    })
    const orders = this.#orders.map(({ expires, requestKey }) => {
      const leftS = Math.max(-2 * TTL_S, expires - Math.floor(this.#nowMs / 1000))
      return [leftS, this.#results.get(requestKey)?.outcome, this.#claimed.has(requestKey)]
    })
    const waiting = [...this.#chain.mempool.keys()].map((key) => names.get(key)).toSorted()
    return JSON.stringify([blocks, orders, waiting, this.#lateness])
  }

  /** When all is well, the user gets his part. */
  async finish(): Promise<void> {
    this.#chain.adjust(this.#chain.head, this.#withCoins(10n * COIN))
    const isDone = () => this.#chain.head.balances.get(USER_ACCOUNT) === COIN && this.#ledger.openPayouts.length === 0
    for (let round = 0, done = 0; round < 6 && done < 2; round++) {
      this.#nextRun()
      if (this.#ledger.balances(POOL_ACCOUNT).length > 0) await this.#order('arrives')
      for (let block = 0; block < CONFIRMATIONS + 1; block++) this.#mine('with')
      this.#nowMs += TTL_S * 1000
      for (let block = 0; block < CONFIRMATIONS + 1; block++) this.#mine('with')
      await this.#look('true')
      this.#judge()
      if (isDone()) done++
    }
    expect(this.#chain.head.balances.get(USER_ACCOUNT), 'the user has his part in the end').toBe(COIN)
    expect(this.#ledger.openPayouts, 'no order is open in the end').toEqual([])
  }
}

it('a payment is made once, in every order of events', async () => {
  const { states, steps, byDepth } = await explore(() => new SmallPool(), DEPTH)
  console.log(`payment: ${states} states in ${steps} steps, by depth ${byDepth.join(', ')}`)
  expect(byDepth).toHaveLength(DEPTH + 1)
  // A world that allows too little proves nothing.
  expect(states).toBeGreaterThan(50)
})
