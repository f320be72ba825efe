/** The cases of conformance/ at a real node over HTTP, directly and through proxies that plant one defect each. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ownCases, readCases } from '../../src/client/conformance/case-file.ts'
import { failedCaseLine } from '../../src/client/conformance/report.ts'
import { type ConformanceReport, runCases } from '../../src/client/conformance/run.ts'
import { caseNeeds, type Release } from '../../src/client/conformance/words.ts'
import type { Devnet } from '../../src/compose/devnet.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import type { DevnetOptions } from '../../src/devnet/options/devnet-options.ts'
import { definitionOf, type NetworkForm } from '../../src/ground/chain/network-form.ts'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { isFull, rotating } from '../rotation.ts'
import { clientsOfPage, resultsPath } from './client-results.ts'
import { defects } from './defects.ts'
import { type Defect, proxyBefore } from './proxy.ts'
import { type Column, resultsPage } from './results.ts'

const all = readCases(ownCases())
/** The runs of our own node. */
const columns: Column[] = []
const LONG_MS = 30_000
/** A step that waits for what a defect has taken away waits this long. */
const DEFECT_MS = 2_000

const startNode = (options: DevnetOptions = {}) =>
  startDevnet({ port: 0, graph: 'pair', difficulty: 20n, autoMine: { kind: 'on-demand' }, ...options })

const titleOf = ({ group, name }: { readonly group: string; readonly name: string }) => `${group}: ${name}`

function judge(
  url: string,
  of: {
    readonly only?: readonly string[]
    readonly group?: string
    readonly release?: Release
    readonly timeoutMs?: number
    readonly networks?: readonly NetworkForm[]
  },
) {
  return runCases({
    url,
    clock: systemClock,
    timeoutMs: of.timeoutMs ?? LONG_MS,
    cases: all.filter(
      (each) => (of.only === undefined || of.only.includes(titleOf(each))) && each.group === (of.group ?? each.group),
    ),
    release: of.release ?? null,
    needs: null,
    networks: of.networks?.map(definitionOf),
    signal: new AbortController().signal,
  })
}

const LONG_CHAIN = 'headers: a chain of 370 blocks needs two pages of headers'

/** Reason of cases that need proof of work. Our nodes with blocks on demand have none. */
const ANY_NONCE = 'the network takes any nonce'

/** The lines of all cases that did not pass. */
const unpassedLinesOf = ({ cases }: ConformanceReport) =>
  cases
    .filter(({ outcome, reason }) => outcome !== 'passed' && reason !== ANY_NONCE)
    .map((each) => (each.reason === null ? failedCaseLine(each) : `${each.group}: ${each.name}: ${each.reason}`))

describe('our own node', () => {
  /** Cases whose expectations differ by release. A node gives all others one verdict, whoever judges. */
  const judgedByRelease = all
    .filter((each) => each.releases !== undefined || JSON.stringify(each.steps).includes('"$release"'))
    .map(titleOf)

  function expectPassed(report: ConformanceReport, judgedAs: Release) {
    expect(unpassedLinesOf(report)).toEqual([])
    expect(report.network).toBe('development')
    expect(report.release).toEqual(judgedAs)
    expect(report.cases.map(({ name }) => name)).toEqual(all.map(({ name }) => name))
  }

  it('our own node with the rules of 3.2 passes every case, judged by itself and by the specification', async () => {
    const node = await startNode({ nodeRelease: '3.2' })
    onTestFinished(() => node.close())
    const own = await judge(node.url, {})
    expect(judgedByRelease.length).toBeGreaterThan(5)
    const again = await judge(node.url, { release: 'spec', ...(!isFull && { only: judgedByRelease }) })
    const cases = own.cases.map((each) => again.cases.find((one) => titleOf(one) === titleOf(each)) ?? each)
    const bySpec = { ...again, cases }
    for (const [judgedAs, report] of [
      ['newcut', own],
      ['spec', bySpec],
    ] as const) {
      columns.push({ head: `newcut, rules of 3.2, judged as ${judgedAs}`, report })
      expectPassed(report, judgedAs)
    }
  })

  it('our own node with the rules of 2.32 passes every case, judged by the specification', async () => {
    const node = await startNode({ nodeRelease: '2.32' })
    onTestFinished(() => node.close())
    const report = await judge(node.url, { release: 'spec' })
    columns.push({ head: 'newcut, rules of 2.32, judged as spec', report })
    expectPassed(report, 'spec')
  })

  it('our own node is judged by the file of its network: a block has that much gas', async () => {
    const form = { network: 1, name: 'my-net', public: false, gas: { block: 90_000 } } as const
    const node = await startNode({ networkName: 'my-net', networks: [form] })
    onTestFinished(() => node.close())
    const only = ['commands: a gas limit of a whole block is taken']
    expect(unpassedLinesOf(await judge(node.url, { only, networks: [form] }))).toEqual([])
    expect(unpassedLinesOf(await judge(node.url, { only }))).toHaveLength(1)
  })

  it('our own node is left alone if the file of its network says that it is public', async () => {
    const form = { network: 1, name: 'my-net', code: 77 } as const
    const asked: string[] = []
    const node = await startNode({
      networkName: 'my-net',
      networks: [form],
      onRequest: ({ method, path }) => void asked.push(`${method} ${path}`),
    })
    onTestFinished(() => node.close())
    const { offers } = await judge(node.url, { group: 'mining', networks: [form] })
    expect(offers).toMatchObject({ 'read-only': null, mine: 'my-net is a public network' })
    expect(asked.filter((each) => each.startsWith('POST'))).toEqual([])
    expect((await judge(node.url, { only: [] })).offers.mine).toBe(null)
  })

  it('our own node has its results in the documents', async () => {
    await expect(resultsPage(all, columns) + clientsOfPage()).toMatchFileSnapshot(resultsPath)
  })

  it('our own node with proof of work passes the cases of mining, and skips none', async () => {
    const node = await startDevnet({ port: 0, graph: 'pair', difficulty: 20n, blockDelayMs: 100 })
    onTestFinished(() => node.close())
    const report = await judge(node.url, { group: 'mining' })
    expect(report.cases.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
    expect(report.cases.some(({ name }) => name === 'a nonce that does not solve is 400')).toBe(true)
  })

  /** Results of the cases whose commands must stay pending. */
  const pendingCases = ({ cases }: ConformanceReport) => {
    const named = new Set(all.filter(({ needs: own }) => own.includes('pending')).map(({ name }) => name))
    return cases.filter(({ name }) => named.has(name))
  }
  const NOT_TOLD: Defect = {
    answer: (answer, { path }) => {
      if (path === '/devnet/mining') answer.status = 404
    },
  }

  /** Answers as a node whose pools are empty. */
  const forget: NonNullable<Defect['answer']> = (answer, { path }) => {
    if (answer.status !== 200) return
    if (path.includes('/mempool/member')) answer.body = Buffer.from('[false]')
    if (path.includes('/mempool/getPending')) answer.body = Buffer.from('{"hashes":[],"highwaterMark":[1,1]}')
  }

  it.each([
    ['on arrival', { kind: 'on-arrival', confirmations: 5 }, 'GET /devnet/mining reports on-arrival'],
    ['all the time', { kind: 'constant', blockTimeMs: 100 }, 'GET /devnet/mining reports constant'],
  ] as const)(
    'our own node that mines %s skips the cases of pending commands, and says why',
    async (_, autoMine, told) => {
      const node = await startNode({ autoMine })
      onTestFinished(() => node.close())
      const proxy = await proxyBefore(node.url, NOT_TOLD)
      onTestFinished(() => proxy.close())
      for (const [url, why] of [
        [node.url, told],
        [proxy.url, /chain 0 went from height \d+ to \d+ without a request for blocks$/],
      ] as const) {
        const report = await judge(url, { group: 'mempool' })
        const skipped = pendingCases(report)
        expect(skipped.map(({ outcome }) => outcome)).toEqual(Array(2).fill('skipped'))
        expect(skipped[0].reason).toMatch('it needs pending: the node makes blocks by itself: ')
        expect(skipped[0].reason).toMatch(why)
        expect(unpassedLinesOf({ ...report, cases: report.cases.filter((each) => !skipped.includes(each)) })).toEqual(
          [],
        )
      }
    },
  )

  it('our own node that mines on arrival passes all other cases of commands', async () => {
    const node = await startNode({ autoMine: { kind: 'on-arrival', confirmations: 0 } })
    onTestFinished(() => node.close())
    const report = await judge(node.url, { group: 'commands' })
    const skipped = pendingCases(report)
    expect(skipped.map(({ outcome }) => outcome)).toEqual(Array(3).fill('skipped'))
    expect(unpassedLinesOf({ ...report, cases: report.cases.filter((each) => !skipped.includes(each)) })).toEqual([])
  })

  it('our own node that mines on demand without saying so runs all cases', async () => {
    const node = await startNode()
    onTestFinished(() => node.close())
    const proxy = await proxyBefore(node.url, NOT_TOLD)
    onTestFinished(() => proxy.close())
    const run = pendingCases(await judge(proxy.url, { group: 'mempool' }))
    expect(run.map(({ outcome }) => outcome)).toEqual(Array(2).fill('passed'))
    expect(node.pending).toBe(0)
    // A node whose pool forgets what it gets does not mine on arrival.
    const forgetful = await proxyBefore(node.url, {
      answer: (answer, request) => {
        NOT_TOLD.answer?.(answer, request)
        forget(answer, request)
      },
    })
    onTestFinished(() => forgetful.close())
    const failed = pendingCases(await judge(forgetful.url, { group: 'mempool' }))
    expect(failed.map(({ outcome }) => outcome)).toEqual(Array(2).fill('failed'))
  })

  it('a node that reports the wrong mode of mining fails a case', async () => {
    const node = await startNode({ autoMine: { kind: 'on-arrival', confirmations: 0 } })
    onTestFinished(() => node.close())
    const proxy = await proxyBefore(node.url, {
      answer: (answer, { path }) => {
        if (path === '/devnet/mining') answer.body = Buffer.from('{"mining":{"mode":"on-demand"}}')
        // The command may be in its pool for a moment.
        forget(answer, { method: '', path })
      },
    })
    onTestFinished(() => proxy.close())
    const run = pendingCases(await judge(proxy.url, { group: 'mempool' }))
    expect(run.map(({ outcome }) => outcome)).toContain('failed')
  })

  it('cases that need no command send the node none', async () => {
    const node = await startNode({ autoMine: { kind: 'on-arrival', confirmations: 0 } })
    onTestFinished(() => node.close())
    const sent: string[] = []
    const proxy = await proxyBefore(node.url, {
      ...NOT_TOLD,
      path: (path) => {
        if (path.endsWith('/send')) sent.push(path)
        return path
      },
    })
    onTestFinished(() => proxy.close())
    const { offers } = await judge(proxy.url, { group: 'branch' })
    expect(sent).toEqual([])
    expect(offers.pending).toBe('no chosen case needs it')
  })

  it('our own node of one chain skips what needs a second one, and says so', async () => {
    const node = await startNode({ graph: 'singleton' })
    onTestFinished(() => node.close())
    // Its many blocks cost more than all other cases.
    const only = all.map(titleOf).filter((title) => isFull || title !== LONG_CHAIN)
    const report = await judge(node.url, { only })
    const reasons = report.cases.flatMap(({ reason }) => reason ?? [])
    expect(new Set(reasons)).toEqual(new Set(['the network has one chain', ANY_NONCE]))
    expect(report.cases.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  })
})

describe('the cases', () => {
  it('the cases use every need, and cover every endpoint that the embedded node shares with live ones', () => {
    expect(new Set(all.flatMap((each) => each.needs))).toEqual(new Set(caseNeeds))
    const text = JSON.stringify(all.flatMap(({ steps }) => steps.map(({ path }) => path ?? '')))
    const ends = [
      '/health-check',
      '/info',
      '/config',
      '/cut',
      '/hash',
      '/hash/branch',
      '/header',
      '/header/branch',
      '/block',
      '/block/branch',
      '/payload/batch',
      '/outputs',
      '/payload/outputs/batch',
      '/mining/work',
      '/mining/solved',
      '/mining/updates',
      '/header/updates',
      '/block/updates',
      '/mempool/member',
      '/mempool/lookup',
      '/mempool/getPending',
      '/local',
      '/send',
      '/poll',
      '/listen',
      '/spv',
      '/cut/peer',
      '/mempool/insert',
    ]
    expect(ends.filter((end) => !text.includes(`${end}"`))).toEqual([])
  })

  it('read-only cases change nothing at a node', () => {
    const changing = /\/(send|solved|insert|private|make-blocks|devnet\/|make-backup)/
    const wrong = all.filter(({ needs: own, steps }) => {
      const changes = steps.some(({ mine, path = '' }) => mine !== undefined || changing.test(path))
      return changes && own.every((need) => need === 'read-only')
    })
    expect(wrong.map(({ name }) => name)).toEqual([])
  })

  it('every case names its source', () => {
    expect(all.filter(({ source }) => source === undefined)).toEqual([])
    const protocol = readFileSync(new URL(`../../docs/${'PROTOCOL'}.md`, import.meta.url), 'utf8')
    const sections = new Set(all.flatMap(({ source = '' }) => source.match(/\b[A-G]\.\d\b/g) ?? []))
    expect([...sections].filter((section) => !protocol.includes(`### ${section} `))).toEqual([])
  })
})

describe('a node with one defect', () => {
  let node: Devnet
  beforeAll(async () => {
    node = await startNode()
  })
  afterAll(() => node.close())

  it('defects are planted in more than 50 ways, in every group of cases that has its own endpoints', () => {
    expect(new Set(defects.map(({ name }) => name)).size).toBeGreaterThan(50)
    const groups = new Set(defects.map(({ caughtBy }) => caughtBy.split(':')[0]))
    const others = ['releases', 'reorganisation']
    expect([...groups, ...others].toSorted()).toEqual([...new Set(all.map(({ group }) => group))].toSorted())
  })

  it('defects are planted in streams, and in answers to poll, listen, spv, solved, cut, pages, batches and peers', () => {
    const caught = all.filter((each) => defects.some(({ caughtBy }) => caughtBy === `${each.group}: ${each.name}`))
    const paths = JSON.stringify(caught.flatMap(({ steps }) => steps.map(({ path = '' }) => path)))
    const ends = ['/header/updates', '/mining/updates', '/poll', '/listen', '/spv', '/mining/solved', '/mining/work']
    const further = [
      '/cut',
      '/header',
      '/hash',
      '/hash/branch',
      '/payload/batch',
      '/outputs',
      '/cut/peer',
      '/mempool/insert',
    ]
    expect([...ends, ...further].filter((end) => !paths.includes(`${end}"`))).toEqual([])
  })

  it.each(rotating(defects, defects.length / 2))(
    'a case catches a node with one defect: $name',
    async ({ caughtBy, ...defect }) => {
      const proxy = await proxyBefore(node.url, defect)
      onTestFinished(() => proxy.close())
      const report = await judge(proxy.url, { only: [caughtBy], timeoutMs: DEFECT_MS })
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(['failed'])
    },
  )

  it('the proxy alone passes every case that catches a defect', async () => {
    const proxy = await proxyBefore(node.url, {})
    onTestFinished(() => proxy.close())
    const only = defects.map(({ caughtBy }) => caughtBy)
    expect(unpassedLinesOf(await judge(proxy.url, isFull ? {} : { only }))).toEqual([])
  })
})
