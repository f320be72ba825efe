/** A miner with several nodes that go down, come back, or start late. */
import { expect, it } from 'vitest'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import { until } from '../wait.ts'
import { gate, lost, miner, network } from './several-nodes.ts'

it('a miner with two nodes fails over to the second node when the first goes down, and fails back once it has been up for a while', async () => {
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

it('a miner with two nodes rests when all nodes are down, says so, and resumes with the first that is back', async () => {
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

it('a miner with two nodes waits for nodes that are down at the start, and begins with the first that answers', async () => {
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

it('a miner with two nodes ignores a node that comes up later with another network', async () => {
  const a = await gate(await network())
  const b = await gate(await network({ difficulty: 3_000n }), false)
  const mining = miner([b.url, a.url], { source: { failbackMs: 100 } })
  await mining.blockAt(a)
  await b.open()
  const said = await mining.said(`${b.url} is of another network: development (2 chains)`)
  let block = said
  for (let i = 0; i < 5; i++) block = await mining.blockAt(a, mining.events.indexOf(block) + 1)
  expect(mining.events.filter((event) => event.type === 'work' && event.issuer === b.url)).toEqual([])
})

it('a miner with two nodes copies blocks to another embedded node, which continues the same chains when the first is down', async () => {
  const ports = [await network(), await network()]
  const [a, b] = [await gate(ports[0]), await gate(ports[1])]
  const mining = miner([a.url, b.url])
  const blocks = () => mining.events.filter((event) => event.type === 'solution' && event.verdict === 'accepted')
  const copied = async () => {
    const cut = await fetch(`${b.url}/chainweb/0.0/development/cut`)
    return ((await cut.json()) as { readonly height: number }).height
  }
  await until(async () => blocks().length >= 20 && (await copied()) >= 20)
  await a.shut()
  const shut = mining.events.length
  const { height } = (await mining.workFrom(b, shut)) as MinerEvent & { readonly height: number }
  expect(height).toBeGreaterThan(8)
  await mining.blockAt(b, shut)
})
