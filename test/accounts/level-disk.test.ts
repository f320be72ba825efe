/** The share log on a disk whose writes fail, late or again and again. */
import { expect, it, onTestFinished } from 'vitest'
import { LevelStore } from '../../src/mining/accounts/level-store.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { FullDisk } from './full-disk.ts'
import { listOf, shareOf, temporaryFolder } from './shares.ts'

const DAY_MS = 86_400_000

async function opened(keepMs = 10_000 * DAY_MS) {
  const [clock, disk] = [new VirtualClock(), new FullDisk()]
  const options = { folder: temporaryFolder(), network: 'net', clock, keepMs, open: disk.open }
  const store = await LevelStore.open(options)
  onTestFinished(() => store.close())
  const ids = async () => (await listOf(store.shares())).map(({ id }) => id)
  return { store, clock, disk, options, ids }
}

const idsOf = (...numbers: readonly number[]) => numbers.map((number) => shareOf(number).id)

it('a database that was opened again stays open if a write to the one before fails late', async () => {
  const { store, clock, disk, ids } = await opened()
  const held: (() => void)[] = []
  disk.held = held
  const saved = store.save({ changed: [], dropped: [], throughMs: 1, savedMs: 1 }).catch((error: unknown) => error)
  await expect.poll(() => held.length).toBe(1)
  const appended = store.append([shareOf(1)]).catch((error: unknown) => error)
  await expect.poll(() => held.length).toBe(2)
  disk.held = null
  held[1]()
  expect(await appended).toMatchObject({ code: 'DATA_UNUSABLE' })
  await clock.pass(1_000)
  await store.append([shareOf(3)])
  held[0]()
  expect(await saved).toMatchObject({ code: 'DATA_UNUSABLE' })
  await store.append([shareOf(4)])
  expect(await ids()).toEqual(idsOf(3, 4))
})

it('a database is not opened again before it has closed', async () => {
  const { store, clock, disk, ids } = await opened()
  const release = disk.holdClosing()
  disk.isFull = true
  await expect(store.append([shareOf(1)])).rejects.toThrow(/ENOSPC/)
  disk.isFull = false
  await clock.pass(1_000)
  const appended = store.append([shareOf(2)])
  await settle()
  expect(disk.opens).toBe(1)
  release()
  await appended
  expect(disk.opens).toBe(2)
  expect(await ids()).toEqual(idsOf(2))
})

it('a database that fails again while it is opened is closed again', async () => {
  const { store, clock, disk, ids } = await opened()
  Object.assign(disk, { isFull: true, opensFull: true })
  await expect(store.append([shareOf(1)])).rejects.toThrow(/ENOSPC/)
  await clock.pass(1_000)
  await expect(store.append([shareOf(2)])).rejects.toThrow(/ENOSPC/)
  disk.isFull = false
  await clock.pass(1_000)
  await store.append([shareOf(3)])
  expect(await ids()).toEqual(idsOf(3))
})

it('a failed sync is a failed write: shares are refused until the database is open again', async () => {
  const { store, clock, disk, ids } = await opened()
  await store.append([shareOf(1)])
  disk.isFull = true
  await clock.pass(1_000)
  await disk.idle()
  expect(disk.synced).toHaveLength(1)
  disk.isFull = false
  await expect(store.append([shareOf(2)])).rejects.toThrow(/ENOSPC/)
  await clock.pass(1_000)
  await store.append([shareOf(3)])
  expect(await ids()).toEqual(idsOf(1, 3))
})

it('expired shares that could not be dropped are dropped ten minutes later', async () => {
  const { store, clock, disk, ids } = await opened(DAY_MS)
  await store.append([shareOf(1, { timeMs: clock.wallMs() - DAY_MS + 300_000 })])
  await clock.pass(1_000)
  await disk.idle()
  disk.isFull = true
  await clock.pass(600_000)
  await disk.idle()
  disk.isFull = false
  await clock.pass(600_000)
  await disk.idle()
  expect(await ids()).toEqual([])
})

it('a store that closes after a failed write stays closed, and lets its database go', async () => {
  const { store, clock, disk, options } = await opened()
  const release = disk.holdClosing()
  disk.isFull = true
  await expect(store.append([shareOf(1)])).rejects.toThrow(/ENOSPC/)
  let isClosed = false
  const closed = store.close().then(() => {
    isClosed = true
  })
  await settle()
  expect(isClosed).toBe(false)
  release()
  await closed
  disk.isFull = false
  await clock.pass(1_000)
  await expect(store.append([shareOf(2)])).rejects.toThrow(/the share log is closed/)
  await (await LevelStore.open(options)).close()
})
