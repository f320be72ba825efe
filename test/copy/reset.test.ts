/** `POST /devnet/reset` with a fork: a running node switches to another network on the same port. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { pinText } from '../../src/language/copy/pin.ts'
import { exec, transfer } from '../devnet/commands-common.ts'
import { Heard } from '../devnet/heard.ts'
import { until } from '../wait.ts'
import { folder } from './network.ts'
import { type Manner, proxyTo } from './proxy.ts'

const HEIGHT = 2
let remote: Devnet

/** Coins of sender01: 1 more at height 1, 2 more at height 2. */
beforeAll(async () => {
  remote = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' } })
  await remote.fund('sender01', 1)
  await remote.mine({ 1: 1 })
  await remote.fund('sender01', 2)
  await remote.mine({ 1: 1 })
})
afterAll(() => remote.close())

async function start(options: DevnetOptions = {}): Promise<Devnet> {
  const devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' }, ...options })
  onTestFinished(() => devnet.close())
  return devnet
}

const forkAt = (height: number, url = remote.url) => ({ url, cut: String(height), perSecond: 1000 })
const coins = async ({ url }: Devnet) => {
  const command = exec('(coin.get-balance "sender01")')
  const path = `${url}/chainweb/0.0/development/chain/0/pact/api/v1/local?preflight=false`
  return (await jsonAt(path, command)).result.data
}
const jsonAt = async (url: string, body: unknown) => JSON.parse(await (await postTo(url, body)).text())
const postTo = (url: string, body: unknown, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
const orderTo = async ({ url }: Devnet, order: string, body: unknown) => {
  const { status, ...answer } = await postTo(`${url}/devnet/${order}`, body).then(async (response) => {
    return { status: response.status, text: await response.text() }
  })
  return [status, answer.text]
}
const sendTo = async ({ url }: Devnet, ...cmds: unknown[]) => {
  const { status } = await postTo(`${url}/chainweb/0.0/development/chain/0/pact/api/v1/send`, { cmds })
  expect(status).toBe(200)
}

it('a node resets to a fork, to another pin, and to a network of its own', async () => {
  const notices: string[] = []
  const devnet = await start({ onNotice: (notice) => notices.push(notice) })
  const { url } = devnet
  const whole = await coins(devnet)
  const turned = await devnet.reset({ fork: forkAt(HEIGHT) })
  const state = { url: remote.url, network: 'development', height: HEIGHT, requests: expect.any(Number) }
  expect(turned).toMatchObject({ heights: { 0: HEIGHT, 1: HEIGHT }, fork: state })
  expect(devnet.url).toEqual(url)
  expect(devnet.cut.size).toBe(2)
  expect(devnet.settings.graph).toBe('pair')
  expect(devnet.fork?.pin.height).toEqual(HEIGHT)
  expect(await coins(devnet)).toBe(whole + 3)
  expect(notices.at(-1)).toContain(`reset: a fork of development at height ${HEIGHT}, from ${remote.url}; the same`)
  // It is a whole node: it makes blocks, and goes back to its own start.
  const { height } = await devnet.fund('sender01', 4)
  expect(height).toEqual(HEIGHT + 1)
  expect(await coins(devnet)).toEqual(whole + 7)
  expect(await devnet.reset()).toMatchObject({ heights: { 0: HEIGHT }, fork: state })
  expect(await coins(devnet)).toBe(whole + 3)

  expect((await devnet.reset({ fork: forkAt(1) })).fork?.height).toBe(1)
  expect(await coins(devnet)).toBe(whole + 1)
  expect(await devnet.reset({ fork: null })).toMatchObject({ heights: { 0: 0 }, fork: null })
  expect(devnet.fork).toBe(null)
  expect(devnet.settings.graph).toBe('singleton')
  expect(devnet.cut.size).toBe(1)
  expect(await coins(devnet)).toEqual(whole)
})

it('a reset ends streams, empties the mempool, reports the fate of transactions, and undoes all settings', async () => {
  const heard = new Heard()
  const devnet = await start({ onTransaction: heard.tell, phraseAccounts: 1 })
  const root = `${devnet.url}/chainweb/0.0/development`
  const streams = await Promise.all(
    [`${root}/header/updates`, `${root}/block/updates`, `${devnet.url}/devnet/live`].map((each) => fetch(each)),
  )
  const ends = streams.map((stream) => stream.text())
  const [held, pending] = [transfer('sender01', 1), transfer('sender01', 2)]
  await sendTo(devnet, held)
  await devnet.mine({ 0: 1 })
  await sendTo(devnet, pending)
  const listening = postTo(`${root}/chain/0/pact/api/v1/listen`, { listen: pending.hash })
  await devnet.impersonate(['*'])
  await devnet.gas({ minPrice: '1' })
  await devnet.time.advance(60_000)
  await orderTo(devnet, 'mining', { mode: 'constant', blockTimeMs: 10 ** 8 })
  await orderTo(devnet, 'pause', { chain: 0 })
  await orderTo(devnet, 'faults', { operation: 'cut', count: 5, status: 500 })
  await devnet.snapshot()
  const before = heard.all.length
  await devnet.reset({ fork: forkAt(HEIGHT) })
  // Whole streams: the connection did not break.
  const [headers] = await Promise.all(ends)
  expect(headers).toContain('event:BlockHeader')
  const answer = await listening
  expect(answer.status).toBe(503)
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  expect(await answer.text()).toMatch(/turned to another network .*: ask again/)
  const status = JSON.parse(await (await fetch(`${devnet.url}/devnet/status`)).text())
  expect(status).toMatchObject({
    mode: 'blocks by POST /make-blocks',
    paused: [],
    faults: [],
    snapshots: [],
    impersonated: [],
    streams: { open: { header: 0, block: 0 } },
    gas: { minPrice: '0.00000001' },
  })
  expect(status.clock.aheadMs).toBeLessThan(50_000)
  expect(devnet.pending).toBe(0)
  expect(devnet.accounts).toHaveLength(1)
  const keys: unknown[] = [held.hash, pending.hash]
  const steps = () =>
    heard.all.slice(before).filter((event) => event.step !== 'skipped' && keys.includes(event.requestKey))
  await until(() => steps().length === 2)
  expect(
    steps()
      .map(({ step }) => step)
      .toSorted(),
  ).toEqual(['dropped', 'undone'])
  // New streams have the blocks of the new network, which funded its accounts again.
  const next = await fetch(`${root}/header/updates`)
  await devnet.mine({ 0: 1 })
  const { value } = (await next.body?.getReader().read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toContain(`"height":${Number(devnet.cut.get(0)?.height)}`)
  await sendTo(devnet, held)
  expect(devnet.pending).toBe(1)
})

/** Properties that a failed reset must not change. */
async function imageOf(devnet: Devnet) {
  const { settings, cut, pending, fork } = devnet
  return { settings, fork, pending, heads: [...cut.values()].map(({ hash }) => Buffer.from(hash).toString('hex')) }
}

it('a node stays as it is if a reset fails, and reports the reason', async () => {
  const devnet = await start()
  await devnet.mine({ 0: 3 })
  await sendTo(devnet, transfer('sender01', 1))
  const stream = await fetch(`${devnet.url}/chainweb/0.0/development/header/updates`)
  const image = await imageOf(devnet)
  const proxy = await proxyTo(remote.url)
  const odd: Manner = async () => ({ status: 404, body: '"nothing"' })
  const pin = JSON.parse(pinText({ network: 'development', height: 1, hashes: new Map([[0, 'A'.repeat(43)]]) }))
  const cases: [unknown, number, RegExp, Manner?][] = [
    [{ url: proxy.url }, 502, /is not a chainweb node: GET \/info .* The node stays as it is/, odd],
    [forkAt(500, proxy.url), 400, /`fork.cut: 500`: the lowest chain has height 2/],
    [{ ...forkAt(1, proxy.url), cut: pin }, 502, /pinned block A+ of chain 0 is not on the chain .*begin a new fork/],
    [{ ...forkAt(1, proxy.url), chains: [0, 7] }, 400, /the network has no chain 7/],
    [{ ...forkAt(1, proxy.url), cacheFolder: '/dev/null' }, 400, /the cache \/dev\/null.* cannot be used/],
    [{ cut: '1' }, 400, /\/fork\/url: missing/],
    [{ url: 'file:///etc/passwd' }, 400, /fork/],
    [{ ...forkAt(1), cut: '/etc/passwd' }, 400, /fork/],
    [{ ...forkAt(1), unknown: 1 }, 400, /fork/],
  ]
  for (const [fork, status, text, manner] of cases) {
    proxy.manner = manner ?? ((_, forward) => forward())
    expect(await orderTo(devnet, 'reset', { fork }), JSON.stringify(fork)).toEqual([
      status,
      expect.stringMatching(text),
    ])
  }
  expect(await imageOf(devnet)).toEqual(image)
  // The stream of before goes on.
  const reader = stream.body?.getReader()
  await devnet.mine({ 0: 1 })
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"height":4')
  await reader?.cancel()
})

it('a node on disk or with proof of work resets to no other network', async () => {
  const directory = folder()
  const disk = [
    [{ dataDir: join(directory, 'data') }, `keeps its blocks in ${directory}/data (\`dataDir\`)`],
    [{ stateFile: join(directory, 'state') }, `writes its network to ${directory}/state (\`stateFile\`)`],
  ] as const
  for (const [options, why] of disk) {
    const devnet = await start(options)
    for (const fork of [forkAt(1), null]) {
      expect(await orderTo(devnet, 'reset', { fork })).toEqual([409, expect.stringContaining(why)])
    }
    expect(await orderTo(devnet, 'reset', {})).toMatchObject([200, expect.any(String)])
    await devnet.close()
  }
  const works = [
    { pow: true, difficulty: 1n, autoMine: undefined },
    { autoMine: { kind: 'simulated', hashesPerSecond: 1000 } },
  ] as const
  for (const { autoMine, ...options } of works) {
    const devnet = await start({ ...options, autoMine: autoMine as never })
    const refused = await orderTo(devnet, 'reset', { fork: forkAt(1) })
    expect(refused).toEqual([409, expect.stringMatching(/^a fork has no proof of work: .* Start the node without/)])
    await devnet.close()
  }
})

it('a reset network begins with the options of the start, and with a cut of its own', async () => {
  const proxy = await proxyTo(remote.url)
  const cut = join(folder(), 'cut.json')
  const cacheFolder = folder()
  const devnet = await start({
    graph: undefined,
    fork: { ...forkAt(1, proxy.url), chains: [0], cacheFolder, time: 'pinned' },
  })
  const { pin } = devnet.fork ?? {}
  if (pin === undefined) throw new Error('no fork')
  writeFileSync(cut, pinText(pin))
  // The default of the cut is 10 blocks below the heads: the first block here.
  const { fork, clock } = await devnet.reset({ fork: {} })
  expect(fork).toMatchObject({ url: proxy.url, height: 0 })
  // The time of the pinned block, as at the start.
  expect(clock.aheadMs).toBeLessThan(0)
  const seen = proxy.seen.length
  expect((await devnet.reset({ fork: { cut } })).fork).toMatchObject({ height: 1, requests: 0 })
  expect(proxy.seen).toHaveLength(seen)
  expect(await devnet.reset({ fork: { cut: ` ${pinText(pin)}`, chains: undefined } })).toMatchObject({
    fork: { requests: 0 },
  })
  const [status, answer] = await orderTo(devnet, 'reset', { fork: { cut: 1, chains: null, cacheFolder: null } })
  expect(status).toBe(200)
  expect(JSON.parse(String(answer)).fork.height).toBe(1)
  expect(proxy.seen.length).toBeGreaterThan(seen)
  await expect(devnet.reset({ fork: { cut: join(cacheFolder, 'none.json') } })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: expect.stringMatching(/^cut: .*none\.json: it does not exist \(ENOENT\)/),
  })
})

it('a node abandons a reset whose caller leaves, and one that meets the end of the node', async () => {
  const waiting: (() => void)[] = []
  const server = createServer((_, response) => {
    waiting.push(() => response.writeHead(404).end('"no"'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const slow = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const devnet = await start()
  const left = new AbortController()
  const reset = postTo(`${devnet.url}/devnet/reset`, { fork: { url: slow } }, left.signal)
  await until(() => waiting.length === 1)
  // Orders wait for their turn, and it comes.
  const mined = devnet.mine({ 0: 1 })
  left.abort()
  await expect(reset).rejects.toThrow()
  expect((await mined).heights).toEqual({ 0: 1 })
  const second = orderTo(devnet, 'reset', { fork: { url: slow } })
  await until(() => waiting.length === 2)
  await devnet.close()
  expect(await second).toEqual([503, 'the node is stopping'])
  for (const answer of waiting) answer()
})

it('a node refuses control requests that waited during the reset', async () => {
  const devnet = await start()
  const proxy = await proxyTo(remote.url)
  let go: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  proxy.manner = async (_, forward) => {
    await held
    return forward()
  }
  const reset = orderTo(devnet, 'reset', { fork: forkAt(1, proxy.url) })
  await until(() => proxy.seen.length > 0)
  const late = [orderTo(devnet, 'make-blocks', { 0: 1 }), orderTo(devnet, 'reset', { fork: null })]
  // Both wait in the queue of orders: a call that needs no turn was answered after them.
  await fetch(`${devnet.url}/devnet/status`)
  go()
  expect((await reset)[0]).toBe(200)
  const turned = [503, expect.stringContaining('turned to another network')]
  expect(await Promise.all(late)).toEqual([turned, turned])
  expect([...devnet.cut.values()].map(({ height }) => Number(height))).toEqual([1, 1])
})
