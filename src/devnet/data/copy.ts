/** Writes chains to a new block database: the beginning of a network on disk, or a backup. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NetworkSettings } from '../rules/settings.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import { openDatabase, type StoredEntry } from './database.ts'
import {
  blockEntry,
  exemptionEntry,
  networkEntry,
  payloadEntry,
  rulesEntry,
  type StateSnapshot,
  tipEntry,
} from './records.ts'

/** Blocks that are written before other tasks of the process get their turn. */
const BLOCKS_PER_BATCH = 250

interface CopyOptions {
  readonly stopped?: AbortSignal
  /** Default: none. */
  readonly exemptions?: ReadonlyExemptions | undefined
}

/**
 * Creates a block database at `location`, which must not exist. Writes the identifying record last, so that an
 * interrupted copy does not open.
 * @throws NewcutError DATA_UNUSABLE, the reason of `stopped`, or the error of a read or write
 */
export async function writeCopy(
  location: string,
  settings: NetworkSettings,
  snapshot: StateSnapshot,
  { stopped, exemptions }: CopyOptions = {},
): Promise<void> {
  const database = await openDatabase(location, { create: true })
  try {
    for await (const { entries, isLast } of snapshotPieces(settings, snapshot, exemptions)) {
      stopped?.throwIfAborted()
      await database.batch(entries, { sync: isLast })
    }
  } finally {
    await database.close()
  }
}

/** All records of a block database, in pieces. The identifying record is the last one. */
export async function* copyPieces(
  settings: NetworkSettings,
  snapshot: StateSnapshot,
  exemptions: ReadonlyExemptions | undefined,
): AsyncGenerator<StoredEntry[]> {
  for await (const { entries } of snapshotPieces(settings, snapshot, exemptions)) yield entries
}

async function* snapshotPieces(
  settings: NetworkSettings,
  snapshot: StateSnapshot,
  exemptions: ReadonlyExemptions | undefined,
): AsyncGenerator<{ readonly entries: StoredEntry[]; readonly isLast: boolean }> {
  for (let from = 0; from < snapshot.blocks; from += BLOCKS_PER_BATCH) {
    const to = Math.min(from + BLOCKS_PER_BATCH, snapshot.blocks)
    yield { entries: blockEntries(snapshot, from, to), isLast: false }
    await nextTurn()
  }
  const entries = [
    ...(exemptions?.since(0) ?? []).map(exemptionEntry),
    rulesEntry(snapshot.ruleChanges),
    tipEntry(snapshot),
    networkEntry(settings),
  ]
  yield { entries, isLast: true }
}

/** Headers and payloads of the blocks number `from` (included) to `to` (excluded). */
function blockEntries({ store }: Pick<StateSnapshot, 'store'>, from: number, to: number): StoredEntry[] {
  const entries: StoredEntry[] = []
  for (let number = from; number < to; number++) {
    const block = store.at(number)
    entries.push(blockEntry(number, block.bytes), payloadEntry(block.payload))
  }
  return entries
}
