/** Shares that the server stores first: the answers to rigs, and the counts. */
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeBase64Url } from '../../../src/ground/base/bytes.ts'
import { blockHash } from '../../../src/ground/chain/block-hash.ts'
import { decodeWork, encodeWork, withCreationTime, withNonce } from '../../../src/ground/chain/header.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { Accounts } from '../../../src/mining/accounts/accounts.ts'
import { LevelStore } from '../../../src/mining/accounts/level-store.ts'
import type { RigNotice } from '../../../src/mining/accounts/rig-ledger.ts'
import { rigRows } from '../../../src/mining/accounts/rig-rows.ts'
import { failures } from '../../../src/mining/stratum/messages.ts'
import { listOf, temporaryFolder } from '../../accounts/shares.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { loggedIn, startedServer, stopServers, workOf } from './servers.ts'
import { gate, keeping } from './share-logs.ts'

afterEach(stopServers)

describe('an accepted share', () => {
  it('an accepted share is answered once it is stored with all details; other lines pass meanwhile', async () => {
    const { opening, letThrough } = gate()
    const { engine, port, store } = await keeping(temporaryFolder(), (of) => async (shares) => {
      await opening
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
    expect(answer).toBe(null)
    expect(engine.status().shares.accepted).toBe(0)
    expect(engine.status().users[0].hashes).toBe(0)
    letThrough()
    await answered
    expect(answer).toBe(true)
    expect(engine.status().shares.accepted).toBe(1)
    expect(engine.status().users[0].hashes).toBe(1000)
    const fields = { user: 'k:abc', worker: 'shelf-1', agent: 'ours/1', address: '127.0.0.1', difficulty: 1000 }
    expect(await listOf(store.shares())).toEqual([
      {
        ...fields,
        id: expect.stringMatching(/^[\w-]{43}$/),
        timeMs: expect.any(Number),
        block: null,
        chain: expect.any(Number),
        height: expect.any(Number),
        blockDifficulty: Number(UNREACHABLE),
      },
    ])
  })

  it('an accepted share that solves a block names the block', async () => {
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

  it('a stale share that solves its work is refused, and stored without hashes for its block', async () => {
    const folder = temporaryFolder()
    const { engine, port, store, candidates, blocks, accounts } = await keeping(folder)
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const other = workOf(2, UNREACHABLE)
    await engine.setWork({ ...other, bytes: encodeWork({ ...decodeWork(other.bytes), chainId: 6 }), reason: 'newCut' })
    const [job] = rig.jobs
    const { error } = await rig.submit(job.id, rig.nextShare(job))
    expect(error?.code).toEqual(failures.stale.code)
    expect(candidates.length).toBe(1)
    expect(engine.hashes()).toBe(0)
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

  it('a late share that solves its work counts once, even without a share log', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const other = workOf(2, UNREACHABLE)
    await engine.setWork({ ...other, bytes: encodeWork({ ...decodeWork(other.bytes), chainId: 6 }), reason: 'newCut' })
    await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect(rigRows(engine.recorder.accounts, 0)).toMatchObject([{ accepted: 0, refused: { stale: 1 }, blocks: 1 }])
  })

  it('a share that cannot be stored is refused and does not count, and its block is submitted all the same', async () => {
    const { engine, port, store, candidates, notices, blocks } = await keeping(temporaryFolder(), () => async () => {
      throw new Error('no space left')
    })
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const { result, error } = await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect(result).toBe(false)
    expect(error).toEqual(failures.unavailable)
    expect(candidates).toHaveLength(1)
    expect([...blocks.pending], 'it is paid for all the same').toHaveLength(1)
    expect(engine.status()).toMatchObject({ shares: { accepted: 0, unavailable: 1 }, isLogWell: false })
    expect(notices).toContainEqual({
      type: 'trouble',
      message: expect.stringMatching(/^no space left: shares are refused/),
    })
    expect(await listOf(store.shares())).toEqual([])
  })

  it('an accepted share of a stopping server is answered before the connection ends', async () => {
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

describe('a share of a server that is busy', () => {
  it('a share of a busy server that solves the block is secured before the block is submitted', async () => {
    const { engine, port, blocks } = await keeping(temporaryFolder())
    const pending: number[] = []
    const onCandidate = () => pending.push([...blocks.pending].length)
    await engine.start(286, { onCandidate, onWarning: () => undefined })
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    expect(pending).toEqual([1])
  })

  it('a share of a busy server that cannot be stored is reported with its own line, not with a later one', async () => {
    const { opening, letThrough } = gate()
    const { engine, port, notices } = await keeping(temporaryFolder(), () => async () => {
      await opening
      throw new Error('no space left')
    })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const answered = rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))
    await rig.ask('mining.ping', [])
    letThrough()
    expect((await answered).error).toEqual(failures.unavailable)
    const [detail] = notices.filter(({ type }) => type === 'detail')
    expect(detail.message).toMatch(/^first refused share of .*: unavailable; its line was: .*"mining\.submit"/)
  })

  it('a share that arrives during the stop is refused, and its block is not a candidate', async () => {
    const { opening, letThrough } = gate()
    const { engine, port, candidates } = await keeping(temporaryFolder(), (of) => async (shares) => {
      await opening
      await of.append(shares)
    })
    await engine.setWork(workOf(1, 10n))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    const first = rig.submit(job.id, rig.nextShare(job))
    await until(() => candidates.length > 0)
    const stopped = engine.stop()
    let refusal: unknown = null
    void rig.submit(job.id, rig.nextShare(job)).then(({ error }) => {
      refusal = error
    })
    try {
      await until(
        () => refusal !== null,
        () => 'the second share got no answer',
      )
    } finally {
      letThrough()
    }
    expect(refusal).toEqual(failures.unavailable)
    expect((await first).result).toBe(true)
    await stopped
    expect(candidates).toHaveLength(1)
  })
})

describe('accounts', () => {
  it('accounts survive a restart of the server, with their shares', async () => {
    const folder = temporaryFolder()
    const first = await keeping(folder)
    await first.engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(first.port, 'k:abc.shelf-1', 'ours/1')
    await until(() => rig.jobs.length > 0)
    const [job] = rig.jobs
    for (let i = 0; i < 3; i++) await rig.submit(job.id, rig.nextShare(job))
    await rig.submit(job.id, 'x')
    rig.close()
    await until(() => first.accounts.connections.size === 0)
    await first.engine.stop()
    const nowMs = systemClock.wallMs()
    const second = await keeping(folder)
    expect(rigRows(second.accounts, nowMs)).toEqual(rigRows(first.accounts, nowMs))
    expect(rigRows(second.accounts, nowMs)).toMatchObject([
      { user: 'k:abc', worker: 'shelf-1', accepted: 3, refused: { malformed: 1 }, hashes: 3000, address: '127.0.0.1' },
    ])
  })

  it("accounts have the hashrate that the rig's program reports", async () => {
    const { engine, port, accounts } = await keeping(temporaryFolder())
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    const announce = (rate: unknown) => rig.ask('eth_submitHashrate', [rate, '0x1'])
    expect((await announce('0x00000000000000000000000000000000000000000000000000000000000f4240')).result).toBe(true)
    expect(rigRows(accounts, 0)[0].hashrates.announced).toBe(1_000_000)
    for (const wrong of ['0x', 'fast', '', null, {}, `0x${'1'.repeat(65)}`]) {
      expect((await announce(wrong)).error?.code, String(wrong)).toEqual(failures.malformed.code)
    }
    expect(rigRows(accounts, 0)[0].hashrates.announced).toBe(1_000_000)
  })
})

describe('a log-in', () => {
  it('a log-in counts for one account, however its user writes the key', async () => {
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

  it('a log-in of a user who cannot be paid is reported once, with the reason', async () => {
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

  it('a log-in is not judged by a server that stores no shares, and so pays nobody', async () => {
    const { engine, port } = await startedServer()
    const notices: RigNotice[] = []
    engine.setNoticeListener((notice) => notices.push(notice))
    await loggedIn(port, 'bob.shelf-1')
    expect(notices).toEqual([])
  })
})
