/** Solutions of earlier runs that a start needs: few, however long the journal is. */
import { type JournalContent, type JournalReading, readJournal } from './content.ts'
import type { BlockRecord } from './record.ts'

export interface EarlierRuns {
  /** Solutions whose verdict may change, oldest first; the newest of them if there are too many. */
  readonly unfinished: readonly BlockRecord[]
  /** Number of older unfinished solutions, left to later starts. */
  readonly left: number
  /** The newest solutions, oldest first. */
  readonly recent: readonly BlockRecord[]
  /** Unreadable lines of the journal. */
  readonly damaged: number
}

export interface EarlierOptions extends Omit<JournalReading, 'usesIndex'> {
  /** Solutions for other networks are ignored. */
  readonly network: string
  /** Depth at which a confirmed solution is final. */
  readonly confirmations: number
  /** Hashes that are not of earlier runs. */
  readonly except?: ReadonlySet<string> | null
}

/** Limit of the solutions of earlier runs that a start settles, newest first. */
const MAX_UNFINISHED = 500
/** Limit of the solutions of earlier runs on the dashboard. */
const MAX_RECENT = 60

export const noEarlierRuns: EarlierRuns = { unfinished: [], left: 0, recent: [], damaged: 0 }

/**
 * Reads the journal of a folder. If its index does not fit, it reads all of the journal.
 * @throws NewcutError BAD_INPUT
 */
export async function earlierRuns(folder: string, options: EarlierOptions): Promise<EarlierRuns> {
  const content = await readJournal(folder, options)
  if (!content.isIndexed) return runsIn(content, options)
  try {
    return runsIn(content, options)
  } catch {
    // A file was changed in place since. If it is really damaged, this throws again.
    return runsIn(await readJournal(folder, { ...options, usesIndex: false }), options)
  }
}

function runsIn({ table, damaged, records }: JournalContent, options: EarlierOptions): EarlierRuns {
  const { network, confirmations, except = null } = options
  const unfinished: number[] = []
  const recent: number[] = []
  let left = 0
  for (let row = table.rows - 1; row >= 0; row--) {
    if (table.networkOf(row) !== network) continue
    if (recent.length < MAX_RECENT) recent.push(row)
    if (!table.isUnfinished(row, confirmations) || except?.has(table.hashOf(row))) continue
    if (unfinished.length < MAX_UNFINISHED) unfinished.push(row)
    else left++
  }
  const oldestFirst = (rows: number[]) => [...records(rows.toReversed())]
  return { unfinished: oldestFirst(unfinished), left, recent: oldestFirst(recent), damaged }
}
