/**
 * A small pool on virtual time: users, shares, blocks, and a payer that runs again and again. Its node, its disk, its
 * clock and the process itself fail in all ways of the seed. At the end all faults are over, and the chains alone
 * decide: no user has more than his parts, and each has all of them.
 */

import type { SignedCommand } from '../../../src/client/wallet/command.ts'
import { type SigningKey, signingKey } from '../../../src/client/wallet/keys.ts'
import { coinsText, fractionOf, unitsOf } from '../../../src/ground/base/coins.ts'
import { NewcutError } from '../../../src/ground/base/errors.ts'
import type { ShareEntry } from '../../../src/mining/accounts/share-store.ts'
import { PayoutJournal, readPayoutFile } from '../../../src/pool/payouts/payout-journal.ts'
import type { CreditLine, PayoutLine, SentLine } from '../../../src/pool/payouts/payout-line.ts'
import { payPayouts } from '../../../src/pool/payouts/payout-run.ts'
import type { PayoutReport } from '../../../src/pool/payouts/report.ts'
import type { PayoutStorage } from '../../../src/pool/payouts/storage.ts'
import { diceOf } from '../../sim/dice.ts'
import { VirtualTime } from '../../sim/virtual-time.ts'
import { MemoryShares, share } from '../memory-shares.ts'
import { type DiskState, PayerDisk } from './disk.ts'
import { divided, type Terms } from './division.ts'
import { type Block, Chain } from './network.ts'
import { NO_FAULTS, type NodeFaults, nodeOf } from './node.ts'

const key = (n: number): SigningKey => signingKey(n.toString(16).padStart(64, '0'))
const POOL = key(0xf001)
const POOL_ACCOUNT = `k:${POOL.publicKey}`
const USERS = [1, 2, 3, 4].map(key)
const FOLDER = '/pool'
const JOURNAL = `${FOLDER}/payouts.jsonl`
/** The account of other miners. */
const STRANGER = 'k:stranger'
/** Mean time between two blocks of a chain, and between two shares. */
const BLOCK_MS = 10_000
const SHARE_MS = 5_000
const BLOCK_DIFFICULTY = 64
/** Maximum number of runs at the end, while nothing fails any more. */
const LAST_RUNS = 12
/** Virtual time after which a run is taken to hang. */
const MAX_RUN_MS = 3_600_000

/** A process is dead: it has no further effect. */
class Killed extends Error {}

export interface PoolOutcome {
  readonly seed: number
  /** Broken promises; none is right. */
  readonly violations: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

/** The faults in the world of a seed. */
interface Plan {
  readonly node: NodeFaults
  readonly kills: number
  readonly powerCuts: number
  readonly disk: number
  readonly flips: number
  readonly clock: number
  readonly twoPayers: number
  readonly reorgs: number
  readonly deepReorgs: number
  readonly drains: number
}

function planOf(random: () => number): Plan {
  const some = (most: number) => (random() < 0.5 ? random() * most : 0)
  const node = { lost: some(0.06), proxy: some(0.03), forgets: some(0.6), lies: some(0.4), drops: some(0.9) }
  return {
    node: { ...node, lag: random() < 0.3 ? Math.floor(random() * 6) : 0, slowMs: some(2000) },
    kills: some(0.8),
    powerCuts: some(0.7),
    disk: some(0.3),
    flips: some(0.3),
    clock: some(0.3),
    twoPayers: some(0.3),
    reorgs: some(0.2),
    deepReorgs: random() < 0.25 ? random() * 0.1 : 0,
    drains: some(0.6),
  }
}

export async function simulatePool(
  seed: number,
  trace: (line: string) => void = () => undefined,
): Promise<PoolOutcome> {
  const world = new PoolWorld(seed, trace)
  const restore = world.time.install(world.random)
  try {
    await world.live()
  } finally {
    restore()
  }
  return { seed, violations: world.violations, counts: Object.fromEntries(world.counts) }
}

class PoolWorld {
  readonly time = new VirtualTime()
  readonly random: () => number
  readonly violations: string[] = []
  readonly counts = new Map<string, number>()
  readonly #seed: number
  readonly #trace: (line: string) => void
  readonly #plan: Plan
  readonly #terms: Terms
  readonly #confirmations: number
  readonly #minimum: bigint
  readonly #gasLimit: number
  readonly #ttlMs: number
  readonly #chains: Chain[]
  readonly #shares = new MemoryShares()
  readonly #disk: PayerDisk
  /** Blocks of the pool by id, with their shares. */
  readonly #blocks = new Map<string, { readonly block: Block; readonly chain: number; readonly share: ShareEntry }>()
  #isLocked = false
  /** The world goes on without faults. */
  #isCalm = false
  /** A flipped bit in the files, until a run has read it. */
  #flip: { readonly copy: ReadonlyMap<string, Buffer>; readonly flipped: ReadonlyMap<string, Buffer> } | null = null
  /** Time of the payer's clock when its run began. */
  #runAt = ''
  /** The pool finds no more blocks. */
  #isClosing = false
  #shareCount = 0
  /** The journal as it was last read. */
  #read: { readonly bytes: Buffer; readonly lines: readonly PayoutLine[] } = { bytes: Buffer.alloc(0), lines: [] }
  /** Credits that were checked. */
  readonly #checked = new Map<string, string>()
  /** The newest report. */
  #report: PayoutReport | null = null

  constructor(seed: number, trace: (line: string) => void) {
    this.#seed = seed
    this.#trace = trace
    this.random = diceOf(seed, 'process')
    const dice = diceOf(seed, 'plan')
    this.#plan = planOf(dice)
    const pick = <T>(...of: readonly T[]): T => of[Math.floor(dice() * of.length)]
    const scheme = pick('pplns', 'prop', 'solo' as const)
    this.#terms = { scheme, windowTenths: pick(3n, 5n, 20n), feeThousandths: pick(0n, 10n, 25n) }
    this.#confirmations = pick(1, 2, 3, 4)
    this.#minimum = pick(0n, 0n, 10n ** 12n)
    this.#gasLimit = pick(900, 1_300, 2_100, 100_000)
    this.#ttlMs = pick(25_000, 60_000)
    this.#disk = new PayerDisk(diceOf(seed, 'disk'))
    this.#disk.onAppend = (lines) => {
      for (const line of lines.split('\n')) {
        if (!line.includes('"type":"credit"')) continue
        this.#checkTime(JSON.parse(line))
        this.#checkRound(JSON.parse(line))
      }
    }
    const balances = new Map([[POOL_ACCOUNT, (this.#plan.deepReorgs > 0 ? 1000n : 1n) * 10n ** 12n]])
    this.#chains = Array.from({ length: pick(1, 2) }, (_, id) => new Chain(id, this.time.trueWallMs(), balances))
  }

  readonly #count = (name: string) => void this.counts.set(name, (this.counts.get(name) ?? 0) + 1)

  #wrong(text: string): void {
    this.violations.push(text)
    this.#trace(`WRONG: ${text}`)
  }

  async live(): Promise<void> {
    const dice = diceOf(this.#seed, 'life')
    for (const chain of this.#chains) this.#mineOn(chain, diceOf(this.#seed, `chain ${chain.id}`))
    this.#submitOn(diceOf(this.#seed, 'shares'))
    for (let phase = 0; phase < 4; phase++) {
      await this.#pass(dice() * 25_000)
      await this.#phase(dice)
    }
    await this.#end()
  }

  async #pass(ms: number): Promise<void> {
    await this.time.passUntil(this.time.nowMs + ms, () => undefined)
  }

  /** Blocks come by themselves. */
  #mineOn(chain: Chain, dice: () => number): void {
    const next = () =>
      this.time.after(-BLOCK_MS * Math.log(1 - dice()), () => {
        this.#mine(chain, dice)
        next()
      })
    next()
  }

  #mine(chain: Chain, dice: () => number): void {
    const { reorgs, deepReorgs } = this.#plan
    const back = (depth: number) => {
      let from = chain.head
      for (let i = 0; i < depth && from.parent !== null; i++) from = from.parent
      return from
    }
    const kind = dice()
    if (!this.#isCalm && kind < deepReorgs) {
      const { head } = chain
      this.#repeat(chain, back(1 + Math.floor(dice() * 12)), dice)
      // The old branch may win after all.
      if (dice() < 0.7) this.time.after(20_000 + dice() * 100_000, () => this.#repeat(chain, head, dice))
    } else if (!this.#isCalm && kind < deepReorgs + reorgs) {
      this.#branch(chain, back(Math.floor(dice() * this.#confirmations)), dice)
    } else if (!this.#isCalm && kind > 0.97) {
      // An abandoned block is extended: its branch may become the highest.
      const blocks = [...chain.blocks.values()].slice(-6).filter((block) => this.#isShallow(chain, block))
      this.#block(chain, blocks[Math.floor(dice() * blocks.length)] ?? chain.head, dice)
    } else this.#block(chain, chain.head, dice)
  }

  /** A branch from this block that is higher than the head. */
  #branch(chain: Chain, from: Block, dice: () => number): void {
    if (from === chain.head) return
    this.#count('reorgs')
    const { height } = chain.head
    for (let parent = from; parent.height <= height; ) parent = this.#block(chain, parent, dice)
  }

  /** Whether a branch of this block would only replace blocks that are not final yet. */
  #isShallow(chain: Chain, block: Block): boolean {
    const ids = new Set([...chain.branch()].slice(0, this.#confirmations).map(({ id }) => id))
    for (const each of chain.branch(block)) if (ids.has(each.id)) return true
    return false
  }

  /**
   * A branch that replaces blocks deeper than any confirmation. Its miners knew the same transactions. The network
   * takes it only if it has all of them and no others: payments rely on confirmations, and cannot outlast anything
   * else.
   */
  #repeat(chain: Chain, from: Block, dice: () => number): void {
    if (this.#isCalm) return
    const fork = [...chain.branch(from)].find((block) => isOn(chain, block))
    const old = [...chain.branch()].filter(({ height }) => height > (fork?.height ?? 0)).reverse()
    const commands = old.flatMap(({ included }) => included.map(({ command }) => command))
    const own = new Set(commands.map(({ hash }) => hash))
    const before = [...chain.mempool.values()]
    for (const command of commands) chain.mempool.set(command.hash, command)
    let parent = from
    for (const { header } of old) {
      const timeMs = Number(header.creationTime / 1000n)
      parent = chain.mine(parent, timeMs, this.#coinbase(dice, true), ({ hash }) => own.has(hash))
      this.#found(chain, parent, dice)
    }
    while (parent.height <= chain.head.height) parent = chain.mine(parent, this.time.trueWallMs(), null, () => false)
    chain.mempool.clear()
    for (const command of before) chain.mempool.set(command.hash, command)
    const isWhole = commands.every(({ hash }) => {
      const [then, now] = [chain.including(hash), chain.including(hash, parent)]
      return then?.tx.verdict.status === now?.tx.verdict.status
    })
    // An expired payment of an abandoned branch would be back beside its replacement.
    const isMore = [...chain.branch(parent)].some(
      ({ height, included }) => height > (fork?.height ?? 0) && included.some(({ command }) => !own.has(command.hash)),
    )
    if (!isWhole || isMore) return
    this.#count('deep reorgs')
    chain.follow(parent)
  }

  #block(chain: Chain, parent: Block, dice: () => number): Block {
    const isEmpty = dice() < 0.2
    const timeMs = this.time.trueWallMs() - dice() * 2000
    const block = chain.mine(parent, timeMs, this.#coinbase(dice, this.#isClosing), () => !isEmpty)
    this.#found(chain, block, dice)
    if (block.height > chain.head.height) chain.follow(block)
    return block
  }

  /** @param isOthers whether the pool does not find it */
  #coinbase(dice: () => number, isOthers: boolean): Block['coinbase'] {
    const amount = 1_152_261_500_000n + BigInt(Math.floor(dice() * 1000))
    const kind = dice()
    if (kind < 0.02) return { account: `${STRANGER}-of-pool`, amount }
    return { account: kind < 0.25 && !isOthers && this.#shares.entries.length > 0 ? POOL_ACCOUNT : STRANGER, amount }
  }

  /** The share of a block that the pool found. Some of its blocks pay another account. */
  #found(chain: Chain, block: Block, dice: () => number): void {
    const account = block.coinbase?.account ?? STRANGER
    if (account === STRANGER) return
    const found = this.#share(dice, { block: block.id, chain: chain.id, height: block.height })
    this.#blocks.set(block.id, { block, chain: chain.id, share: found })
  }

  #submitOn(dice: () => number): void {
    const next = () =>
      this.time.after(-SHARE_MS * Math.log(1 - dice()), () => {
        this.#share(dice, {})
        next()
      })
    next()
  }

  #share(dice: () => number, of: Partial<ShareEntry>): ShareEntry {
    const user = dice() < 0.1 ? (dice() < 0.5 ? 'bob' : POOL_ACCOUNT) : userName(dice)
    const id = `share-${String(this.#shareCount++).padStart(8, '0')}`
    const difficulty = 1 + Math.floor(dice() * 8)
    const timeMs = Math.floor(this.time.trueWallMs())
    const entry = share({ id, user, difficulty, blockDifficulty: BLOCK_DIFFICULTY, timeMs, ...of })
    this.#shares.add(entry)
    return entry
  }

  /** A run of the payer, with all that may fail. */
  async #phase(dice: () => number): Promise<void> {
    const plan = this.#plan
    if (dice() < plan.clock) this.time.minerAheadMs = (dice() - 0.5) * (dice() < 0.5 ? 20_000 : 4_000_000)
    else if (dice() < 0.5) this.time.minerAheadMs = 0
    // A deep branch may lack the rewards that payments of the old one used.
    if (plan.deepReorgs === 0 && dice() < plan.drains) this.time.after(dice() * 15_000, () => this.#drain(dice))
    const states: readonly DiskState[] = ['full', 'broken', 'read-only']
    this.#disk.state = dice() < plan.disk ? states[Math.floor(dice() * states.length)] : 'well'
    if (this.#flip === null && dice() < plan.flips) {
      const copy = this.#disk.copy()
      if (this.#disk.flip()) this.#flip = { copy, flipped: this.#disk.copy() }
    }
    const steps = dice() < plan.kills ? 1 + Math.floor(dice() ** 2 * 300) : null
    const diesAfterSend = dice() < plan.kills / 4
    const run = this.#pay({ faults: plan.node, steps, diesAfterSend, minimum: this.#minimum })
    const second = dice() < plan.twoPayers ? this.#second(dice() * 20_000) : null
    const result = await this.#ended(run)
    if (second !== null) await this.#ended(second)
    if (result instanceof Killed) {
      this.#count('kills')
      if (dice() < plan.powerCuts) this.#disk.cutPower()
    } else if (result instanceof NewcutError) this.#count(result.code)
    else if (!('troubles' in result)) throw result
    this.#judgeFlip(result)
    this.#disk.state = 'well'
    this.#judge()
  }

  /** A flipped bit is refused, or changes nothing. The operator has a copy. */
  #judgeFlip(result: unknown): void {
    if (this.#flip === null) return
    const { copy, flipped } = this.#flip
    const isRefused = result instanceof NewcutError && result.code === 'DATA_UNUSABLE'
    const isUntouched = [...flipped].every(([path, bytes]) => this.#disk.files.get(path)?.bytes.equals(bytes))
    // A run that was killed or refused may not have read the file yet.
    if (isUntouched && !isRefused && !this.#isCalm) return
    this.#count(isRefused ? 'flips refused' : 'flips without effect')
    if (isUntouched) this.#disk.restore(copy)
    this.#flip = null
  }

  /** The operator moves most coins away, so that payments fail. They return at the end. */
  #drain(dice: () => number): void {
    const chain = this.#chains[Math.floor(dice() * this.#chains.length)]
    const { head } = chain
    if (this.#isCalm) return
    const balances = new Map(head.balances)
    const has = balances.get(POOL_ACCOUNT) ?? 0n
    const left = BigInt(Math.floor(dice() * 10)) * 10n ** 11n
    if (has <= left) return
    this.#count('drains')
    balances.set(POOL_ACCOUNT, left)
    chain.adjust(head, balances)
  }

  #storage(step: () => void, isDying: () => boolean, process: { hasLock: boolean }): PayoutStorage {
    const disk = this.#disk.mount(step, isDying)
    return {
      path: JOURNAL,
      lock: async () => {
        step()
        if (this.#isLocked) throw new NewcutError('DATA_UNUSABLE', 'another newcut payouts --pay is running there')
        this.#isLocked = true
        process.hasLock = true
        return {
          release: async () => {
            if (process.hasLock) this.#isLocked = false
            process.hasLock = false
          },
        }
      },
      read: () => readPayoutFile(FOLDER, disk),
      open: (nowMs) => PayoutJournal.open(FOLDER, nowMs, disk),
    }
  }

  /** @param steps effects until the process is killed, or null */
  async #pay({ faults, steps, minimum, diesAfterSend = false }: PayOptions): Promise<Ended> {
    const kill = new AbortController()
    const process = { hasLock: false }
    let left = steps ?? Number.POSITIVE_INFINITY
    const step = () => {
      if (kill.signal.aborted || left-- <= 0) {
        if (process.hasLock) this.#isLocked = false
        process.hasLock = false
        const killed = new Killed()
        kill.abort(killed)
        throw killed
      }
    }
    const absent = [...this.#blocks.values()].filter(({ block, chain }) => !isOn(this.#chains[chain], block))
    const onSent = ({ hash }: SignedCommand) => {
      if (diesAfterSend) left = 0
      this.#checkSent(hash, absent)
    }
    const node = nodeOf({
      chains: this.#chains,
      time: this.time,
      faults,
      random: this.random,
      step,
      onSent,
      poolKey: POOL.publicKey,
    })
    const { scheme, windowTenths, feeThousandths } = this.#terms
    const [window, fee] = [tenths(windowTenths, 1), tenths(feeThousandths, 1)]
    this.#runAt = new Date(this.time.clock.wallMs()).toISOString()
    let troubles = 0
    try {
      const report = await payPayouts({
        ...node,
        openReader: async () => this.#shares,
        storage: this.#storage(step, () => left <= 0, process),
        rules: {
          account: POOL_ACCOUNT,
          network: 'development',
          scheme,
          window: { text: window, value: fractionOf(window) ?? { numerator: 0n, denominator: 1n } },
          fee: { text: fee, value: { numerator: feeThousandths, denominator: 1000n } },
          confirmations: this.#confirmations,
        },
        minimum,
        clock: this.time.clock,
        signal: kill.signal,
        keys: [POOL],
        terms: { gasLimit: this.#gasLimit, gasPrice: '0.00000001', ttlMs: this.#ttlMs },
        onNotice: () => undefined,
        onStep: (each) => this.#trace(JSON.stringify(each)),
        onTrouble: (chain, error) => {
          troubles++
          this.#count(`trouble ${error.code}`)
          this.#trace(`chain ${chain}: ${error.message}`)
        },
        onSettled: ({ outcome, requestKey }) => {
          this.#count(outcome)
          this.#trace(`${requestKey} ${outcome}`)
        },
      })
      this.#trace(`run ended, ${troubles} troubles`)
      return { report, troubles }
    } catch (error) {
      this.#trace(`run ended: ${String(error)}`)
      if (kill.signal.aborted) return kill.signal.reason as Killed
      return error as Error
    }
  }

  /** A transaction that arrives is in the journal, and pays for no block that had left its chain before the run. */
  #checkSent(hash: string, absent: readonly { readonly block: Block; readonly chain: number }[]): void {
    if (this.#flip !== null) return
    const order = this.#lines().find((line) => line.type === 'order' && line.requestKey === hash)
    if (order?.type !== 'order') {
      this.#wrong(`${hash} is sent, and is not in the journal`)
      return
    }
    if (order.at < this.#runAt) return
    const blocks = new Set(order.pays.flatMap(({ for: parts }) => parts.map(({ block }) => block)))
    const gone = absent.find(({ block, chain }) => blocks.has(block.id) && !isOn(this.#chains[chain], block))
    if (gone !== undefined) this.#wrong(`${hash} pays for ${gone.block.id}, which has left its chain`)
  }

  /** A second payer, that must not get in while the first is active. */
  async #second(afterMs: number): Promise<void> {
    await new Promise<void>((resolve) => void this.time.after(afterMs, resolve))
    const wasLocked = this.#isLocked
    const result = await this.#pay({ faults: NO_FAULTS, steps: null, minimum: this.#minimum })
    this.#count(wasLocked ? 'second payers refused' : 'second payers')
    const isRefused = result instanceof NewcutError && /another newcut payouts/.test(result.message)
    if (wasLocked && !isRefused) this.#wrong('a second payer ran beside the first')
  }

  /** Lets time pass until a run has ended. */
  async #ended<T>(run: Promise<T>): Promise<T> {
    let result: T | null = null
    void run.then((value) => {
      result = value
    })
    const endMs = this.time.nowMs + MAX_RUN_MS
    while (result === null && this.time.nowMs < endMs) await this.#pass(1_000)
    if (result === null) {
      this.#wrong('a run hangs')
      throw new Error('a run hangs')
    }
    return result
  }

  /** Everything is well. The payer runs until nothing is due. */
  async #end(): Promise<void> {
    this.#isCalm = true
    this.time.minerAheadMs = 0
    this.#disk.state = 'well'
    this.#judgeFlip(null)
    for (const chain of this.#chains) {
      const balances = new Map(chain.head.balances)
      balances.set(POOL_ACCOUNT, (balances.get(POOL_ACCOUNT) ?? 0n) + 1000n * 10n ** 12n)
      chain.adjust(chain.head, balances)
    }
    this.#isClosing = true
    for (let isNew = true, runs = 0; isNew; runs++) {
      await this.#bury()
      const before = this.#lines().length
      const result = await this.#ended(this.#pay({ faults: NO_FAULTS, steps: null, minimum: 0n }))
      if (result instanceof Error || runs === LAST_RUNS) {
        this.#wrong(`a run fails though nothing is wrong: ${result instanceof Error ? result.message : 'no end'}`)
        return
      }
      this.#report = result.report
      isNew = this.#lines().length > before
      this.#judge()
    }
    this.#judgeEnd()
  }

  /** Waits until all present blocks are deep enough. */
  async #bury(): Promise<void> {
    const heights = this.#chains.map(({ head }) => head.height + this.#confirmations)
    while (this.#chains.some(({ id, head }) => head.height < heights[id])) await this.#pass(BLOCK_MS)
  }

  /** The lines of the journal on disk. */
  #lines(): readonly PayoutLine[] {
    const disk = this.#disk.mount(
      () => undefined,
      () => false,
    )
    try {
      const bytes = disk.read(JOURNAL)
      if (!bytes.equals(this.#read.bytes)) this.#read = { bytes, lines: readPayoutFile(FOLDER, disk).lines }
      return this.#read.lines
    } catch (error) {
      // A run will refuse it, too.
      if (this.#flip === null) this.#wrong(`the journal cannot be read: ${String(error)}`)
      return this.#read.lines
    }
  }

  /** Credits by the journal, each checked against the rules and the chain. */
  #credits(): readonly CreditLine[] {
    const credits = this.#lines().flatMap((line) => (line.type === 'credit' ? [line] : []))
    const blocks = credits.map(({ block }) => block)
    if (new Set(blocks).size < blocks.length) this.#wrong('a block is credited twice')
    for (const credit of credits) this.#checkCredit(credit)
    this.#checkOrders(this.#lines())
    return credits
  }

  /** A block is credited once it is deep enough; with PROP, not before the earlier ones are settled. */
  #checkTime({ block: id }: CreditLine): void {
    const { deepReorgs, reorgs } = this.#plan
    const credited = this.#blocks.get(id)
    // A branch may have come between the answer of the node and this line.
    if (credited === undefined || deepReorgs > 0) return
    if (this.#depthOf(credited) < this.#confirmations) this.#wrong(`${id} is credited before it is deep enough`)
    if (this.#terms.scheme !== 'prop' || reorgs > 0) return
    const earlier = [...this.#blocks.values()].filter(({ share }) => share.id < credited.share.id)
    const open = earlier.find((each) => this.#depthOf(each) > 0 && this.#depthOf(each) < this.#confirmations)
    if (open !== undefined) this.#wrong(`${id} is credited while ${open.block.id} is unsettled`)
  }

  /** PROP: a round has no share of a block that counts, nor of an orphan that was paid. */
  #checkRound(credit: CreditLine): void {
    if (this.#terms.scheme !== 'prop' || this.#flip !== null) return
    const lines = this.#lines()
    const [orphaned, spent] = [new Set<string>(), new Map<string, readonly string[]>()]
    for (const line of lines) {
      if (line.type === 'orphaned') orphaned.add(line.block)
      if (line.type === 'restored') orphaned.delete(line.block)
      if (line.type === 'order')
        spent.set(
          line.requestKey,
          line.pays.flatMap(({ for: parts }) => parts.map(({ block }) => block)),
        )
      if (line.type === 'result' && line.outcome !== 'paid') spent.delete(line.requestKey)
    }
    const paid = new Set([...spent.values()].flat())
    for (const other of lines) {
      if (other.type !== 'credit' || other.block === credit.block) continue
      if (orphaned.has(other.block) && !paid.has(other.block)) continue
      const both = this.#shares.entries.find((each) => isInside(each, other.round) && isInside(each, credit.round))
      if (both !== undefined) this.#wrong(`${both.id} counts for ${other.block} and ${credit.block}`)
    }
  }

  /** Depth of a block in its chain; 0 if it is on another branch. */
  #depthOf({ block, chain }: { readonly block: Block; readonly chain: number }): number {
    const { head } = this.#chains[chain]
    return isOn(this.#chains[chain], block) ? head.height - block.height + 1 : 0
  }

  #checkOrders(lines: readonly PayoutLine[]): void {
    const orphaned = new Set<string>()
    for (const line of lines) {
      if (line.type === 'orphaned') orphaned.add(line.block)
      if (line.type === 'restored') orphaned.delete(line.block)
      if (line.type !== 'order') continue
      this.#checkOrder(line)
      const lost = line.pays.flatMap(({ for: parts }) => parts).find(({ block }) => orphaned.has(block))
      if (lost !== undefined) this.#wrong(`${line.requestKey} pays for ${lost.block}, which is orphaned`)
    }
  }

  /** An order pays its parts, and no balance below the minimum. */
  #checkOrder({ pays, minimum = '0.0', requestKey }: SentLine): void {
    for (const { account, amount, for: parts } of pays) {
      const sum = parts.reduce((total, part) => total + (unitsOf(part.amount) ?? 0n), 0n)
      if (unitsOf(amount) !== sum) this.#wrong(`${requestKey} pays ${account} ${amount} for parts of ${coinsText(sum)}`)
      if (!account.startsWith('k:') || account === POOL_ACCOUNT) this.#wrong(`${requestKey} pays ${account}`)
      if (sum < (unitsOf(minimum) ?? 0n)) this.#wrong(`${requestKey} pays ${account} ${amount}, less than ${minimum}`)
    }
  }

  #checkCredit(credit: CreditLine): void {
    const line = text(credit)
    if (this.#checked.get(credit.block) === line) return
    this.#checked.set(credit.block, line)
    const found = this.#blocks.get(credit.block)
    if (found?.block.coinbase?.account !== POOL_ACCOUNT) {
      this.#wrong(`${credit.block} is credited, and is no block of the pool`)
      return
    }
    const { amount: reward } = found.block.coinbase
    const shares = this.#sharesFor(credit, found.share)
    const { fee, rest, amounts } = divided(reward, this.#terms, shares)
    const expected = { reward, fee, rest, parts: [...amounts].filter(([, amount]) => amount > 0n).toSorted(byName) }
    const units = (text: string) => unitsOf(text) ?? -1n
    const parts = credit.parts.map(({ payee, amount }) => [payee, units(amount)] as const)
    const given = {
      reward: units(credit.reward),
      fee: units(credit.fee),
      rest: units(credit.rest),
      parts: parts.filter(([, amount]) => amount > 0n).toSorted(byName),
    }
    const sum = given.parts.reduce((total, [, amount]) => total + amount, given.fee + given.rest)
    if (sum !== reward) this.#wrong(`${credit.block}: fee, rest and parts are ${sum}, and the reward is ${reward}`)
    if (text(given) !== text(expected)) this.#wrong(`${credit.block}: divided as ${text(given)}, not ${text(expected)}`)
  }

  /** The shares that count for a block, the newest first. */
  #sharesFor(credit: CreditLine, own: ShareEntry): ShareEntry[] {
    const { scheme } = this.#terms
    if (scheme === 'solo') return [own]
    const upTo = this.#shares.entries.filter(
      ({ timeMs, id }) => timeMs < own.timeMs || (timeMs === own.timeMs && id <= own.id),
    )
    if (scheme === 'pplns') return upTo.toReversed()
    return upTo.filter((each) => isInside(each, credit.round) || each.id === own.id)
  }

  /** Nobody has more than his parts, whatever happened so far. */
  #judge(): void {
    const credits = this.#credits()
    for (const chain of this.#chains) {
      for (const user of USERS) {
        const account = `k:${user.publicKey}`
        const has = chain.head.balances.get(account) ?? 0n
        const most = sumOf(credits, chain.id, account)
        if (has > most)
          this.#wrong(`${account} has ${coinsText(has)} on chain ${chain.id}, and is due ${coinsText(most)}`)
      }
    }
  }

  /** Everybody has all of his parts, and each block of the pool is credited. */
  #judgeEnd(): void {
    const credits = this.#credits()
    this.#judgeRounds(credits)
    for (const chain of this.#chains) {
      const isThere = new Set([...chain.branch()].map(({ id }) => id))
      const settled = credits.filter((credit) => credit.chain === chain.id && isThere.has(credit.block))
      for (const { publicKey } of USERS) {
        const account = `k:${publicKey}`
        const [least, has] = [sumOf(settled, chain.id, account), chain.head.balances.get(account) ?? 0n]
        if (has < least) this.#wrong(`${account} has ${coinsText(has)} of ${coinsText(least)} on chain ${chain.id}`)
        if (has > 0n) this.#count('paid accounts')
      }
      for (const { block, chain: id } of this.#blocks.values()) {
        if (id !== chain.id || !isThere.has(block.id)) continue
        if (block.coinbase?.account !== POOL_ACCOUNT) continue
        this.#count('pool blocks')
        if (!credits.some((credit) => credit.block === block.id)) {
          const state = this.#report?.blocks.find((each) => each.block === block.id)?.state
          this.#wrong(`${block.id} of height ${block.height} is not credited, but ${state}`)
        }
      }
    }
    const lines = this.#lines()
    const results = new Set(lines.flatMap((line) => (line.type === 'result' ? [line.requestKey] : [])))
    const open = lines.filter((line) => line.type === 'order' && !results.has(line.requestKey))
    if (open.length > 0) this.#wrong(`${open.length} orders are open in the end`)
  }

  /** PROP: no share counts for two blocks, unless one of them was orphaned when the other was credited. */
  #judgeRounds(credits: readonly CreditLine[]): void {
    if (this.#terms.scheme !== 'prop') return
    const orphaned = new Set(this.#lines().flatMap((line) => (line.type === 'orphaned' ? [line.block] : [])))
    const counted = credits.filter(
      ({ block, chain }) => !orphaned.has(block) && [...this.#chains[chain].branch()].some(({ id }) => id === block),
    )
    for (const entry of this.#shares.entries) {
      const times = counted.filter(({ round, block }) => isInside(entry, round) || entry.block === block).length
      if (times > 1 && entry.block === null) this.#wrong(`${entry.id} counts for ${times} blocks`)
    }
  }
}

interface PayOptions {
  readonly faults: NodeFaults
  /** Whether the process is killed as soon as a transaction has arrived. */
  readonly diesAfterSend?: boolean
  readonly steps: number | null
  readonly minimum: bigint
}

type Ended = { readonly report: PayoutReport; readonly troubles: number } | Error

/** Whether a share is in one of the spans, by time and id. */
const isInside = ({ timeMs, id }: ShareEntry, spans: CreditLine['round']): boolean =>
  spans.some(({ after, upTo }) => {
    const isAfter = after === null || timeMs > after.timeMs || (timeMs === after.timeMs && id > after.id)
    return isAfter && (timeMs < upTo.timeMs || (timeMs === upTo.timeMs && id <= upTo.id))
  })

const isOn = (chain: Chain, block: Block) => chain.at(block.height) === block

/** A user by one of its names: `k:KEY`, `KEY`, or in upper case. */
function userName(dice: () => number): string {
  const { publicKey } = USERS[Math.floor(dice() * USERS.length)]
  const names = [`k:${publicKey}`, publicKey, publicKey.toUpperCase()]
  return names[Math.floor(dice() * names.length)]
}

const tenths = (value: bigint, places: number) => `${value / 10n ** BigInt(places)}.${value % 10n ** BigInt(places)}`
const text = (value: unknown) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each))
const byName = ([a]: readonly [string, bigint], [b]: readonly [string, bigint]) => (a < b ? -1 : 1)

const sumOf = (credits: readonly CreditLine[], chain: number, account: string) =>
  credits
    .filter((credit) => credit.chain === chain)
    .flatMap(({ parts }) => parts)
    .filter(({ payee }) => payee === account)
    .reduce((sum, { amount }) => sum + (unitsOf(amount) ?? 0n), 0n)
