/** Tallies of the share log reveal missing records, even if LevelDB finds no fault in its files. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, it, onTestFinished } from 'vitest'
import { LevelStore, type LevelStoreOptions } from '../../src/mining/accounts/level-store.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { listOf, START_MS, shareOf, temporaryFolder } from './shares.ts'

const open = async (folder: string, options: Partial<LevelStoreOptions> = {}) => {
  const store = await LevelStore.open({ folder, network: 'net', clock: new VirtualClock(), ...options })
  onTestFinished(() => store.close())
  return store
}

/** A folder with these shares, a record for each. */
async function writeShares(shares: readonly ShareEntry[]): Promise<string> {
  const folder = temporaryFolder()
  const store = await open(folder)
  for (const share of shares) await store.append([share])
  await store.close()
  return folder
}

const keyOf = ({ timeMs, id }: ShareEntry) => `s/${String(timeMs).padStart(15, '0')}/${id}`

const tallyKeyOf = ({ timeMs }: ShareEntry) => `t/${String(timeMs).padStart(15, '0')}`

async function changeDatabase(folder: string, change: (database: ClassicLevel) => Promise<unknown>): Promise<void> {
  const database = new ClassicLevel(folder)
  await change(database)
  await database.close()
}

const idsOf = async (store: LevelStore, range = {}) => (await listOf(store.shares(range))).map(({ id }) => id)

/** Shares a second apart: ten in each tally. */
const shares = Array.from({ length: 30 }, (_, i) => shareOf(i, { timeMs: START_MS + 1000 * i }))
const ids = shares.map(({ id }) => id)

it('reading the ten seconds of a missing record fails in either order, and reading others succeeds', async () => {
  const folder = await writeShares(shares)
  await changeDatabase(folder, (database) => database.del(keyOf(shares[14])))
  const damage = {
    code: 'DATA_UNUSABLE',
    message: `${folder}: the share log is damaged: 1 of 10 records of the ten seconds from 2025-11-24T16:00:10.000Z are missing`,
  }
  // A start reads the newest shares, by default all of this small log.
  await expect(open(folder)).rejects.toMatchObject(damage)
  const store = await open(folder, { recentShares: 1 })
  const seconds = (from: number, until: number) => ({
    fromMs: START_MS + 1000 * from,
    untilMs: START_MS + 1000 * until,
  })
  for (const range of [seconds(16, 25), seconds(5, 13), { ...seconds(16, 25), newestFirst: true }]) {
    await expect(idsOf(store, range)).rejects.toMatchObject(damage)
  }
  expect(await idsOf(store, seconds(0, 10))).toEqual(ids.slice(0, 10))
  expect(await idsOf(store, { ...seconds(20, 30), newestFirst: true })).toEqual(ids.slice(20).reverse())
})

it('a range that begins or ends within ten seconds still returns its shares', async () => {
  const folder = await writeShares(shares)
  const store = await open(folder)
  const inside = (fromMs: number, untilMs: number) => ({ fromMs: START_MS + fromMs, untilMs: START_MS + untilMs })
  expect(await idsOf(store, inside(9000, 13_000))).toEqual(ids.slice(9, 13))
  expect(await idsOf(store, { ...inside(8500, 12_500), newestFirst: true })).toEqual(ids.slice(9, 13).reverse())
  expect(await idsOf(store, inside(10_000, 20_000))).toEqual(ids.slice(10, 20))
})

it('a record whose time was changed is an error', async () => {
  const folder = await writeShares(shares)
  await changeDatabase(folder, async (database) => {
    const value = await database.get(keyOf(shares[5]))
    const other = keyOf({ ...shares[5], timeMs: shares[5].timeMs + 1 })
    await database.batch([
      { type: 'del', key: keyOf(shares[5]) },
      { type: 'put', key: other, value: value ?? '' },
    ])
  })
  await expect(open(folder)).rejects.toMatchObject({
    message: expect.stringContaining('the records of the ten seconds from 2025-11-24T16:00:00.000Z are not those that'),
  })
})

it('a damaged tally is an error, and so is the loss of all records of ten seconds', async () => {
  const folder = await writeShares(shares)
  const tally = tallyKeyOf(shares[20])
  await changeDatabase(folder, (database) => database.clear({ gte: keyOf(shares[20]), lt: 's/9' }))
  await expect(open(folder)).rejects.toMatchObject({
    message: expect.stringContaining('10 of 10 records of the ten seconds from 2025-11-24T16:00:20.000Z are missing'),
  })
  await changeDatabase(folder, (database) => database.put(tally, '0 [10,1]'))
  await expect(open(folder)).rejects.toMatchObject({
    message: expect.stringContaining('the tally of the ten seconds from 2025-11-24T16:00:20.000Z has a wrong checksum'),
  })
})

it('a missing tally is an error, and so is the loss of all records or of the record m/tallied-since', async () => {
  const folder = await writeShares(shares)
  await changeDatabase(folder, (database) => database.clear({ gte: 's/', lt: 's0' }))
  await expect(open(folder)).rejects.toMatchObject({ message: expect.stringContaining('10 of 10 records of the ten') })
  const other = await writeShares(shares)
  await changeDatabase(other, (database) => database.del(tallyKeyOf(shares[10])))
  const message = 'the tally of the ten seconds from 2025-11-24T16:00:10.000Z is missing'
  await expect(open(other)).rejects.toMatchObject({ message: expect.stringContaining(message) })
  await changeDatabase(other, (database) => database.del('m/tallied-since'))
  await expect(open(other)).rejects.toMatchObject({ message: expect.stringContaining('the record m/tallied-since') })
})

it('late shares, shares with equal times, and shares appended again much later count once', async () => {
  const folder = temporaryFolder()
  const first = await open(folder)
  const late = shareOf(500, { timeMs: START_MS + 3 })
  await first.append([shares[0], shares[1], shares[25]])
  await first.append([late, shareOf(501, { timeMs: late.timeMs }), shares[26]])
  await first.append([shareOf(502, { timeMs: late.timeMs })])
  for (let i = 0; i < 12; i++) await first.append([shareOf(1000 + i, { timeMs: START_MS + 60_000 })])
  await first.close()
  const store = await open(folder, { recentShares: 10 })
  expect(store.has(shares[0].id)).toBe(false)
  await store.append([shares[0], shares[1], late, shareOf(503, { timeMs: late.timeMs })])
  const before = { untilMs: START_MS + 50_000 }
  const expected = [shares[0], late, shareOf(501), shareOf(502), shareOf(503), shares[1], shares[25], shares[26]]
  expect(await idsOf(store, before)).toEqual(expected.map(({ id }) => id))
  await store.close()
  expect(await idsOf(await open(folder), before)).toHaveLength(8)
})

it('a late share that has expired is dropped, and a tally expires as a whole', async () => {
  const clock = new VirtualClock()
  const startMs = 10_000 * Math.floor(clock.wallMs() / 10_000)
  const store = await open(temporaryFolder(), { clock, keepMs: 695_000 })
  await store.append([0, 1, 10_000, 19_999].map((ms, i) => shareOf(i, { timeMs: startMs + ms })))
  // The next turn drops what is older than the ten seconds that are expiring.
  await clock.pass(600_000)
  await clock.pass(startMs + 705_000 - clock.wallMs())
  await store.append([shareOf(4, { timeMs: startMs + 2 }), shareOf(5, { timeMs: startMs + 10_001 })])
  const left = [shareOf(2), shareOf(5), shareOf(3)].map(({ id }) => id)
  expect((await idsOf(store)).slice(-3)).toEqual(left)
  await clock.pass(600_000 - 105_000)
  expect(await idsOf(store)).not.toContain(shareOf(4).id)
})

it('the records of an earlier version are tallied once a share is added to their ten seconds', async () => {
  const folder = await writeShares(shares.slice(0, 5))
  await changeDatabase(folder, async (database) => {
    await database.batch(['m/tallied-since', tallyKeyOf(shares[0])].map((key) => ({ type: 'del', key })))
    await database.put('m/format', '1')
  })
  const store = await open(folder)
  expect(await idsOf(store)).toEqual(ids.slice(0, 5))
  await store.append([shares[5]])
  expect(await idsOf(store)).toEqual(ids.slice(0, 6))
  await store.close()
  await changeDatabase(folder, async (database) => {
    // An earlier version does not open it any more: it takes tallies for damaged records.
    expect(await database.get('m/format')).toBe('2')
    await database.del(keyOf(shares[2]))
  })
  await expect(open(folder)).rejects.toMatchObject({ message: expect.stringContaining('1 of 6 records') })
})

it('one warning reports the records that LevelDB has dropped, and the others can be read', async () => {
  // LevelDB drops blocks of 32 KiB.
  const many = Array.from({ length: 400 }, (_, i) => shareOf(i, { timeMs: START_MS + 10 * i }))
  const folder = await writeShares(many)
  const log = join(folder, readdirSync(folder).find((name) => name.endsWith('.log')) ?? '')
  const bytes = readFileSync(log)
  bytes[40_000] ^= 4
  writeFileSync(log, bytes)
  const warnings: string[] = []
  const store = await open(folder, { onWarning: (message) => warnings.push(message) })
  expect(warnings).toEqual([expect.stringContaining('the share log has lost shares')])
  const left = await idsOf(store)
  expect(left.length).toBeGreaterThan(100)
  expect(left.length).toBeLessThan(400)
  await store.append([shareOf(400, { timeMs: START_MS + 4000 })])
  expect(await idsOf(store)).toHaveLength(left.length + 1)
})
