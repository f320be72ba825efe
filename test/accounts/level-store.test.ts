/** The share log in LevelDB. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WorkerAccount } from '../../src/mining/accounts/account.ts'
import { openShareDatabase } from '../../src/mining/accounts/level-database.ts'
import { KEEP_MS, LevelStore, type LevelStoreOptions } from '../../src/mining/accounts/level-store.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { keepsShares } from './conformance.ts'
import { FullDisk } from './full-disk.ts'
import { listOf, START_MS, shareOf, temporaryFolder } from './shares.ts'

const opened = async (options: Partial<LevelStoreOptions> = {}) => {
  const clock = new VirtualClock()
  const whole = { folder: temporaryFolder(), network: 'net', clock, keepMs: 100 * KEEP_MS, ...options }
  const store = await LevelStore.open(whole)
  onTestFinished(() => store.close())
  return { store, clock, options: whole }
}

keepsShares('LevelStore', async () => {
  const { store, options } = await opened()
  const reopen = async () => {
    await store.close()
    const again = await LevelStore.open(options)
    onTestFinished(() => again.close())
    return again
  }
  return { store, reopen }
})

describe('share log', () => {
  it('a share log belongs to one miner at a time', async () => {
    const { options } = await opened()
    await expect(LevelStore.open(options)).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: `${options.folder}: another miner uses this share log`,
      hint: expect.stringContaining('`state'),
    })
  })

  it('a share log belongs to one network', async () => {
    const { store, options } = await opened()
    await store.close()
    await expect(LevelStore.open({ ...options, network: 'other' })).rejects.toMatchObject({
      message: `${options.folder}: the share log is of the network net, not of other`,
    })
    // The failed open has released its lock.
    await (await LevelStore.open(options)).close()
  })

  it('newcut does not touch a share log of another format', async () => {
    const { store, options } = await opened()
    await store.close()
    const database = await openShareDatabase(options.folder)
    await database.put('m/format', '3')
    await database.close()
    await expect(LevelStore.open(options)).rejects.toMatchObject({
      message: `${options.folder}: the share log has the format 3, and this newcut knows 1 and 2`,
    })
  })

  it('the share log reports a folder that it cannot open', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    await expect(opened({ folder: join(folder, 'file', 'shares') })).rejects.toMatchObject({ code: 'DATA_UNUSABLE' })
  })

  it('the share log warns if LevelDB has dropped shares as damaged, for as long as it would have kept them', async () => {
    const { store, clock, options } = await opened()
    for (const number of [1, 2, 3]) await store.append([shareOf(number, { timeMs: clock.wallMs() + number })])
    await store.close()
    const log = readdirSync(options.folder).find((name) => name.endsWith('.log')) ?? ''
    const bytes = readFileSync(join(options.folder, log))
    bytes[bytes.length - 100] ^= 4
    writeFileSync(join(options.folder, log), bytes)
    const open = async () => {
      const told: string[] = []
      const again = await LevelStore.open({ ...options, onWarning: (message) => told.push(message) })
      await again.close()
      return told
    }
    const lost =
      /the share log has lost shares: \d+ bytes were damaged \(checksum mismatch\), and are lost since 2023-11-14T/
    for (const start of [1, 2]) expect(await open(), `start ${start}`).toEqual([expect.stringMatching(lost)])
    await clock.pass(options.keepMs + 1)
    for (const start of [3, 4]) expect(await open(), `start ${start}`).toEqual([])
  })

  it('a share log is damaged if LevelDB says so of its files, and the error says what to do', async () => {
    const { store, options } = await opened()
    await store.close()
    writeFileSync(join(options.folder, 'CURRENT'), 'garbage')
    await expect(LevelStore.open(options)).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringMatching(/: the share log is damaged: Corruption: CURRENT file/),
      hint: expect.stringContaining('restore a copy of the folder'),
    })
  })

  it('the share log adds nothing to a damaged count', async () => {
    const { store, options } = await opened()
    const count = { minuteMs: START_MS, user: 'k:abc', worker: '', verdict: 'low', count: 1 } as const
    await store.refuse([count])
    await store.close()
    const database = new ClassicLevel(options.folder)
    const [[key, value]] = await database.iterator({ gte: 'r/', lt: 'r0' }).all()
    await database.put(key, `${value}0`)
    await database.close()
    const again = await LevelStore.open(options)
    onTestFinished(() => again.close())
    const message = `${options.folder}: the share log is damaged: the record ${key} has a wrong checksum`
    await expect(again.refuse([count])).rejects.toMatchObject({ code: 'DATA_UNUSABLE', message })
  })

  it('the share log refuses a damaged record', async () => {
    const { store, options } = await opened()
    await store.append([shareOf(1)])
    await store.close()
    const database = new ClassicLevel(options.folder)
    const [[key, value]] = await database.iterator({ gte: 's/' }).all()
    await database.put(key, value.replace('shelf-1', 'shelf-2'))
    await database.close()
    await expect(LevelStore.open(options)).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: `${options.folder}: the share log is damaged: the record ${key} has a wrong checksum`,
    })
  })

  it('the share log drops expired shares and refusals, at the start and while it runs', async () => {
    const { store, clock, options } = await opened({ keepMs: 3_600_000 })
    const nowMs = clock.wallMs()
    const refused = { user: 'k:abc', worker: '', verdict: 'low', count: 1 } as const
    await store.append([shareOf(1, { timeMs: nowMs - 3_300_000 }), shareOf(2, { timeMs: nowMs })])
    await store.refuse([{ ...refused, minuteMs: nowMs - 3_300_000 }])
    const ids = async (of: LevelStore) => (await listOf(of.shares())).map(({ id }) => id)
    await clock.pass(700_000)
    await expect.poll(() => ids(store)).toEqual([shareOf(2).id])
    await expect.poll(() => listOf(store.refusals())).toEqual([])
    await store.close()
    await clock.pass(3_600_000)
    const again = await LevelStore.open(options)
    expect(await ids(again)).toEqual([])
    await again.close()
  })

  it('the share log writes the counts that it was given before it closes', async () => {
    const { store, options } = await opened()
    const count = { minuteMs: START_MS, user: 'k:abc', worker: '', verdict: 'low', count: 1 } as const
    const writing = store.refuse([count])
    await store.close()
    await writing
    const again = await LevelStore.open(options)
    onTestFinished(() => again.close())
    expect(await listOf(again.refusals())).toEqual([count])
  })

  it('readers that stop early release the share log', async () => {
    const disk = new FullDisk()
    const { store } = await opened({ open: disk.open })
    await store.append([shareOf(1), shareOf(2, { timeMs: START_MS + 20_000 })])
    for await (const { id } of store.shares()) {
      expect(id).toEqual(shareOf(1).id)
      expect(disk.iterators).toBe(2)
      break
    }
    expect(disk.iterators).toBe(0)
  })

  it('the share log syncs once a second if there is something to sync', async () => {
    const disk = new FullDisk()
    const { store, clock } = await opened({ open: disk.open })
    await clock.pass(5_000)
    expect(disk.synced).toEqual([])
    await store.append([shareOf(1)])
    await clock.pass(1_000)
    await expect.poll(() => disk.synced).toEqual(['{"sync":true}'])
    await clock.pass(5_000)
    expect(disk.synced).toHaveLength(1)
    await store.append([shareOf(2)])
    await store.close()
    expect(disk.synced).toHaveLength(2)
  })

  it('the share log refuses shares on a full disk, and accepts new ones once there is room, without those that failed', async () => {
    const disk = new FullDisk()
    const { store, clock } = await opened({ open: disk.open })
    await store.append([shareOf(1)])
    disk.isFull = true
    await expect(store.append([shareOf(2)])).rejects.toMatchObject({
      code: 'DATA_UNUSABLE',
      message: expect.stringMatching(/cannot store shares: ENOSPC: no space left on device$/),
      hint: 'check that the disk has room; newcut stores shares again once it does',
    })
    // The store waits before it retries.
    const { writes, opens } = disk
    await expect(store.append([shareOf(3)])).rejects.toThrow(/ENOSPC/)
    expect(disk.writes).toEqual(writes)
    expect(disk.opens).toEqual(opens)
    const refusal = { minuteMs: 0, user: 'a', worker: '', verdict: 'low', count: 1 } as const
    await expect(store.refuse([refusal])).rejects.toThrow(/ENOSPC/)
    await clock.pass(1_000)
    await expect(store.append([shareOf(4)])).rejects.toThrow(/ENOSPC/)
    disk.isFull = false
    await clock.pass(1_000)
    await store.append([shareOf(5)])
    await store.refuse([refusal])
    expect((await listOf(store.shares())).map(({ id }) => id)).toEqual([shareOf(1).id, shareOf(5).id])
    // A refused share may be submitted again.
    await store.append([shareOf(2)])
    expect(await listOf(store.shares())).toHaveLength(3)
  })

  it('the share log knows the shares of earlier runs and the time of the newest', async () => {
    const { store, options } = await opened()
    await store.append([shareOf(1), shareOf(7), shareOf(3)])
    expect(store.has(shareOf(7).id)).toBe(true)
    expect(store.has(shareOf(8).id)).toBe(false)
    expect(store.newestMs).toEqual(shareOf(7).timeMs)
    await store.close()
    const again = await LevelStore.open(options)
    expect(again.has(shareOf(7).id)).toBe(true)
    expect(again.has(shareOf(8).id)).toBe(false)
    expect(again.newestMs).toEqual(shareOf(7).timeMs)
    await again.close()
    await expect(again.append([shareOf(9)])).rejects.toThrow(/the share log is closed/)
  })

  it('the share log saves all changed accounts, and forgets dropped ones', async () => {
    const { store } = await opened()
    expect(await store.load()).toBeNull()
    const accounts = ['a', 'b'].map((worker) => new WorkerAccount('k:abc', worker))
    accounts[0].accept(shareOf(1), 2 ** 40, true, shareOf(1).timeMs)
    const changed = accounts.map((account) => account.snapshot())
    await store.save({ throughMs: 5, savedMs: 6, changed, dropped: [] })
    expect(await store.load()).toEqual({ throughMs: 5, savedMs: 6, accounts: changed })
    await store.save({ throughMs: 7, savedMs: 8, changed: [], dropped: [accounts[0]] })
    expect(await store.load()).toEqual({ throughMs: 7, savedMs: 8, accounts: [changed[1]] })
    // Accounts do not show up among the shares.
    expect(await listOf(store.shares())).toEqual([])
  })
})
