/** A miner with several nodes over real HTTP: addresses of one embedded node that are shut and opened. */
import { afterEach, expect, it } from 'vitest'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { type MinerSetup, runMiner } from '../../src/compose/miner.ts'
import { decodeWorkResponse } from '../../src/core/work.ts'
import type { MinerEvent } from '../../src/mine/events.ts'
import type { Snapshot } from '../../src/mine/stats.ts'
import { NodeClient } from '../../src/node/client.ts'
import { solve } from '../solve.ts'
import { type Gate, gateTo } from '../source/gate.ts'
import { until } from '../wait.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function network(options: DevnetOptions = {}): Promise<number> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 2_000n, blockDelayMs: 200, ...options })
  cleanups.push(() => devnet.close())
  return Number(new URL(devnet.url).port)
}

async function gate(port: number, isOpen = true): Promise<Gate> {
  const made = await gateTo(port, isOpen)
  cleanups.push(() => made.shut())
  return made
}

/** Who asks for work on the page. */
const VISITOR = JSON.stringify({ account: 'visitor', predicate: 'keys-all', 'public-keys': ['ab'.repeat(32)] })

const workIn = async (answer: Response) => decodeWorkResponse(new Uint8Array(await answer.arrayBuffer()))

/** A miner for these nodes, with what it tells. */
function miner(urls: readonly string[], changes: Partial<MinerSetup> = {}) {
  const events: MinerEvent[] = []
  const stop = new AbortController()
  const setup: MinerSetup = {
    node: { url: urls[0], insecure: false, failFast: false },
    others: urls.slice(1),
    payee: { account: null, predicate: 'keys-all', publicKeys: null },
    engines: { kind: 'own', threads: 1, kernel: 'js', priority: 'normal', gpu: null },
    http: { host: '127.0.0.1', port: 0, isRequired: true, page: 'off' },
    limits: {},
    failbackMs: 3_000,
    ...changes,
  }
  let face = ''
  let pause: () => void = () => undefined
  const ended: Promise<Snapshot> = runMiner(setup, {
    onEvent: (event) => void events.push(event),
    onStart: (start) => {
      face = start.api?.url ?? ''
      pause = () => start.miner.pause()
    },
    stopped: stop.signal,
  })
  ended.catch(() => undefined)
  cleanups.push(async () => {
    stop.abort()
    await ended.catch(() => undefined)
  })
  /** An event, of those from the `first` on. */
  const seen = async (isWanted: (event: MinerEvent) => boolean, first = 0): Promise<MinerEvent> => {
    const find = () => events.find((each, index) => index >= first && isWanted(each))
    await until(() => find() !== undefined)
    return find() as MinerEvent
  }
  return {
    events,
    ended,
    stop,
    seen,
    /** Work of this node is searched. */
    workFrom: ({ url }: Gate, first = 0) => seen((each) => each.type === 'work' && each.issuer === url, first),
    /** A block that this node has in its chain. */
    blockAt: ({ url }: Gate, first = 0) => {
      const isBlock = (each: MinerEvent) =>
        each.type === 'solution' && each.verdict === 'accepted' && each.issuer === url
      return seen(isBlock, first)
    },
    said: (text: string) => seen((each) => 'message' in each && each.message.includes(text)),
    summary: async () => (await (await fetch(`${face}/api/summary`)).json()) as Snapshot,
    metrics: async () => (await fetch(`${face}/metrics`)).text(),
    /** Engines rest; nodes are watched all the same. */
    pause: () => pause(),
    /** An answer of the page's gateway. */
    page: (path: string, body?: Buffer | string) => {
      const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream'
      const sent = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': type } }
      return fetch(`${face}/mine/${path}`, sent)
    },
  }
}

const lost = ({ solutions }: Snapshot) => solutions.lost + solutions.rejected

it('goes on at the second node when the first goes away, and returns once it has been back for a while', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url])
  await mining.blockAt(a)
  const shut = mining.events.length
  await a.shut()
  await mining.workFrom(b, shut)
  const block = await mining.blockAt(b, shut)
  await mining.seen((each) => each.type === 'reward' && 'hash' in block && each.hash === block.hash)
  expect((await mining.summary()).nodes).toMatchObject([
    { url: a.url, up: false, active: false, latencyMs: null, lag: null },
    { url: b.url, up: true, active: true, latencyMs: expect.any(Number), lag: 0, problem: null },
  ])
  expect(await mining.metrics()).toContain(`newcut_node_up{node="${a.url}"} 0`)
  const opened = mining.events.length
  await a.open()
  const returned = await mining.workFrom(a, opened)
  await mining.blockAt(a, mining.events.indexOf(returned))
  expect(await mining.metrics()).toContain(`newcut_node_active{node="${a.url}"} 1`)
  mining.stop.abort()
  expect(lost(await mining.ended)).toBe(0)
})

it('goes on at the second node when the first takes connections and answers nothing', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url])
  await mining.blockAt(a)
  const hung = mining.events.length
  a.hang()
  const switched = await mining.workFrom(b, hung)
  await mining.blockAt(b, mining.events.indexOf(switched))
})

it('rests when all nodes are gone, says so, and goes on with the first that is back', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url])
  await mining.blockAt(a)
  const shut = mining.events.length
  await Promise.all([a.shut(), b.shut()])
  await mining.said(`${a.url} does not answer`)
  await mining.said(`${b.url} does not answer`)
  await mining.seen(({ type }) => type === 'idle', shut)
  expect((await mining.summary()).work).toBeNull()
  const opened = mining.events.length
  await b.open()
  await mining.workFrom(b, opened)
  await mining.blockAt(b, opened)
})

it('waits for nodes that are down at the start, and begins with the first that answers', async () => {
  const port = await network()
  const [a, b] = [await gate(port, false), await gate(port, false)]
  const mining = miner([a.url, b.url])
  const waiting = await mining.said('waiting for the node')
  expect(waiting).toMatchObject({ type: 'trouble', message: expect.stringContaining(b.url) })
  await b.open()
  const first = await mining.workFrom(b)
  await a.open()
  await mining.workFrom(a, mining.events.indexOf(first))
})

it('ends with an error when no node answers at the start and that is wanted, but not when one does', async () => {
  const port = await network()
  const [a, b] = [await gate(port, false), await gate(port, false)]
  const node = { url: a.url, insecure: false, failFast: true }
  await expect(miner([a.url, b.url], { node }).ended).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' })
  await b.open()
  const mining = miner([a.url, b.url], { node, limits: { blocks: 1 } })
  expect((await mining.ended).solutions.accepted).toBe(1)
})

it('refuses nodes of different networks, and the same node twice', async () => {
  const [a, b] = [await gate(await network()), await gate(await network({ graph: 'petersen' }))]
  await expect(miner([a.url, b.url]).ended).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: `--node: nodes of different networks: ${a.url} is of development (2 chains), ${b.url} is of development (10 chains)`,
  })
  await expect(miner([a.url, `${a.url}/`]).ended).rejects.toMatchObject({ code: 'BAD_OPTION' })
})

it('leaves a node out that comes up later with another network', async () => {
  const a = await gate(await network())
  const b = await gate(await network({ difficulty: 3_000n }), false)
  const mining = miner([b.url, a.url], { failbackMs: 100 })
  await mining.blockAt(a)
  await b.open()
  const said = await mining.said(`${b.url} is of another network: development (2 chains)`)
  let block = said
  for (let i = 0; i < 5; i++) block = await mining.blockAt(a, mining.events.indexOf(block) + 1)
  expect(mining.events.filter((event) => event.type === 'work' && event.issuer === b.url)).toEqual([])
})

it('gives blocks to another embedded node, which goes on with the same chains when the first is gone', async () => {
  const ports = [await network(), await network()]
  const [a, b] = [await gate(ports[0]), await gate(ports[1])]
  const mining = miner([a.url, b.url])
  const blocks = () => mining.events.filter((event) => event.type === 'solution' && event.verdict === 'accepted')
  await until(() => blocks().length >= 20)
  await a.shut()
  const shut = mining.events.length
  const { height } = (await mining.workFrom(b, shut)) as MinerEvent & { readonly height: number }
  expect(height).toBeGreaterThan(8)
  await mining.blockAt(b, shut)
})

it('does not give blocks to other nodes when that is not wanted', async () => {
  const ports = [await network(), await network()]
  const [a, b] = [await gate(ports[0]), await gate(ports[1])]
  const mining = miner([a.url, b.url], { shareBlocks: false, limits: { blocks: 3 } })
  await mining.ended
  const client = await NodeClient.connect({ url: b.url })
  expect((await client.cut()).height).toBe(0)
  await client.close()
})

it('gives the page that mines the work of the second node when the first goes away, and takes solutions of both', async () => {
  const port = await network()
  const [a, b] = [await gate(port), await gate(port)]
  const mining = miner([a.url, b.url], { http: { host: '127.0.0.1', port: 0, isRequired: true, page: 'on' } })
  await mining.workFrom(a)
  mining.pause()
  const ask = () => mining.page('work', VISITOR)
  const handIn = async (bytes: Uint8Array) => {
    const answer = await mining.page('solved', Buffer.from(solve(bytes)))
    return (await answer.json()) as { readonly verdict: string }
  }
  // What the engines found last may still come first.
  while ((await handIn((await workIn(await ask())).bytes)).verdict !== 'accepted');
  const first = await workIn(await ask())
  const updates = (await mining.page(`updates?chain=${first.fields.chainId}`)).body?.getReader()
  await a.shut()
  await until(async () => (await ask()).status === 200)
  // The page opens another stream, at the node that gives work now.
  for (let isOver = false; !isOver; ) isOver = (await updates?.read())?.done ?? true
  // Only the first knows its payload; here the same node is behind the other address too.
  expect(await handIn(first.bytes)).toMatchObject({ verdict: 'accepted', chain: first.fields.chainId })
  expect(await handIn((await workIn(await ask())).bytes)).toMatchObject({ verdict: 'accepted' })
})
