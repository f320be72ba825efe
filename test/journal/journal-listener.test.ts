/** Events of a miner in its journal: each one is there for the next start. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Disk, systemDisk } from '../../src/mining/journal/disk.ts'
import { Journal } from '../../src/mining/journal/journal.ts'
import { journalListener } from '../../src/mining/journal/journal-listener.ts'
import type { MinerEvent, SolutionEvent } from '../../src/mining/mine/events.ts'
import { readRecords } from './records.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const hash = 'h'.repeat(43)
const NOW_MS = Date.parse('2026-11-22T10:00:00.123Z')
const place = { issuer: 'http://node.test', chain: 3, height: 7, device: 'thread0', effort: 0.5 }
const FOUND = { step: 'found', difficulty: 1000, work: 'A'.repeat(382), ...place }

const solution = (step: object) => ({ type: 'solution', hash, ...place, ...step }) as SolutionEvent
const reward = (amounts: object) => ({ type: 'reward', hash, chain: 3, height: 7, ...amounts }) as MinerEvent

/** A disk that skips fsync, so no write is pending when a test removes its folder. */
const unsynced: Disk = { ...systemDisk, open: (path) => ({ ...systemDisk.open(path), sync: (done) => done(null) }) }

/** The record of a solution after these events. */
async function recordAfter(...events: readonly MinerEvent[]) {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-keeper-'))
  folders.push(folder)
  const unexpected = (message: string) => expect.unreachable(message)
  const journal = Journal.open(folder, { onTrouble: unexpected, onRecovered: unexpected }, unsynced)
  const keep = journalListener({ journal, network: 'testing', account: 'k:me', nowMs: () => NOW_MS })
  for (const event of [solution(FOUND), ...events]) keep(event)
  const { records, damaged } = await readRecords(folder)
  expect(records.size).toBe(1)
  expect(damaged).toBe(0)
  return records.get(hash)
}

it('the journal keeps all of a solution that a start needs to submit it', async () => {
  const { step, ...found } = FOUND
  const foundAt = '2026-11-22T10:00:00.123Z'
  const origin = { network: 'testing', account: 'k:me' }
  expect(await recordAfter()).toMatchObject({ ...found, ...origin, hash, foundAt, state: step })
})

const long = 'x'.repeat(5_000)
it.each([
  { step: 'handed-in' },
  { step: 'acknowledged' },
  { step: 'credited' },
  { step: 'confirmed', depth: 4 },
  { step: 'unconfirmed', message: 'the node does not answer' },
  { step: 'stale' },
  { step: 'stale', mayReturn: true },
  { step: 'orphaned', mayReturn: false },
  { step: 'orphaned', mayReturn: true },
  { step: 'rejected', reason: 'duplicate', message: '404' },
  { step: 'lost', reason: 'stopped', message: 'the miner stopped' },
  { step: 'lost', reason: 'unreachable', message: 'no answer', mayReturn: true },
])('the journal keeps a step with its fields: %o', async ({ step, ...told }) => {
  const nothing = { depth: null, mayReturn: false, reason: null, message: null, reward: null, fees: null }
  expect(await recordAfter(solution({ step, ...told }))).toMatchObject({ state: step, ...nothing, ...told })
})

it.each(['unconfirmed', 'rejected', 'lost'])(
  'the journal keeps a step however long its message is: %s',
  async (step) => {
    const event = solution({ step, reason: 'unknown', message: long })
    expect(await recordAfter(event)).toMatchObject({ state: step, message: long.slice(0, 1_000) })
  },
)

it('the journal keeps a reward with its fees, if they are known', async () => {
  const confirmed = solution({ step: 'confirmed', depth: 1 })
  const [known, unknown] = [{ amount: '2.3', fees: '0.001' }, { amount: '2.3' }]
  expect(await recordAfter(confirmed, reward(known))).toMatchObject({ reward: '2.3', fees: '0.001' })
  expect(await recordAfter(confirmed, reward(unknown))).toMatchObject({ reward: '2.3', fees: null })
})

it('other events leave no line', async () => {
  expect(await recordAfter({ type: 'idle' }, { type: 'notice', message: 'hello' })).toMatchObject({ state: 'found' })
})
