/** Payments and balances of one pool from its payout journal, for monitoring. */
import { open } from 'node:fs/promises'
import { unitsOf } from '#ground/base/coins.ts'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { HashChain, LogDamage } from '#ground/base/sealed-log.ts'
import { payeeOfUser } from '#mining/accounts/user-account.ts'
import { payoutErrors } from './errors.ts'
import { isOnNetwork, PayoutLedger } from './ledger.ts'
import { type Payment, paymentsOfPayout } from './payments.ts'
import { damagedJournalError, damagedLineError, payoutFile } from './payout-journal.ts'
import { type PayoutLine, parsePayoutLine } from './payout-line.ts'

/** The pool to read. */
interface PoolIdentity {
  readonly network: string
  /** The account that its blocks pay. */
  readonly account: string
}

/** The rules of the newest credited block. */
interface DivisionRules {
  readonly scheme: string
  readonly feePercent: string
  /** Coins, or null if no payout records it. */
  readonly minimum: string | null
}

/** Amounts in 10^-12 coins. */
interface PayoutTotals {
  /** Null if no block was credited. */
  readonly rules: DivisionRules | null
  readonly paid: bigint
  /** Settled payments, the newest first. */
  readonly payments: readonly Payment[]
  /** Totals of a user, named as its rig names it. */
  balanceOf(user: string): AccountTotals
}

interface AccountTotals {
  /** Owed for blocks that count, or in an open payout. */
  readonly pending: bigint
  readonly paid: bigint
  /** Settled payments, the newest first. */
  readonly payments: readonly Payment[]
}

/** The journal is read in chunks of this size, so that the miner can work in between. */
const CHUNK_BYTES = 1 << 20
/** Keeps the monitor from a long pause over a file that is not a journal. A payment takes about 1 kB. */
const MAX_BYTES = 256 << 20
const NEWLINE = 0x0a

/** Reads a journal that another process writes. Later reads read only new lines. */
export class PayoutTotalsReader {
  readonly #path: string
  readonly #pool: PoolIdentity
  #progress: JournalProgress
  #totals: PayoutTotals | null = null
  #reading: Promise<PayoutTotals> | null = null

  constructor(folder: string, pool: PoolIdentity) {
    this.#path = payoutFile(folder)
    this.#pool = pool
    this.#progress = emptyProgress(this.#path)
  }

  /**
   * Reads new lines and sums up. A folder without a journal has no payments.
   * @throws NewcutError DATA_UNUSABLE
   */
  totals(): Promise<PayoutTotals> {
    this.#reading ??= this.#update().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #update(): Promise<PayoutTotals> {
    try {
      const isNew = await this.#readNewLines()
      if (isNew || this.#totals === null) this.#totals = totalsOf(this.#progress.ledger, this.#pool)
      return this.#totals
    } catch (error) {
      this.#progress = emptyProgress(this.#path)
      this.#totals = null
      if (error instanceof LogDamage) throw damagedJournalError(error)
      if (error instanceof NewcutError || !(error instanceof Error && 'code' in error)) throw error
      throw operatingError(payoutErrors.unreadableJournal, { path: this.#path, why: describeError(error) }, error)
    }
  }

  /**
   * Reads new lines.
   * @returns true if anything changed
   */
  async #readNewLines(): Promise<boolean> {
    const file = await open(this.#path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (file === null) {
      const isNew = this.#progress.bytes > 0
      if (isNew) this.#progress = emptyProgress(this.#path)
      return isNew
    }
    try {
      const { size, mtimeMs, ino } = await file.stat()
      const before = this.#progress
      if (size === before.size && mtimeMs === before.mtimeMs && ino === before.ino) return false
      if (size > MAX_BYTES) {
        throw operatingError(payoutErrors.largeJournal, { path: this.#path, mebibytes: MAX_BYTES >> 20 })
      }
      // The file only grows. One that is not longer was replaced, or lost an unfinished line.
      const isSame = ino === before.ino && size > before.size
      const read = isSame ? before : emptyProgress(this.#path)
      await this.#readWholeLines(file, read, size)
      this.#progress = Object.assign(read, { size, mtimeMs, ino })
      return true
    } finally {
      await file.close()
    }
  }

  /** Reads the complete lines. */
  async #readWholeLines(file: Awaited<ReturnType<typeof open>>, read: JournalProgress, size: number): Promise<void> {
    let rest: Buffer = Buffer.alloc(0)
    for (let at = read.bytes; at < size; ) {
      const piece = Buffer.alloc(Math.min(CHUNK_BYTES, size - at))
      const { bytesRead } = await file.read(piece, 0, piece.length, at)
      if (bytesRead === 0) return
      at += bytesRead
      const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)])
      const end = bytes.lastIndexOf(NEWLINE) + 1
      rest = bytes.subarray(end)
      read.bytes += end
      this.#addLines(bytes.subarray(0, end), read)
    }
    // Text after the end of a line is damage. An unfinished line may still grow.
    read.chain.isWhole(rest)
  }

  /** @param bytes whole lines */
  #addLines(bytes: Buffer, { chain, ledger }: JournalProgress): void {
    for (let done = 0; done < bytes.length; ) {
      const next = bytes.indexOf(NEWLINE, done)
      const line = parsePayoutLine(chain.take(bytes.subarray(done, next)))
      if (line === null) throw damagedLineError(this.#path, chain.end.lines)
      if (isOnNetwork(line, this.#pool.network)) ledger.add(withoutBulk(line))
      done = next + 1
    }
  }
}

interface JournalProgress {
  readonly ledger: PayoutLedger
  /** Length of all complete lines. */
  bytes: number
  readonly chain: HashChain
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
}

const emptyProgress = (path: string): JournalProgress => {
  return { ledger: new PayoutLedger(), chain: new HashChain(path), bytes: 0, size: 0, mtimeMs: 0, ino: 0 }
}

/** Removes data that totals do not need: signed transactions, and the rounds of blocks. */
function withoutBulk(line: PayoutLine): PayoutLine {
  if (line.type === 'credit') return { ...line, round: [] }
  return line.type === 'order' ? { ...line, command: { hash: line.requestKey, sigs: [], cmd: '' } } : line
}

function totalsOf(ledger: PayoutLedger, { network, account }: PoolIdentity): PayoutTotals {
  const payouts = ledger.payouts.filter((payout) => payout.network === network && payout.account === account)
  const payments = payouts.flatMap(paymentsOfPayout).reverse()
  const paid = payments.filter(({ state }) => state === 'paid')
  const byAccount = new Map<string, Payment[]>()
  for (const payment of paid) {
    const own = byAccount.get(payment.account)
    if (own === undefined) byAccount.set(payment.account, [payment])
    else own.push(payment)
  }
  const open = payments.filter(({ state }) => state === 'pending')
  const pending = new Map<string, bigint>()
  const owe = (to: string, amount: bigint) => pending.set(to, (pending.get(to) ?? 0n) + amount)
  for (const balance of ledger.balances(account)) owe(balance.account, balance.amount)
  for (const payment of open) owe(payment.account, unitsOf(payment.amount) ?? 0n)
  const credit = [...ledger.credits.values()].findLast((each) => each.account === account)
  const minimum = payouts.at(-1)?.minimum ?? null
  return {
    rules: credit === undefined ? null : { scheme: credit.scheme, feePercent: credit.feePercent, minimum },
    paid: sumOf(paid),
    payments: paid,
    balanceOf: (user) => {
      const name = payeeOfUser(user)
      const own = byAccount.get(name) ?? []
      return { pending: pending.get(name) ?? 0n, paid: sumOf(own), payments: own }
    },
  }
}

const sumOf = (payments: readonly Payment[]) => payments.reduce((sum, { amount }) => sum + (unitsOf(amount) ?? 0n), 0n)
