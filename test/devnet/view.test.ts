/** /devnet/view and /devnet/live, the data of the developer page, against the node's interface. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { NodeState } from '../../src/faces/web/explorer/browser/state.ts'
import { validatorOf } from '../../src/ground/schema/validator.ts'
import type { NodeView } from '../../src/ground/schema/view.ts'
import { NodeView as ViewSchema } from '../../src/ground/schema/view.ts'
import { exec, local, makeBlocks, ok, poll, send, startLedger, transfer } from './commands-common.ts'
import { type CheckedPeer, clockByHand, jsonOf, OBJECTS, PREFIX, start } from './common.ts'
import { order } from './control-common.ts'
import { OpenResponse, Peer } from './request.ts'

const viewOf = async (peer: Peer, headers = {}): Promise<NodeView> =>
  jsonOf(await peer.get('/devnet/view', { headers }))

/** All blocks of a view, as the page reads them. */
const blocksOf = (view: NodeView) => [...new NodeState(view).blocks.values()]

async function watch(peer: Peer, headers = {}): Promise<OpenResponse> {
  const stream = await OpenResponse.open(`${peer.url}/devnet/live`, { headers })
  onTestFinished(() => stream.destroy())
  return stream
}

interface Told {
  readonly event: string
  readonly data: Partial<NodeView>
}

const told = ({ text }: OpenResponse): Told[] =>
  [...text.matchAll(/event: (\w+)\ndata: (.+)\n\n/g)].map(([, event, data]) => ({ event, data: JSON.parse(data) }))

/** A client of the same node that does not check the headers of public answers. */
function plain({ url }: CheckedPeer): Peer {
  const peer = new Peer(url)
  onTestFinished(() => peer.close())
  return peer
}

describe('the view', () => {
  it('the view keeps its schema, and matches the heads of the cut and the headers of its blocks', async () => {
    const { peer } = await start({ graph: 'petersen', autoMine: { kind: 'on-demand' } })
    await makeBlocks(peer, { 0: 6, 4: 3 })
    const view = await viewOf(peer)
    expect(validatorOf(ViewSchema).accepts(view)).toBe(true)
    const cut = jsonOf(await peer.get(`${PREFIX}/cut`))
    const heads = view.heads.map(({ chain, height, hash }) => [String(chain), { height, hash }])
    expect(Object.fromEntries(heads)).toEqual(cut.hashes)
    expect(view.blocks).toEqual([])
    expect(blocksOf(view).length).toBe(
      10 + Object.values(cut.hashes).reduce((sum: number, each) => sum + (each as { height: number }).height, 0),
    )
    for (const { chain, hash, parent, adjacents, createdMs, height } of blocksOf(view).filter(
      (each) => each.height > 4,
    )) {
      const headers = { accept: OBJECTS }
      const header = jsonOf(await peer.get(`${PREFIX}/chain/${chain}/header/${hash}`, { headers }))
      expect(parent).toEqual(header.parent)
      expect(height).toEqual(header.height)
      expect(createdMs).toEqual(Math.floor(header.creationTime / 1000))
      expect(adjacents.toSorted()).toEqual((Object.values(header.adjacents) as string[]).toSorted())
    }
    expect(view.status).toEqual({ ...jsonOf(await plain(peer).get('/devnet/status')), clock: expect.anything() })
  })

  it.each([
    ['twenty', 28, 30],
    ['petersen', 56, 58],
    ['pair', 120, 122],
  ] as const)('a view of the graph %s has %i heights, and less than 60 kB', async (graph, heights, made) => {
    const { peer } = await start({ graph, autoMine: { kind: 'on-demand' } })
    await makeBlocks(peer, { 0: made, 1: made })
    const { body } = await peer.get('/devnet/view')
    const { branches, heads } = JSON.parse(body.toString()) as NodeView
    const highest = Math.max(...heads.map(({ height }) => height))
    expect(branches.map(({ lowest, hashes }) => [lowest, lowest + hashes.length - 1])).toEqual(
      heads.map(({ height }) => [highest - heights + 1, height]),
    )
    expect(body.length).toBeLessThan(60_000)
  })

  it('a reader limits the heights, requests and texts of a view, which always has each head', async () => {
    const { peer } = await startLedger({ allowPrint: true })
    await makeBlocks(peer, { 0: 5 })
    for (const text of ['one', 'two']) await ok(local(peer, exec(`(print "${text}")`)))
    const asked = async (query: string) => jsonOf(await peer.get(`/devnet/view${query}`)) as NodeView
    const least = await asked('?heights=1&newest=0')
    expect(least.branches.map(({ lowest, hashes }) => [lowest, ...hashes])).toEqual(
      least.heads.map(({ height, hash }) => [height, hash]),
    )
    expect(least.heads[0].height).not.toBe(least.heads[1].height)
    expect([least.requests, least.prints]).toEqual([[], []])
    const some = await asked('?heights=3&newest=1')
    expect(some.branches[0].hashes).toHaveLength(3)
    expect(some.requests?.map(({ path }) => path)).toEqual([`${PREFIX}/chain/0/pact/api/v1/local`])
    expect(some.prints?.map(({ text }) => text)).toEqual(['two'])
    for (const query of ['heights=0', 'heights=121', 'newest=201', 'newest=-1']) {
      const refused = await peer.get(`/devnet/view?${query}`)
      expect([refused.status, refused.body.toString()]).toEqual([400, expect.stringContaining(query.split('=')[0])])
    }
  })

  it('the page derives the parents of each current block, also after a reorg of one chain', async () => {
    const { peer } = await start({ graph: 'petersen', autoMine: { kind: 'on-demand' } })
    await makeBlocks(peer, { 0: 9, 3: 5 })
    await order(plain(peer), '/devnet/fork', { chain: 0, depth: 3 })
    await makeBlocks(peer, { 7: 2 })
    const view = await viewOf(peer)
    const lowest = Math.min(...view.branches.map((each) => each.lowest))
    const orphans = view.blocks.map(({ hash }) => hash)
    expect(orphans.length).toBeGreaterThan(2)
    const derived = blocksOf(view).filter(({ hash, height }) => height > lowest && !orphans.includes(hash))
    expect(derived.length).toBeGreaterThan(20)
    for (const { chain, hash, parent, adjacents } of derived) {
      const headers = { accept: OBJECTS }
      const header = jsonOf(await peer.get(`${PREFIX}/chain/${chain}/header/${hash}`, { headers }))
      expect([parent, ...adjacents].toSorted()).toEqual(
        [header.parent, ...(Object.values(header.adjacents) as string[])].toSorted(),
      )
    }
  })

  it('the view has the balances of the chains', async () => {
    const { peer } = await startLedger()
    await ok(send(peer, [transfer('sender03', 12.5)]))
    await makeBlocks(peer, { 0: 1 })
    const { accounts } = await viewOf(peer)
    expect(accounts.map(({ account }) => account).slice(0, 3)).toEqual(['sender00', 'sender01', 'sender02'])
    for (const { account, balances } of accounts) {
      for (const [chain, balance] of balances.entries()) {
        const code = `(format "{}" [(coin.get-balance "${account}")])`
        const { result } = await ok(local(peer, exec(code, { chainId: String(chain) }), '', chain))
        expect(balance, `${account} ${chain}`).toEqual(result.data)
      }
    }
    expect(accounts[3].balances[0]).toBe('130000012.5')
  })

  it('the view has pending transactions, and results as in poll, failures included', async () => {
    const { peer } = await startLedger()
    const [good, bad] = [transfer('sender01', 3), exec('(coin.transfer "sender00" "nobody" 1.0)')]
    await ok(send(peer, [good, bad]))
    const before = await viewOf(peer)
    expect(before.pool.sizes).toEqual([2, 0])
    expect(before.pool.newest.map(({ key }) => key)).toEqual([bad.hash, good.hash])
    expect(before.pool.newest[1]).toMatchObject({ chain: 0, sender: 'sender00', gasLimit: 600, gasPrice: 1e-8 })
    expect(before.pool.newest[1].what).toBe('(coin.transfer "sender00" "sender01" 3.0)')
    await makeBlocks(peer, { 0: 1 })
    const { pool, transactions } = await viewOf(peer)
    expect(pool).toEqual({ sizes: [0, 0], newest: [] })
    const results = await ok(poll(peer, [good.hash, bad.hash]))
    for (const { key, status, gas, height, block, fault, isOrphan } of transactions) {
      const { result, metaData, ...rest } = results[key]
      expect(status).toEqual(result.status)
      expect(gas).toEqual(rest.gas)
      expect(height).toEqual(metaData.blockHeight)
      expect(block).toEqual(metaData.blockHash)
      expect(fault).toEqual(result.error?.message)
      expect(isOrphan).toBe(false)
    }
    expect(transactions.map(({ status }) => status).toSorted()).toEqual(['failure', 'success'])
  })

  it('the view has the transactions below many empty blocks, newest first', async () => {
    const { peer } = await startLedger()
    const keys: string[] = []
    for (const amount of [3, 4]) {
      const command = transfer('sender01', amount)
      await ok(send(peer, [command]))
      await makeBlocks(peer, { 0: 1 })
      keys.unshift(command.hash)
    }
    await makeBlocks(peer, { 0: 150, 1: 150 })
    const view = await viewOf(peer)
    const { transactions } = view
    expect(transactions.map(({ key }) => key)).toEqual(keys)
    expect(blocksOf(view).map(({ hash }) => hash)).not.toContain(transactions[0].block)
  })

  it('the view shows a transaction whose block was orphaned as such, and as pending again', async () => {
    const { peer } = await startLedger()
    const command = transfer('sender01', 3)
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    const [first] = (await viewOf(peer)).transactions
    await order(plain(peer), '/devnet/fork', { chain: 0, depth: 1 })
    const after = await viewOf(peer)
    expect(after.transactions.find(({ block }) => block === first.block)).toEqual({ ...first, isOrphan: true })
    const heads = after.heads.map(({ hash }) => hash)
    expect(heads).not.toContain(first.block)
    expect(after.blocks.map(({ hash }) => hash)).toContain(first.block)
    expect(after.pool.newest.map(({ key }) => key)).toEqual([command.hash])
  })

  it('the view has the last 200 requests, without those of the page itself', async () => {
    const beforeMs = Date.now()
    const { peer } = await start({ graph: 'pair', autoMine: { kind: 'on-demand' } })
    await peer.get('/devnet/view')
    await peer.get('/explorer/explorer.css')
    await peer.get('/')
    await peer.get('/nothing?really')
    await makeBlocks(peer, { 0: 1 })
    const { requests = [] } = await viewOf(peer)
    expect(requests.map(({ id, method, path, status }) => [id, method, path, status])).toEqual([
      [1, 'GET', '/nothing?really', 404],
      [2, 'POST', '/make-blocks', 200],
    ])
    for (const { atMs, ms } of requests) {
      expect(atMs).toBeGreaterThanOrEqual(beforeMs)
      expect(atMs).toBeLessThanOrEqual(Date.now())
      expect(ms).toBeGreaterThan(0)
    }
    for (let i = 0; i < 205; i++) await peer.get(`/info?${i}`)
    const last = (await viewOf(peer)).requests ?? []
    expect(last).toHaveLength(200)
    expect(last[0].path).toBe('/info?5')
    expect(last[199].path).toBe('/info?204')
    expect(last[199].id).toBe(207)
    await peer.get(`/${'x'.repeat(500)}`)
    expect((await viewOf(peer)).requests?.at(-1)?.path).toBe(`/${'x'.repeat(159)}…`)
  })
})

describe('the stream', () => {
  it('the stream begins with the whole view, and then sends changes', async () => {
    const { peer } = await startLedger()
    const stream = await watch(peer)
    expect(stream.headers['content-type']).toBe('text/event-stream')
    await expect.poll(() => told(stream).length).toBe(1)
    const [{ event, data }] = told(stream)
    expect(event).toBe('view')
    expect(data).toEqual({ ...(await viewOf(peer)), status: expect.anything() })
    await makeBlocks(peer, { 1: 1 })
    const merged = () => Object.assign({}, ...told(stream).map((each) => each.data)) as NodeView
    const cut = async () =>
      Object.values(jsonOf(await peer.get(`${PREFIX}/cut`)).hashes as Record<string, { hash: string }>)
    const heads = (await cut()).map(({ hash }) => hash)
    await expect.poll(() => merged().heads.map(({ hash }) => hash)).toEqual(heads)
    const added = told(stream)
      .slice(1)
      .flatMap((each) => each.data.blocks ?? [])
    expect(added.map(({ chain, hash }) => [chain, hash])).toEqual([[1, heads[1]]])
    // Events repeat nothing and omit unchanged parts.
    expect(
      told(stream)
        .slice(1)
        .flatMap((each) => Object.keys(each.data)),
    ).not.toContain('network')
    await order(plain(peer), '/devnet/pause', { chain: 1 })
    await expect.poll(() => merged().status?.paused).toEqual([1])
    await expect.poll(() => merged().requests?.at(-1)?.path).toBe('/devnet/pause')
  })

  it('the stream sends many blocks in one event, and only the visible ones', async () => {
    const { clock } = clockByHand()
    const { peer } = await start({ graph: 'pair', autoMine: { kind: 'on-demand' } }, { clock })
    const stream = await watch(peer)
    await expect.poll(() => told(stream).length).toBe(1)
    await makeBlocks(peer, { 0: 300, 1: 300 })
    // Readers of the view make it send to the streams at once. No time passes, so nothing else does.
    const view = await viewOf(peer)
    const { heads } = view
    await expect.poll(() => told(stream).findLast(({ data }) => data.heads)?.data.heads).toEqual(heads)
    const events = told(stream).slice(1)
    expect(events).toHaveLength(1)
    const sent = events.flatMap(({ data }) => data.blocks ?? []).map(({ hash }) => hash)
    expect(sent.toSorted()).toEqual(
      blocksOf(view)
        .map(({ hash }) => hash)
        .toSorted(),
    )
  })

  it('the stream is refused with 503 if 16 are open, until one of them ends; all end with the node', async () => {
    const { peer, devnet } = await start({ graph: 'pair', autoMine: { kind: 'on-demand' } })
    const streams = await Promise.all(Array.from({ length: 16 }, () => watch(peer)))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    expect((await watch(peer)).status).toBe(503)
    streams[0].destroy()
    const again = async () => {
      const stream = await watch(peer)
      stream.destroy()
      return stream.status
    }
    await expect.poll(again).toBe(200)
    await devnet.close()
    await Promise.all(streams.slice(1).map(({ closed }) => closed))
  })

  it('the stream has no HEAD, which would never end', async () => {
    const { peer } = await start({ graph: 'pair', pow: false })
    expect((await peer.request('HEAD', '/devnet/live')).status).toBe(405)
  })
})

describe('permissions', () => {
  const foreign: [string, Record<string, string>][] = [
    ['another host name', { host: 'evil.example:1848' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another port of this machine', { origin: 'http://localhost:3000' }],
    ['a page without an origin', { origin: 'null' }],
    ['a request across sites', { 'sec-fetch-site': 'cross-site' }],
    ['a request of another port, without an Origin', { 'sec-fetch-site': 'same-site' }],
  ]

  it.each(foreign)('%s sees neither requests nor rules set by hand, and changes nothing', async (_, headers) => {
    const { peer } = await start({ graph: 'pair', autoMine: { kind: 'on-demand' } })
    const view = await viewOf(peer, headers)
    expect(view.heads.length).toBe(2)
    expect(view.status).toBeUndefined()
    expect(view.requests).toBeUndefined()
    const stream = await watch(peer, headers)
    await expect.poll(() => told(stream).length).toBe(1)
    const others = plain(peer)
    const json = { 'content-type': 'application/json', ...headers }
    const orders = [
      ['make-blocks', '{"0":1}'],
      ['fork', '{"chain":0,"depth":1}'],
      ['pause', '{"chain":0}'],
      ['clock', '{"advanceMs":60000}'],
      ['faults', '{"operation":"cut","count":1,"status":500}'],
    ]
    for (const [name, body] of orders) {
      const { status } = await others.request('POST', `/devnet/${name}`, { headers: json, body })
      expect(status, name).toBe(403)
    }
    const { status, heads, requests = [] } = await viewOf(peer)
    expect(heads.map(({ height }) => height)).toEqual([0, 0])
    expect(status?.paused).toEqual([])
    expect(status?.faults).toEqual([])
    expect(requests.map((each) => each.status)).toEqual(orders.map(() => 403))
    expect(told(stream).flatMap(({ data }) => [data.status, data.requests])).not.toContainEqual(expect.anything())
  })

  it("the node's own page may send orders", async () => {
    const { peer } = await start({ graph: 'pair', autoMine: { kind: 'on-demand' } })
    const { host, port } = new URL(peer.url)
    for (const own of [host, `localhost:${port}`, `[::1]:${port}`]) {
      const headers = {
        host: own,
        origin: `http://${own}`,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
      }
      const { status } = await plain(peer).request('POST', '/devnet/make-blocks', { headers, body: '{"0":1}' })
      expect(status, own).toBe(200)
    }
  })
})
