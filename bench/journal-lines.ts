/** Writes a journal of many solutions, as a miner would have: six lines each, over half a year. */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sealJournalLine } from '../src/mining/journal/line-seal.ts'

const MONTHS = ['2026-06', '2026-07', '2026-08', '2026-09', '2026-10', '2026-11']
const WORK_BYTES = 286
/** Solutions between two writes. */
const BATCH = 1000

export function writeJournal(folder: string, solutions: number): void {
  const each = Math.ceil(solutions / MONTHS.length)
  for (const [index, month] of MONTHS.entries()) {
    const file = openSync(join(folder, `blocks-${month}.jsonl`), 'w')
    const end = Math.min(solutions, (index + 1) * each)
    for (let from = index * each; from < end; from += BATCH) {
      const count = Math.min(BATCH, end - from)
      writeSync(file, Buffer.concat(Array.from({ length: count }, (_, i) => linesOf(from + i, month)).flat()))
    }
    closeSync(file)
  }
}

function linesOf(number: number, month: string): Uint8Array[] {
  const bytes = randomBytes(WORK_BYTES + 32)
  const named = { at: `${month}-22T10:00:00.000Z`, hash: bytes.toString('base64url', WORK_BYTES) }
  const origin = { network: 'mainnet01', account: `k:${'0'.repeat(64)}`, issuer: 'http://127.0.0.1:1848' }
  const where = { chain: number % 20, height: 5_000_000 + number, device: 'thread0' }
  const steps = [
    {
      step: 'found',
      ...origin,
      ...where,
      effort: 1.5,
      difficulty: 1e9,
      work: bytes.toString('base64url', 0, WORK_BYTES),
    },
    { step: 'handed-in' },
    { step: 'acknowledged' },
    { step: 'confirmed', depth: 1 },
    { step: 'reward', amount: `1.${1_000_000 + number}`, fees: `0.000${number % 1000}` },
    { step: 'confirmed', depth: 6 },
  ]
  return steps.map((step) => sealJournalLine(JSON.stringify({ ...named, ...step })))
}
