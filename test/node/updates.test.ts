/** Update streams as async iterables. */
import type http from 'node:http'
import { expect, it } from 'vitest'
import {
  type Gap,
  type HeaderNews,
  type NewcutError,
  type NodeClient,
  NodeMisbehaved,
} from '../../src/client/node/public.ts'
import type { Block } from '../../src/devnet/store/block-store.ts'
import { encodeWork } from '../../src/ground/chain/header.ts'
import { powHash } from '../../src/ground/chain/pow.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { until } from '../wait.ts'
import { FakeNode, failureOf, PREFIX, text } from './fake-node.ts'
import { blocksOf, devnet, headerJson, mine, payloadJson } from './mined.ts'

const bigEndian = (bytes: Uint8Array) => Buffer.from(bytes).reverse().toString('hex')

/** A block as an update event of a node. */
function eventOf(block: Block, change: object = {}, name = 'BlockHeader'): string {
  const target = block.header.target.toString(16).padStart(64, '0')
  const pow = bigEndian(powHash(encodeWork(block.header)))
  const data = { header: headerJson(block), txCount: 3, powHash: pow, target, ...change }
  return `event:${name}\ndata:${JSON.stringify(data)}\n\n`
}

const HEAD = { 'content-type': 'text/event-stream' }

/** A node whose streams the test writes, blocks to write, and the clock of its client's pauses. */
async function streaming(path = '/header/updates') {
  const mined = await devnet()
  await mine(mined.client, 5)
  const node = await FakeNode.start()
  const clock = new VirtualClock()
  let pauseMs = 0
  const after = (delayMs: number, run: () => void) => {
    pauseMs = delayMs
    return clock.after(delayMs, run)
  }
  const client = await node.connect({ clock: { ...clock, after }, timeoutMs: 0 })
  const opened: http.ServerResponse[] = []
  node.onNetwork('GET', path, (_seen, response) => {
    response.writeHead(200, HEAD)
    response.flushHeaders()
    opened.push(response)
    return undefined
  })
  const last = async () => {
    await until(() => opened.length > 0)
    return opened[opened.length - 1]
  }
  /** Waits until the client pauses before its next attempt, and lets the pause pass. */
  const passPause = async () => {
    await until(() => clock.pending > 0)
    await clock.pass(pauseMs)
  }
  return { node, client, clock, passPause, opened, last, blocks: blocksOf(mined.node, 0) }
}

const heightOf = (news: HeaderNews | Gap | undefined) =>
  news === undefined ? 'end' : news.type === 'gap' ? `gap ${news.reason} ${news.dropped}` : Number(news.header.height)

/** Reads the next items of an open iteration. */
async function read(iterator: AsyncIterator<HeaderNews | Gap, undefined>, count: number) {
  const seen = []
  for (let i = 0; i < count; i++) seen.push(heightOf((await iterator.next()).value))
  return seen
}

it('headerUpdates() yields headers as they arrive, decoded or as objects', async () => {
  const { client, opened, last, blocks } = await streaming()
  const updates = client.headerUpdates()[Symbol.asyncIterator]()
  const next = updates.next()
  ;(await last()).write(eventOf(blocks[1]) + eventOf(blocks[2], {}, 'Block'))
  const { header } = blocks[1]
  const pow = bigEndian(powHash(encodeWork(header)))
  expect((await next).value).toEqual({ type: 'block', header, powHash: pow, target: header.target, txCount: 3 })
  expect(await read(updates, 1)).toEqual([2])
  await updates.return?.()
  const objects = client.headerUpdates({ encoding: 'object' })[Symbol.asyncIterator]()
  const object = objects.next()
  await until(() => opened.length > 1)
  ;(await last()).write(eventOf(blocks[3]))
  expect((await object).value).toMatchObject({ header: { hash: blocks[3].id, height: 3 } })
  await objects.return?.()
})

it('headerUpdates() reconnects when the node ends the stream, and reports the gap', async () => {
  const { client, passPause, opened, last, blocks } = await streaming()
  const troubles: NewcutError[] = []
  let opens = 0
  const options = { onOpen: () => opens++, onTrouble: (error: NewcutError) => troubles.push(error) }
  const updates = client.headerUpdates(options)[Symbol.asyncIterator]()
  const first = read(updates, 1)
  const response = await last()
  response.end(eventOf(blocks[1]))
  expect(await first).toEqual([1])
  await passPause()
  await until(() => opened.length > 1)
  opened[1].write(eventOf(blocks[2]))
  expect(await read(updates, 2)).toEqual(['gap reconnected null', 2])
  expect(opens).toBe(2)
  // The stream ended within a second, which is irregular, so the client reports the pause before the next attempt.
  expect(troubles).toMatchObject([{ code: 'NODE_MISBEHAVED', retryable: true, operation: 'headerUpdates' }])
  await updates.return?.()
})

it('headerUpdates() reports one gap if it reconnected twice before a read', async () => {
  const { client, passPause, opened, last, blocks } = await streaming()
  const updates = client.headerUpdates()[Symbol.asyncIterator]()
  const first = read(updates, 1)
  ;(await last()).end(eventOf(blocks[1]))
  expect(await first).toEqual([1])
  await passPause()
  await until(() => opened.length > 1)
  opened[1].end()
  await passPause()
  await until(() => opened.length > 2)
  opened[2].write(eventOf(blocks[2]) + eventOf(blocks[3]))
  expect(await read(updates, 3)).toEqual(['gap reconnected null', 2, 3])
  await updates.return?.()
})

it('headerUpdates() retries a 503, and ends with a 404', async () => {
  const { node, client, clock, passPause, opened, blocks } = await streaming()
  const troubles: NewcutError[] = []
  let asked = 0
  node.onNetwork('GET', '/header/updates', (_seen, response) => {
    if (++asked < 3) return text('Retry later.', 503)
    response.writeHead(200, HEAD)
    opened.push(response)
    response.write(eventOf(blocks[1]))
    return undefined
  })
  const updates = client.headerUpdates({ onTrouble: (error) => troubles.push(error) })[Symbol.asyncIterator]()
  const first = read(updates, 1)
  for (let i = 0; i < 2; i++) {
    await until(() => troubles.length > i)
    await passPause()
  }
  expect(await first).toEqual([1])
  expect(troubles).toMatchObject([{ status: 503 }, { status: 503 }])
  node.onNetwork('GET', '/header/updates', () => ({ status: 404 }))
  const count = node.requests.length
  const failed = failureOf(updates.next())
  opened[0].end()
  await passPause()
  const error = await failed
  expect(error).toMatchObject({
    status: 404,
    operation: 'headerUpdates',
    hint: expect.stringContaining('headerStream'),
  })
  expect(await updates.next()).toEqual({ value: undefined, done: true })
  await clock.pass(86_400_000)
  expect(node.requests.length).toEqual(count + 1)
  expect(clock.pending).toBe(0)
})

it('a slow reader gets the newest updates, and learns how many it missed', async () => {
  const { client, last, blocks } = await streaming()
  let hasEnded = false
  const onTrouble = () => {
    hasEnded = true
  }
  const updates = client.headerUpdates({ mostBuffered: 2, onTrouble })[Symbol.asyncIterator]()
  const first = read(updates, 1)
  const response = await last()
  response.write(eventOf(blocks[0]))
  expect(await first).toEqual([0])
  for (const block of blocks.slice(1)) response.write(eventOf(block))
  // The client reports the end of a stream after it has read all of it.
  response.end()
  await until(() => hasEnded)
  expect(await read(updates, 3)).toEqual(['gap overflow 3', 4, 5])
  expect(() => client.headerUpdates({ mostBuffered: 0 })[Symbol.asyncIterator]()).toThrow(/mostBuffered/)
  await updates.return?.()
})

it('headerUpdates() drops its connection when its signal aborts and when the iteration ends', async () => {
  const { client, opened, last } = await streaming()
  const stop = new AbortController()
  const aborted = client.headerUpdates({ signal: stop.signal })[Symbol.asyncIterator]()
  const waiting = aborted.next()
  const first = await last()
  const closed = new Promise((resolve) => first.on('close', resolve))
  stop.abort()
  expect(await waiting).toEqual({ value: undefined, done: true })
  await closed
  const left = client.headerUpdates()[Symbol.asyncIterator]()
  const pending = left.next()
  await until(() => opened.length > 1)
  const second = await last()
  expect(second).not.toBe(first)
  const ended = new Promise((resolve) => second.on('close', resolve))
  expect(await left.return?.()).toEqual({ value: undefined, done: true })
  expect(await pending).toEqual({ value: undefined, done: true })
  await ended
})

it('headerUpdates() with a signal fails like one without, but not after an abort', async () => {
  const { node, client, opened, last, blocks } = await streaming()
  const stop = new AbortController()
  const failing = client.headerUpdates({ signal: stop.signal })[Symbol.asyncIterator]()
  const failure = failureOf(failing.next())
  ;(await last()).write('event:BlockHeader\ndata:{}\n\n')
  expect(await failure).toMatchObject({ name: 'NodeMisbehaved', operation: 'headerUpdates' })
  const asked: http.ServerResponse[] = []
  node.setDefaultAnswer((_seen, response) => {
    asked.push(response)
    return undefined
  })
  const judging = client.headerUpdates({ signal: stop.signal, verify: true })[Symbol.asyncIterator]()
  const next = judging.next()
  await expect.poll(() => opened.length).toBe(2)
  opened[1].write(eventOf(blocks[2]))
  // The client waits for the parent to judge the header, and the parent never comes.
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  stop.abort()
  for (const response of asked) response.writeHead(404).end()
  expect(await next).toEqual({ value: undefined, done: true })
})

const wrong: [string, (block: Block, other: Block) => string, RegExp][] = [
  ['data that are not JSON', () => 'event:BlockHeader\ndata:{"header":\n\n', /not JSON/],
  ['no header in its data', () => 'event:BlockHeader\ndata:{"txCount":1}\n\n', /must have required properties/],
  ['a header without its target', (block) => eventOf(block, { header: { ...headerJson(block), target: 1 } }), /target/],
  [
    'a hash whose unused bits are set',
    (block) => eventOf(block, { header: { ...headerJson(block), parent: '_'.repeat(43) } }),
    /parent/,
  ],
  [
    'a header of an unknown network',
    (block) => eventOf(block, { header: { ...headerJson(block), chainwebVersion: '?' } }),
    /version/,
  ],
]
it.each(wrong)('an event with %s ends the iteration with an error', async (_name, event, message) => {
  const { client, last, blocks } = await streaming()
  const updates = client.headerUpdates()[Symbol.asyncIterator]()
  const next = updates.next()
  ;(await last()).write(event(blocks[1], blocks[2]))
  expect(await failureOf(next)).toMatchObject({
    name: 'NodeMisbehaved',
    operation: 'headerUpdates',
    message: expect.stringMatching(message),
  })
  expect((await updates.next()).done).toBe(true)
})

it('a web page in place of a stream ends the iteration with NODE_MISBEHAVED', async () => {
  const { node, client } = await streaming()
  node.onNetwork('GET', '/header/updates', () => ({ headers: { 'content-type': 'text/html' }, body: '<html>' }))
  expect(await failureOf(client.headerUpdates()[Symbol.asyncIterator]().next())).toMatchObject({
    name: 'NodeMisbehaved',
    message: expect.stringContaining('text/html is not an event stream'),
    operation: 'headerUpdates',
  })
})

it('an event over 16 MiB ends the iteration with NODE_MISBEHAVED', async () => {
  const { client, last } = await streaming()
  const failure = failureOf(client.headerUpdates()[Symbol.asyncIterator]().next())
  const response = await last()
  const piece = `data:${'x'.repeat(1024 * 1024)}\n`
  response.on('error', () => undefined)
  // A write to a connection that the client has just closed calls no callback.
  const left = new Promise((resolve) => response.on('close', resolve))
  for (let i = 0; i < 20 && !response.destroyed; i++) {
    await Promise.race([left, new Promise((resolve) => response.write(piece, resolve))])
  }
  const error = await failure
  expect(error).toBeInstanceOf(NodeMisbehaved)
  expect(error).toMatchObject({
    message: expect.stringMatching(/^http.*header\/updates: an event of the stream is longer than 16777216 bytes$/),
    operation: 'headerUpdates',
    retryable: false,
  })
})

it('blockUpdates() yields payloads, and refuses a block without one', async () => {
  const { client, last, blocks } = await streaming('/block/updates')
  const updates = client.blockUpdates()[Symbol.asyncIterator]()
  const next = updates.next()
  const payloadWithOutputs = payloadJson(blocks[1].payload)
  ;(await last()).write(eventOf(blocks[1], { payloadWithOutputs }) + eventOf(blocks[2]))
  expect((await next).value).toMatchObject({ header: blocks[1].header, payloadWithOutputs })
  expect(await failureOf(updates.next())).toMatchObject({ message: expect.stringContaining('without its payload') })
})

it('headerUpdates({ verify: true }) passes true headers, and refuses a wrong powHash or target', async () => {
  const mined = await devnet()
  const iterate = (client: NodeClient, onOpen: () => void = () => undefined) =>
    client.headerUpdates({ verify: true, onOpen })[Symbol.asyncIterator]()
  let open: () => void = () => undefined
  const isOpen = new Promise<void>((resolve) => {
    open = resolve
  })
  const honest = iterate(mined.client, open)
  const next = honest.next()
  await isOpen
  await mine(mined.client, 2)
  expect(heightOf((await next).value)).toBe(1)
  expect(await read(honest, 5)).toEqual([1, 1, 2, 2, 2])
  await honest.return?.()
  for (const [change, message] of [
    [{ powHash: '0'.repeat(64) }, /powHash/],
    [{ target: 'f'.repeat(64) }, /target/],
  ] as const) {
    const { client, last, blocks } = await streaming()
    const updates = iterate(client)
    const lie = updates.next()
    ;(await last()).write(eventOf(blocks[1], change))
    expect(await failureOf(lie)).toMatchObject({ name: 'NodeMisbehaved', message: expect.stringMatching(message) })
  }
})

it('updates() reports new and refreshed work, and nothing else', async () => {
  const { node, client, last } = await streaming('/mining/updates')
  const updates = client.updates(7)[Symbol.asyncIterator]()
  const next = updates.next()
  ;(await last()).write('event:New Cut\n\nevent: Refreshed Block\n\nevent:Other\n\nevent:New Cut\n\n')
  expect((await next).value).toEqual({ type: 'newCut' })
  expect((await updates.next()).value).toEqual({ type: 'refreshed' })
  expect((await updates.next()).value).toEqual({ type: 'newCut' })
  expect(node.last).toMatchObject({ path: `${PREFIX}/mining/updates`, body: Buffer.of(7, 0, 0, 0) })
  await updates.return?.()
  expect(() => client.updates(-1)).toThrow(/chain -1/)
})
