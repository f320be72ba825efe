/** The earlier runs in a journal: few solutions, however long it is, and sums of all others. */
import { exactOf, exactText } from '#ground/base/coins.ts'
import { isLostVerdict, verdictOf } from '#ground/chain/solution.ts'
import type { OwnBlock, OwnBlockSums } from '../mine/earnings.ts'
import { CoinTotal } from './coin-total.ts'
import { type JournalContent, type ReadingOptions, readJournal } from './content.ts'
import type { BlockRecord } from './record.ts'
import { AMOUNT_IN_LINE, NO_AMOUNT, type RecordTable } from './record-table.ts'

export interface PreviousRuns {
  /** Solutions whose verdict may change, oldest first; the newest of them if there are too many. */
  readonly unfinished: readonly BlockRecord[]
  /** Number of older unfinished solutions, left to later starts. */
  readonly left: number
  /** The newest solutions, oldest first. */
  readonly recent: readonly BlockRecord[]
  /** The unfinished and the newest solutions, for sums that may still change; oldest first. */
  readonly tracked: readonly OwnBlock[]
  /** Sums of all solutions that are not `tracked`. */
  readonly untracked: OwnBlockSums
  /** Unreadable lines of the journal. */
  readonly damaged: number
}

export interface EarlierOptions extends Omit<ReadingOptions, 'usesIndex'> {
  /** Solutions for other networks are ignored. */
  readonly network: string
  /** Depth at which a confirmed solution is final. */
  readonly confirmations: number
  /** Hashes that are not of earlier runs. */
  readonly except?: ReadonlySet<string> | null
  /** Number of the newest solutions in `tracked`. Tests lower it. */
  readonly maxTracked?: number
}

/** Maximum number of solutions of earlier runs that a start settles, newest first: each asks the node for its block. */
const MAX_UNFINISHED = 500
/** Maximum number of solutions of earlier runs on the dashboard, which is to load fast. */
const MAX_RECENT = 60

/** Half of the solutions that sums of earnings can change (mine/earnings.ts); the others are of this run. */
const MAX_TRACKED = 5_000

export const noEarlierRuns: PreviousRuns = {
  unfinished: [],
  left: 0,
  recent: [],
  tracked: [],
  damaged: 0,
  untracked: { paid: { blocks: 0, rewards: 0n, fees: 0n }, unknown: 0, lost: 0 },
}

/**
 * Reads the journal of a folder. If its index does not fit, it reads all of the journal.
 * @throws NewcutError BAD_INPUT
 */
export async function readEarlierRuns(folder: string, options: EarlierOptions): Promise<PreviousRuns> {
  const content = await readJournal(folder, options)
  if (!content.isIndexed) return runsIn(content, options)
  try {
    return runsIn(content, options)
  } catch {
    // A file was changed in place since. If it is really damaged, this throws again.
    return runsIn(await readJournal(folder, { ...options, usesIndex: false }), options)
  }
}

function runsIn(content: JournalContent, options: EarlierOptions): PreviousRuns {
  const { table, damaged, records } = content
  const { network, confirmations, except = null, maxTracked = MAX_TRACKED } = options
  const excepted = new Set(except === null ? [] : [...except].map((hash) => table.rowOf(hash)))
  const unfinished: number[] = []
  const recent: number[] = []
  const tracked: number[] = []
  const others = new UntrackedTotals(table)
  let left = 0
  for (let row = table.rows - 1; row >= 0; row--) {
    if (table.networkOf(row) !== network) continue
    if (recent.length < MAX_RECENT) recent.push(row)
    if (excepted.has(row)) continue
    const mayChange = table.isUnfinished(row, confirmations)
    const isTaken = mayChange && unfinished.length < MAX_UNFINISHED
    if (isTaken) unfinished.push(row)
    else if (mayChange) left++
    if (isTaken || tracked.length < maxTracked) tracked.push(row)
    else others.add(row)
  }
  const oldestFirst = (rows: number[]) => [...records(rows.toReversed())]
  return {
    unfinished: oldestFirst(unfinished),
    left,
    recent: oldestFirst(recent),
    damaged,
    tracked: tracked.toReversed().map((row) => ownBlock(content, row)),
    untracked: others.sums(records),
  }
}

/** Reads a solution from its row, or from the disk if an amount is only there. */
function ownBlock({ table, records }: JournalContent, row: number): OwnBlock {
  const reward = table.rewardOf(row)
  const fees = table.feesOf(row)
  const textOf = (units: number) => (units === NO_AMOUNT ? null : exactText(exactOf(BigInt(units))))
  if (reward !== AMOUNT_IN_LINE && fees !== AMOUNT_IN_LINE) {
    return { hash: table.hashOf(row), state: table.stateOf(row), reward: textOf(reward), fees: textOf(fees) }
  }
  const [{ hash, state, ...amounts }] = [...records([row])]
  return { hash, state, reward: amounts.reward, fees: amounts.fees }
}

class UntrackedTotals {
  readonly #table: RecordTable
  readonly #paid = new CoinTotal()
  #unknown = 0
  #lost = 0

  constructor(table: RecordTable) {
    this.#table = table
  }

  add(row: number): void {
    const verdict = verdictOf(this.#table.stateOf(row))
    if (isLostVerdict(verdict)) this.#lost++
    if (verdict !== 'accepted') return
    if (this.#table.rewardOf(row) === NO_AMOUNT) this.#unknown++
    else this.#paid.add(this.#table, row)
  }

  sums(records: JournalContent['records']): OwnBlockSums {
    const paid = { blocks: this.#paid.blocks, ...this.#paid.coins(records) }
    return { paid, unknown: this.#unknown, lost: this.#lost }
  }
}
