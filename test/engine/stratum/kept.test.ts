/** Shares that the server stores first: the answers to rigs, the counts, and the console messages. */
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { UNREACHABLE } from '../../../bench/work.ts'
import { Accounts } from '../../../src/accounts/accounts.ts'
import { BlockShares } from '../../../src/accounts/block-shares.ts'
import { LevelStore } from '../../../src/accounts/level-store.ts'
import { ShareRecorder } from '../../../src/accounts/recorder.ts'
import type { LedgerStorage, RigNotice } from '../../../src/accounts/rig-ledger.ts'
import { rigRows } from '../../../src/accounts/rig-rows.ts'
import { encodeBase64Url } from '../../../src/base/bytes.ts'
import { blockHash } from '../../../src/core/block-hash.ts'
import { decodeWork, encodeWork, withCreationTime, withNonce } from '../../../src/core/header.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { failures } from '../../../src/stratum/messages.ts'
import { listOf, temporaryFolder } from '../../accounts/shares.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** A server with a share log in this folder. `append` stands in for that of the store. */
async function keeping(folder: string, append?: (kept: LevelStore) => LedgerStorage['store']['append']) {
  const store = await LevelStore.open({ folder: join(folder, 'shares'), network: 'net', clock: systemClock })
  const notices: RigNotice[] = []
  const tell = (notice: RigNotice) => void notices.push(notice)
  const accounts = new Accounts({
    onWarning: (message, isWell) => tell({ type: isWell ? 'recovered' : 'warning', message }),
  })
  await accounts.restore(store, store, systemClock.wallMs())
  const blocks = new BlockShares(folder, (message) => tell({ type: 'warning', message }))
  const kept: LedgerStorage = {
    store: append === undefined ? store : { ...storeOf(store), append: append(store) },
    ...{ accounts: store, has: store.has, newestMs: store.newestMs, blocks },
  }
  const started = await startedServer(
    {},
    { recorder: (onNotice) => new ShareRecorder(kept, accounts, systemClock, onNotice) },
  )
  started.engine.tell(tell)
  return { ...started, store, notices, accounts, blocks }
}

const storeOf = (store: LevelStore): LedgerStorage['store'] => ({
  append: (shares) => store.append(shares),
  refuse: (counts) => store.refuse(counts),
  shares: (range) => store.shares(range),
  refused: (range) => store.refused(range),
  close: () => store.close(),
})

describe('an accepted share', () => {
  it('is answered once it is stored with all details; other lines pass meanwhile', async () => {
    let letThrough: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    const { engine, port, store } = await keeping(temporaryFolder(), (of) => async (shares) => {
      await gate
      await of.append(shares)
    })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'k:abc.shelf-1', 'ours/1')
    await until(() => rig.jobs.length > 0)
    const job = rig.jobs[0]
    let answer: unknown = null
    const answered = rig.submit(job.id, rig.nextShare(job)).then((response) => {
      answer = response.result
    })
    expect((await rig.ask('mining.ping', [])).result).toBe('pong')
    expect([answer, engine.status().shares.accepted, engine.status().users[0].hashes]).toEqual([null, 0, 0])
    letThrough()
    await answered
    expect([answer, engine.status().shares.accepted, engine.status().users[0].hashes]).toEqual([true, 1, 1000])
    const fields = { user: 'k:abc', worker: 'shelf-1', agent: 'ours/1', address: '127.0.0.1', difficulty: 1000 }
    expect(await listOf(store.shares())).toEqual([
      {
        ...{ ...fields, id: expect.stringMatching(/^[\w-]{43}$/), timeMs: expect.any(Number), block: null },
        ...{ chain: expect.any(Number), height: expect.any(Number), blockDifficulty: Number(UNREACHABLE) },
      },
    ])
  })

  it('that solves the block names it', async () => {
    const { engine, port, store, candidates } = await keeping(temporaryFolder())
    const work = workOf(1, 10n)
    await engine.setWork(work)
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    const [{ nonce, creationTime }] = candidates
    const solved = withNonce(
      creationTime === undefined ? work.bytes : withCreationTime(work.bytes, creationTime),
      nonce,
    )
    expect(await listOf(store.shares())).toMatchObject([
      { block: encodeBase64Url(blockHash(solved)), difficulty: 10, blockDifficulty: 10 },
    ])
  })

  it('that is stale but solves its work is refused, and stored without hashes for its block', async () => {
    const folder = temporaryFolder()
    const { engine, port, store, candidates, blocks, accounts } = await keeping(folder)
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const other = workOf(2, UNREACHABLE)
    await engine.setWork({ ...other, bytes: encodeWork({ ...decodeWork(other.bytes), chainId: 6 }), reason: 'newCut' })
    const [job] = rig.jobs
    const { error } = await rig.submit(job.id, rig.nextShare(job))
    expect([error?.code, candidates.length, engine.hashes()]).toEqual([failures.stale.code, 1, 0])
    await until(() => [...blocks.pending].length === 0)
    const block = expect.stringMatching(/^[\w-]{43}$/)
    expect(await listOf(store.shares())).toMatchObject([
      { block, difficulty: 0, blockDifficulty: 10, refusedAs: 'stale' },
    ])
    // One verdict in the tables of workers, rigs and users, also after a restart.
    const once = { accepted: 0, refused: { stale: 1 }, hashes: 0, blocks: 1 }
    expect(rigRows(accounts, systemClock.wallMs())).toMatchObject([once])
    const { shares, rigs, users } = engine.status()
    for (const counts of [shares, rigs[0].shares, users[0].shares])
      expect(counts).toMatchObject({ accepted: 0, stale: 1 })
    await engine.stop()
    const replayed = new Accounts({ onWarning: () => undefined })
    const log = await LevelStore.open({ folder: join(folder, 'shares'), network: 'net', clock: systemClock })
    await replayed.restore(null, log, systemClock.wallMs())
    await log.close()
    expect(rigRows(replayed, systemClock.wallMs()), 'rebuilt from the log').toMatchObject([once])
    const again = await keeping(folder)
    expect(rigRows(again.accounts, systemClock.wallMs()), 'saved').toMatchObject([once])
  })

  it('that is late but solves its work counts once without a share log too', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const other = workOf(2, UNREACHABLE)
    await engine.setWork({ ...other, bytes: encodeWork({ ...decodeWork(other.bytes), chainId: 6 }), reason: 'newCut' })
    await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect(rigRows(engine.recorder.accounts, 0)).toMatchObject([{ accepted: 0, refused: { stale: 1 }, blocks: 1 }])
  })

  it('that cannot be stored is refused and does not count, and its block is submitted all the same', async () => {
    const { engine, port, store, candidates, notices, blocks } = await keeping(temporaryFolder(), () => async () => {
      throw new Error('no space left')
    })
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const { result, error } = await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect([result, error]).toEqual([false, failures.unavailable])
    expect(candidates).toHaveLength(1)
    expect([...blocks.pending], 'it is paid for all the same').toHaveLength(1)
    expect(engine.status()).toMatchObject({ shares: { accepted: 0, unavailable: 1 }, isLogWell: false })
    expect(notices).toContainEqual({
      type: 'trouble',
      message: expect.stringMatching(/^no space left: shares are refused/),
    })
    expect(await listOf(store.shares())).toEqual([])
  })

  it('of a stopping server is answered before the connection ends', async () => {
    const { engine, port } = await keeping(temporaryFolder(), (of) => async (shares) => {
      await of.append(shares)
    })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const answered = rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    await until(() => engine.hashes() > 0)
    await engine.stop()
    expect((await answered).result).toBe(true)
  })
})

describe('accounts', () => {
  it('survive a restart of the server, and know their shares', async () => {
    const folder = temporaryFolder()
    const first = await keeping(folder)
    await first.engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(first.port, 'k:abc.shelf-1', 'ours/1')
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    for (let i = 0; i < 3; i++) await rig.submit(job.id, rig.nextShare(job))
    await rig.submit(job.id, 'x')
    rig.close()
    await until(() => first.accounts.present.size === 0)
    await first.engine.stop()
    const nowMs = systemClock.wallMs()
    const second = await keeping(folder)
    expect(rigRows(second.accounts, nowMs)).toEqual(rigRows(first.accounts, nowMs))
    expect(rigRows(second.accounts, nowMs)).toMatchObject([
      { user: 'k:abc', worker: 'shelf-1', accepted: 3, refused: { malformed: 1 }, hashes: 3000, address: '127.0.0.1' },
    ])
  })

  it("have the hashrate that the rig's program reports", async () => {
    const { engine, port, accounts } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    const announce = (rate: unknown) => rig.ask('eth_submitHashrate', [rate, '0x1'])
    expect((await announce('0x00000000000000000000000000000000000000000000000000000000000f4240')).result).toBe(true)
    expect(rigRows(accounts, 0)[0].hashrates.announced).toBe(1_000_000)
    for (const wrong of ['0x', 'fast', '', null, {}]) {
      expect([wrong, (await announce(wrong)).error?.code]).toEqual([wrong, failures.malformed.code])
    }
    expect(rigRows(accounts, 0)[0].hashrates.announced).toBe(1_000_000)
  })
})

describe('a log-in', () => {
  it('counts for one account, however its user writes the key', async () => {
    const { engine, port, accounts, notices } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const key = 'ab'.repeat(32)
    const users = [key, `k:${key}`, `K:${key.toUpperCase()}`, key.toUpperCase()]
    for (const user of users) {
      const rig = await loggedIn(port, `${user}.shelf-1`)
      await until(() => rig.jobs.length > 0)
      await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    }
    const one = { user: `k:${key}`, sessions: 4, shares: { accepted: 4 } }
    expect(engine.status()).toMatchObject({ users: [one], rigs: [one] })
    expect(rigRows(accounts, 0)).toMatchObject([{ user: `k:${key}`, worker: 'shelf-1', accepted: 4, connections: 4 }])
    expect(notices).toEqual([])
  })

  it('of a user who cannot be paid is reported once, with the reason', async () => {
    const { port, notices } = await keeping(temporaryFolder())
    for (const user of ['bob.shelf-1', 'bob.shelf-2', `k:${'a'.repeat(63)}.x`]) await loggedIn(port, user)
    const text = (user: string, reason: string) =>
      `newcut payouts cannot pay the user ${user}: ${reason}; its rigs may log in as k:KEY.NAME`
    expect(notices).toEqual([
      { type: 'warning', message: text('bob', 'its name is not a k: account, which is k: and 64 hex digits') },
      {
        type: 'warning',
        message: text(`k:${'a'.repeat(63)}`, 'it looks like a k: account, but its key has 63 hex digits, not 64'),
      },
    ])
  })

  it('is not judged by a server that stores no shares, and so pays for none', async () => {
    const { engine, port } = await startedServer()
    const notices: RigNotice[] = []
    engine.tell((notice) => notices.push(notice))
    await loggedIn(port, 'bob.shelf-1')
    expect(notices).toEqual([])
  })
})

describe('the console reports', () => {
  it('50 refused shares once, with the reason, and the recovery of the rig once', async () => {
    const { engine, port, notices } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const user = `k:${'ab'.repeat(32)}`
    const rig = await loggedIn(port, `${user}.shelf-1`)
    await until(() => rig.jobs.length > 0)
    for (let i = 0; i < 70; i++) await rig.submit('1', '000000000000')
    expect(notices.filter(({ type }) => type === 'warning')).toEqual([
      {
        type: 'warning',
        message: expect.stringMatching(/^the last 50 shares of shelf-1 of k:(ab){32} were all refused; .*unknown job/),
      },
    ])
    expect(engine.status().rigs).toMatchObject([{ device: 'rig:shelf-1', refusedAs: 'unknown job' }])
  })

  it('the first refused line of a worker, and connections that never log in with their first line', async () => {
    const { engine, port, notices } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port, 'k:abc.shelf-1')
    for (const nonce of ['zz', 'yy']) await rig.submit('1', nonce)
    const strange = await connected(port)
    await strange.ask('mining.get_transactions', ['txlist'])
    const silent = await connected(port)
    for (const each of [strange, silent]) each.close()
    const details = () => notices.filter(({ type }) => type === 'detail').map(({ message }) => message)
    await until(() => details().length >= 3)
    expect(details().toSorted()).toEqual([
      'a connection from 127.0.0.1 ended without a log-in; it sent nothing',
      'a connection from 127.0.0.1 ended without a log-in; its first line was: {"id":1,"method":"mining.get_transactions","params":["txlist"]}',
      'first refused share of rig:shelf-1 of k:abc: malformed; its line was: {"id":3,"method":"mining.submit","params":["k:abc.rig","1","zz"]}',
    ])
  })

  it('a flood of such connections as a count', async () => {
    const { port, notices } = await keeping(temporaryFolder())
    for (let i = 0; i < 45; i++) (await connected(port)).close()
    await until(() => notices.some(({ message }) => /^\d+ more connections ended without a log-in$/.test(message)))
    expect(notices.filter(({ message }) => message.includes('it sent nothing')).length).toBeLessThanOrEqual(40)
  })
})
