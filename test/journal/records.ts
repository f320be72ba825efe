/** All records of a small journal, by newcut's reader and by a simple one to compare it with. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mayContinue } from '../../src/ground/chain/solution.ts'
import { type ReadingOptions, readJournal } from '../../src/mining/journal/content.ts'
import { applyLine, type BlockRecord, type JournalLine, parseLine } from '../../src/mining/journal/record.ts'

export interface AllRecords {
  /** By hash, oldest first. */
  readonly records: ReadonlyMap<string, BlockRecord>
  readonly damaged: number
}

export async function readRecords(folder: string, reading: ReadingOptions = {}): Promise<AllRecords> {
  const { table, records, damaged } = await readJournal(folder, reading)
  const all = [...records(Array.from({ length: table.rows }, (_, row) => row))]
  return { records: new Map(all.map((record) => [record.hash, record])), damaged }
}

/** True if later steps may follow. `confirmations`: depth at which a confirmed solution is final. */
export const isUnfinished = ({ state, ...told }: BlockRecord, confirmations: number): boolean =>
  mayContinue({ step: state, ...told }, confirmations)

/** Parses each line and keeps each record. */
export function simplyReadRecords(folder: string): AllRecords {
  const records = new Map<string, BlockRecord>()
  const early: JournalLine[] = []
  let damaged = 0
  const take = (line: JournalLine) => {
    const record = applyLine(records.get(line.hash), line)
    if (record !== null) records.set(record.hash, record)
    return record !== null
  }
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  for (const name of names.toSorted()) {
    for (const text of readFileSync(join(folder, name), 'latin1').split(/\r?\n/)) {
      if (text === '') continue
      const line = parseLine(Buffer.from(text, 'latin1'))
      if (line === null) damaged++
      else if (!take(line)) early.push(line)
    }
  }
  for (const line of early) if (!take(line)) damaged++
  return { records, damaged }
}
