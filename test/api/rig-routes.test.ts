/** The rig table and the share log over HTTP, and the client that reads both. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import { noRigs, rigRoutes } from '../../src/faces/api/rig-routes.ts'
import { startApi } from '../../src/faces/api/server.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { Accounts } from '../../src/mining/accounts/accounts.ts'
import { HttpShareReader } from '../../src/mining/accounts/http-reader.ts'
import { LevelStore } from '../../src/mining/accounts/level-store.ts'
import type { RigLedger } from '../../src/mining/accounts/rig-ledger.ts'
import { listOf, START_MS, shareOf, temporaryFolder } from '../accounts/shares.ts'
import { snapshotWith } from '../mine/snapshot.ts'

async function serving({ token = null as string | null, keeps = true } = {}) {
  const accounts = new Accounts({ onWarning: () => undefined })
  const options = { folder: temporaryFolder(), network: 'net', clock: systemClock, keepMs: 1e15 }
  const store = keeps ? await LevelStore.open(options) : null
  const storage = store && { store, accounts: store, has: store.has, newestMs: 0 }
  const ledger: RigLedger = { accounts, storage, nowMs: START_MS + 100_000, isWell: true }
  const metrics = new Metrics(() => snapshotWith(), '0.0.0')
  const routes = rigRoutes(ledger, () => token)
  const api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshotWith(), metrics, ...routes)
  onTestFinished(async () => {
    await api.close()
    await store?.close()
  })
  const ask = async (path: string, authorization?: string) => {
    const response = await fetch(api.url + path, { headers: authorization === undefined ? {} : { authorization } })
    const text = await response.text()
    const { headers } = response
    return { status: response.status, text, next: headers.get('newcut-after'), type: headers.get('content-type') }
  }
  return { accounts, store: store as LevelStore, url: api.url, ask }
}

describe('GET /api/rigs', () => {
  it('GET /api/rigs finds workers by a part of their name, user, program or address', async () => {
    const { accounts, ask } = await serving({ keeps: false })
    for (let i = 0; i < 3; i++) accounts.acceptLogged(shareOf(i, { worker: `Shelf-${i}` }))
    const found = async (search: string) => {
      const { total, rigs } = JSON.parse((await ask(`/api/rigs?limit=2&search=${search}`)).text)
      return [total, rigs.length]
    }
    expect(await found('shelf-1')).toEqual([1, 1])
    expect(await found('ABC')).toEqual([3, 2])
    expect(await found('nosuch')).toEqual([0, 0])
  })

  it('GET /api/rigs lists workers in pages', async () => {
    const { accounts, ask } = await serving({ keeps: false })
    for (let i = 0; i < 5; i++) accounts.acceptLogged(shareOf(i, { worker: `rig-${i}` }))
    const names = async (query: string) => {
      const { total, isLogWell, nowMs, rigs } = JSON.parse((await ask(`/api/rigs${query}`)).text)
      expect(total).toBe(5)
      expect(isLogWell).toBeNull()
      expect(nowMs).toEqual(START_MS + 100_000)
      return (rigs as { worker: string }[]).map(({ worker }) => worker)
    }
    expect(await names('')).toEqual(['rig-0', 'rig-1', 'rig-2', 'rig-3', 'rig-4'])
    expect(await names('?from=1&limit=2')).toEqual(['rig-1', 'rig-2'])
    expect(await names('?from=9')).toEqual([])
  })

  it.each([
    ['/api/rigs?limit=x', 'limit: expected a whole number from 0 to 65536'],
    ['/api/rigs?from=-1', 'from: expected a whole number from 0 to 65536'],
    ['/api/rigs?limit=1&limit=2', 'limit: given more than once'],
    ['/api/shares?limit=10001', 'limit: expected a whole number from 1 to 10000'],
    ['/api/shares?limit=0', 'limit: expected a whole number from 1 to 10000'],
    ['/api/shares/refused?limit=10001', 'limit: expected a whole number from 1 to 10000'],
    ['/api/shares/refused?limit=0', 'limit: expected a whole number from 1 to 10000'],
    ['/api/shares?order=up', 'order: expected oldest or newest'],
    ['/api/shares?after=x', 'after: expected the header newcut-after of the previous page'],
    ['/api/shares?after=1.a/b', 'after: expected the header newcut-after of the previous page'],
    ['/api/shares/refused?after=1.2x', 'after: expected the header newcut-after of the previous page'],
    ['/api/shares/refused?after=1.x', 'after: expected the header newcut-after of the previous page'],
  ])('GET /api/rigs and similar requests answer %s with what would be right', async (path, message) => {
    const { ask } = await serving()
    const { status, text } = await ask(path)
    expect(JSON.parse(text).message).toEqual(message)
    expect(status).toBe(400)
  })
})

describe('GET /api/shares', () => {
  it('GET /api/shares pages through shares, oldest or newest first, all or in a range', async () => {
    const { store, ask, url } = await serving()
    const shares = Array.from({ length: 25 }, (_, i) => shareOf(i, { timeMs: START_MS + Math.floor(i / 10) }))
    for (const share of shares) await store.append([share])
    const pages = async (query: string) => {
      const lines: string[] = []
      for (let after = ''; ; ) {
        const { status, text, next } = await ask(`/api/shares?limit=4${query}${after}`)
        expect(status).toBe(200)
        lines.push(...text.split('\n').filter((line) => line !== ''))
        if (next === null) return lines.map((line) => JSON.parse(line).id)
        expect(text.split('\n')).toHaveLength(5)
        after = `&after=${next}`
      }
    }
    const ids = shares.map(({ id }) => id)
    expect(await pages('')).toEqual(ids)
    expect(await pages('&order=newest')).toEqual(ids.toReversed())
    expect(await pages(`&from=${START_MS + 1}&until=${START_MS + 2}`)).toEqual(ids.slice(10, 20))
    const reader = new HttpShareReader({ url })
    expect(await listOf(reader.shares())).toEqual(shares)
    expect(await listOf(reader.shares({ fromMs: START_MS + 1, newestFirst: true }))).toEqual(
      shares.slice(10).toReversed(),
    )
    await reader.close()
  })

  it('GET /api/shares/refused pages through the counts of refusals', async () => {
    const { store, ask, url } = await serving()
    const counts = Array.from({ length: 9 }, (_, i) => {
      return {
        minuteMs: 60_000 * Math.floor(i / 4),
        user: 'k:abc',
        worker: `w${i}`,
        verdict: 'low' as const,
        count: i + 1,
      }
    })
    await store.refuse(counts)
    const first = await ask('/api/shares/refused?limit=3')
    const second = await ask(`/api/shares/refused?limit=3&after=${first.next}`)
    const third = await ask(`/api/shares/refused?limit=3&after=${second.next}`)
    const lines = [first, second, third].flatMap(({ text }) => text.split('\n').filter((line) => line !== ''))
    expect(lines.map((line) => JSON.parse(line))).toEqual(counts)
    expect(third.next).toBeNull()
    expect(await listOf(new HttpShareReader({ url }).refusals({ fromMs: 60_000, untilMs: 120_000 }))).toEqual(
      counts.slice(4, 8),
    )
  })

  it("GET /api/shares requires the miner's token if there is one", async () => {
    const { ask, url, store } = await serving({ token: 'correct-horse' })
    await store.append([shareOf(1)])
    for (const path of ['/api/shares', '/api/shares/refused']) {
      expect((await ask(path)).status).toBe(401)
      expect((await ask(path, 'Bearer wrong-horse')).status).toBe(401)
      expect((await ask(path, 'Bearer correct-horse')).status).toBe(200)
    }
    expect((await ask('/api/rigs')).status).toBe(200)
    expect(await listOf(new HttpShareReader({ url, token: 'correct-horse' }).shares())).toEqual([shareOf(1)])
    await expect(listOf(new HttpShareReader({ url }).shares())).rejects.toMatchObject({
      code: 'NODE_REFUSED',
      message: `${url}: expected the header Authorization: Bearer TOKEN`,
    })
  })

  it('GET /api/shares has a thousand lines in a page by default, and one at least', async () => {
    const { store, ask } = await serving()
    const shares = Array.from({ length: 1001 }, (_, i) => shareOf(i))
    await store.append(shares)
    await store.refuse(
      shares.map((_, i) => ({ minuteMs: 60_000, user: 'k:abc', worker: `w${i}`, verdict: 'low' as const, count: 1 })),
    )
    for (const path of ['/api/shares', '/api/shares/refused']) {
      const { text, next, type } = await ask(path)
      expect(text.match(/\n/g)?.length).toBe(1000)
      expect(type).toBe('application/x-ndjson; charset=utf-8')
      expect((await ask(`${path}?after=${next}`)).text.match(/\n/g)).toHaveLength(1)
    }
  })

  it('GET /api/shares does not exist if no shares are stored', async () => {
    const { ask } = await serving({ keeps: false })
    const { status, text } = await ask('/api/shares')
    expect(JSON.parse(text).error).toMatch(/^this miner keeps no shares: --state/)
    expect(status).toBe(404)
  })
})

it('newcut rigs reports a miner that is not running', async () => {
  const reader = new HttpShareReader({ url: 'http://127.0.0.1:1' })
  await expect(listOf(reader.shares())).rejects.toMatchObject({
    code: 'NODE_UNREACHABLE',
    message: expect.stringMatching(/^no answer from the miner at http:\/\/127\.0\.0\.1:1: /),
  })
})

it('a miner without a stratum server says how to start one, and a leader where its rigs are', async () => {
  const metrics = new Metrics(() => snapshotWith(), '0.0.0')
  const answers: unknown[] = []
  for (const leads of [false, true]) {
    const api = await startApi({ host: '127.0.0.1', port: 0 }, () => snapshotWith(), metrics, ...noRigs(leads))
    onTestFinished(() => api.close())
    const response = await fetch(`${api.url}/api/rigs`)
    answers.push(response.status, await response.json())
  }
  expect(answers).toEqual([
    404,
    { error: 'this miner lets no rigs in', hint: expect.stringContaining('--stratum-listen') },
    404,
    { error: expect.stringContaining('the leader of a fleet'), hint: expect.stringContaining('newcut fleet') },
  ])
})
