/**
 * Decides which blocks and transactions of a development network get console lines, and counts all of them. It has no
 * timer: call `tick` about once a second.
 */
import { formatDuration } from '#ground/base/units.ts'
import type { TransactionEvent } from '#ground/schema/devnet-events.ts'
import { type ConsoleLine, countText } from './line.ts'
import { LineBudget, type LineLimits } from './line-budget.ts'
import { linesOf } from './lines.ts'
import type { BlockNotice, TransactionNotice } from './notices.ts'
import { transactionLines, waitingLine } from './transaction-lines.ts'

/** The current state of the network. */
export interface DevnetNow {
  /** Height of the lowest chain and of the highest. */
  readonly lowest: number
  readonly highest: number
  /** Transactions in the memory pools. */
  readonly pending: number
  /** The origin of blocks, such as `blocks by POST /make-blocks`. */
  readonly blocksBy: string
}

export interface ActivityOptions {
  /** Whether a status line shows the current state. Empty blocks then have no lines. */
  readonly isLive: boolean
  readonly nowMs: () => number
}

/** Maximum transactions with a line in one block or request. As many failed ones get a line in addition. */
const MAX_GROUP_LINES = 20
const LIMITS: LineLimits = { burst: 100, perSecond: 10 }
/** On most networks, blocks come sooner, so that a transaction has a single line. */
const WAITING_MS = 3000
/** Maximum pending transactions to watch, and maximum lines for them at once. */
const MAX_WAITING = 1000
const MAX_WAITING_LINES = 5
/** Interval between summaries of the empty blocks of automatic mining. */
const SUMMARY_MS = 60_000

type PendingEvent = Extract<TransactionEvent, { step: 'pending' }>
type PlacedEvent = Extract<TransactionEvent, { readonly index: number }>

export class DevnetActivity {
  readonly counts = { blocks: 0, emptyBlocks: 0, ok: 0, failed: 0, refused: 0 }
  readonly #options: ActivityOptions
  readonly #budget: LineBudget
  /** Request key -> a transaction that is in no block yet, oldest first. */
  readonly #waiting = new Map<string, { readonly event: PendingEvent; readonly sinceMs: number }>()
  /** Counts for the current block or request. */
  #group = { shown: 0, shownFailed: 0, hidden: 0, hiddenFailed: 0 }
  /** Transactions without a line that no summary has counted yet. */
  #skipped = { count: 0, failed: 0 }
  /** Empty blocks without a line that no summary has counted yet. */
  #ordered = { count: 0, first: null as BlockNotice | null }
  #automatic = 0
  #hasMadeBlocks = false
  #summaryMs: number

  constructor(options: ActivityOptions) {
    this.#options = options
    this.#budget = new LineBudget(LIMITS, options.nowMs)
    this.#summaryMs = options.nowMs()
  }

  /** Whether a block gets a line at once. Others are counted for `tick`; lines of transactions name their block too. */
  block(event: BlockNotice): boolean {
    const isEmpty = event.transactions === 0
    this.counts.blocks++
    if (isEmpty) this.counts.emptyBlocks++
    if (event.by === 'miner') return true
    if (event.by === 'order') {
      const { count, first } = this.#ordered
      if (isEmpty) this.#ordered = { count: count + 1, first: first ?? event }
      return false
    }
    const isFirst = !this.#hasMadeBlocks
    this.#hasMadeBlocks = true
    if (isEmpty && !isFirst) this.#automatic++
    return isEmpty && isFirst
  }

  /** The immediate lines for a step of a transaction. */
  transaction(event: TransactionNotice): ConsoleLine[] {
    switch (event.step) {
      case 'pending':
        this.#watch(event)
        return []
      case 'included':
        this.#waiting.delete(event.requestKey)
        this.counts[event.status === 'success' ? 'ok' : 'failed']++
        return this.#groupLines(event, event.status === 'failure')
      case 'undone':
        return this.#groupLines(event, false)
      case 'dropped':
        this.#waiting.delete(event.requestKey)
        this.counts.failed++
        return this.#budget.take() ? transactionLines(event) : this.#skip(1, 1)
      case 'refused':
        this.counts.refused++
        return this.#groupLines(event, false)
      case 'skipped':
        return transactionLines(event)
    }
  }

  /** The lines that are due now. */
  tick(now: DevnetNow): ConsoleLine[] {
    return [...this.#waitingLines(now), ...this.#orderLines(now), ...this.#summaryLines(now), ...this.#skippedLines()]
  }

  #watch(event: PendingEvent): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(event.requestKey, { event, sinceMs: this.#options.nowMs() })
  }

  /** The first ones of a block or request get lines, then failed ones. A last line counts the rest. */
  #groupLines(event: PlacedEvent, isFailed: boolean): ConsoleLine[] {
    if (event.index === 0) this.#group = { shown: 0, shownFailed: 0, hidden: 0, hiddenFailed: 0 }
    const lines = isSilent(event) || !this.#takeLine(isFailed) ? [] : transactionLines(event)
    if (event.index < event.count - 1 || this.#group.hidden === 0) return lines
    const { hidden: count, hiddenFailed: failed } = this.#group
    if (!this.#budget.take()) return [...lines, ...this.#skip(count, failed)]
    return [...lines, moreLine(count, failed, placeOf(event))]
  }

  /** Whether one more transaction of the group gets a line. */
  #takeLine(isFailed: boolean): boolean {
    const group = this.#group
    const isOneOfFirst = group.shown < MAX_GROUP_LINES
    const isWanted = isOneOfFirst || (isFailed && group.shownFailed < MAX_GROUP_LINES)
    if (!isWanted || !this.#budget.take()) {
      group.hidden++
      if (isFailed) group.hiddenFailed++
      return false
    }
    if (isOneOfFirst) group.shown++
    else group.shownFailed++
    return true
  }

  #skip(count: number, failed: number): ConsoleLine[] {
    this.#skipped = { count: this.#skipped.count + count, failed: this.#skipped.failed + failed }
    return []
  }

  #skippedLines(): ConsoleLine[] {
    const { count, failed } = this.#skipped
    if (count === 0 || !this.#budget.take()) return []
    this.#skipped = { count: 0, failed: 0 }
    return [moreLine(count, failed, '')]
  }

  #waitingLines({ blocksBy, pending }: DevnetNow): ConsoleLine[] {
    const dueMs = this.#options.nowMs() - WAITING_MS
    const due: PendingEvent[] = []
    for (const [key, { event, sinceMs }] of this.#waiting) {
      if (sinceMs > dueMs) break
      this.#waiting.delete(key)
      due.push(event)
    }
    const lines = due.slice(0, MAX_WAITING_LINES).map((event) => waitingLine(event, WAITING_MS / 1000, blocksBy))
    if (due.length === lines.length) return lines
    return [...lines, { label: '...', style: 'dim', text: `${countText(pending, 'transaction')} are pending in all` }]
  }

  #orderLines(now: DevnetNow): ConsoleLine[] {
    const { count, first } = this.#ordered
    if (first === null) return []
    this.#ordered = { count: 0, first: null }
    return count === 1 ? linesOf(first) : [emptyLine(`${countText(count, 'block')} by order`, now)]
  }

  #summaryLines(now: DevnetNow): ConsoleLine[] {
    const { isLive, nowMs } = this.#options
    const tookMs = nowMs() - this.#summaryMs
    if (isLive || tookMs < SUMMARY_MS) return []
    const count = this.#automatic
    this.#automatic = 0
    this.#summaryMs = nowMs()
    return count === 0 ? [] : [emptyLine(`${countText(count, 'block')} in ${formatDuration(tookMs)}`, now)]
  }
}

/** Whether the other branch has the transaction too. The next line reports that. */
const isSilent = (event: PlacedEvent) => event.step === 'undone' && event.wentTo === 'chain'

function emptyLine(blocks: string, now: DevnetNow): ConsoleLine {
  return { label: 'empty', style: 'dim', text: `${blocks}  ${heightsText(now)}` }
}

/** `height 12`, or `heights 12 to 13` of several chains. */
export function heightsText({ lowest, highest }: Pick<DevnetNow, 'lowest' | 'highest'>): string {
  return lowest === highest ? `height ${lowest}` : `heights ${lowest} to ${highest}`
}

function moreLine(count: number, failed: number, place: string): ConsoleLine {
  const failures = failed === 0 ? '' : `, ${failed} of them failed`
  return { label: '...', style: 'dim', text: `and ${countText(count, 'more transaction')}${place}${failures}` }
}

const placeOf = (event: PlacedEvent) =>
  event.step === 'refused' ? ' of this request' : ` of chain ${event.chain} at height ${event.height}`
