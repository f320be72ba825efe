import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { type Signed, signed } from './command.ts'
import { brief, expectCommonHeaders, jsonOf, OBJECTS, PREFIX, start, TEXT } from './common.ts'
import { Fork, growCut, idOf } from './forks.ts'
import { OpenResponse } from './request.ts'
import type { Devnet, DevnetOptions } from './whole-node.ts'

const fast: DevnetOptions = { graph: 'pair', pow: false, difficulty: 1n }

async function open(devnet: Devnet, path: string): Promise<OpenResponse> {
  const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/${path}`)
  onTestFinished(() => stream.destroy())
  return stream
}

async function opened(devnet: Devnet, path: string): Promise<OpenResponse> {
  const stream = await open(devnet, path)
  expect(stream.status).toBe(200)
  expect(stream.headers['content-type']).toBe('text/event-stream')
  expectCommonHeaders(stream)
  return stream
}

/** The data of all events so far. */
const dataOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      expect(event).toMatch(/^event:BlockHeader\ndata:[^\n]+$/)
      return JSON.parse(event.slice(event.indexOf('{')))
    })

/** A command of one megabyte: a meaningless proof, which costs no gas. */
const large = (chain: number): Signed => {
  const cont = { pactId: 'p', step: 1, rollback: false, proof: randomBytes(500_000).toString('hex'), data: {} }
  return signed({ chainId: `${chain}` }, { payload: { cont } })
}

const eventsOf = async (stream: OpenResponse, count: number) => {
  while (stream.text.split('\n\n').length <= count) await stream.read(stream.text.length + 1)
  return dataOf(stream.text)
}

it('block/updates sends the events of header/updates with payloads and outputs, orphans included', async () => {
  const { devnet, peer } = await start(fast)
  const headers = await opened(devnet, 'header/updates')
  const blocks = await opened(devnet, 'block/updates')
  const more = await opened(devnet, 'block/updates')
  const fork = new Fork(devnet, 'other')
  const made = [growCut(devnet, 0, { commands: [signed()] }).header, fork.grow(0), growCut(devnet, 1).header]
  const events = await eventsOf(blocks, 3)
  expect(events.map(({ header }) => header.hash)).toEqual(made.map(idOf))
  expect(events.map(({ txCount }) => txCount)).toEqual([1, 0, 0])
  for (const { header, payloadWithOutputs } of events) {
    const path = `${PREFIX}/chain/${header.chainId}`
    const asked = await peer.get(`${path}/header/${header.hash}`, { headers: { accept: OBJECTS } })
    expect(header).toEqual(jsonOf(asked))
    expect(payloadWithOutputs).toEqual(jsonOf(await peer.get(`${path}/payload/${header.payloadHash}/outputs`)))
  }
  const withoutPayload = events.map(({ payloadWithOutputs: _, ...rest }) => rest)
  expect(await eventsOf(headers, 3)).toEqual(withoutPayload)
  expect(await more.read(blocks.text.length)).toBe(blocks.text)
  expect(Object.keys(events[0])).toEqual(['header', 'txCount', 'powHash', 'target', 'payloadWithOutputs'])
})

it('many readers of a stream all get the same events', async () => {
  const { devnet } = await start(fast)
  const streams = await Promise.all(Array.from({ length: 100 }, () => opened(devnet, 'header/updates')))
  growCut(devnet, 0)
  growCut(devnet, 1)
  const first = await eventsOf(streams[0], 2)
  expect(first).toHaveLength(2)
  for (const stream of streams) expect(await stream.read(streams[0].text.length)).toBe(streams[0].text)
})

it('a block stream drops a reader that never reads, and sends every block to one that reads', async () => {
  // In release 2.32 the size of a proof costs no gas.
  const { devnet } = await start({ ...fast, headerStreamLimit: 2, nodeRelease: '2.32' })
  const slow = await opened(devnet, 'block/updates')
  slow.pause()
  const good = await opened(devnet, 'block/updates')
  let blocks = 0
  /** Whether another stream can open, which means that the node dropped one of the two. */
  const isRoom = async () => {
    const third = await open(devnet, 'header/updates')
    third.destroy()
    return third.status === 200
  }
  expect(await isRoom()).toBe(false)
  while (!(await isRoom())) {
    // The node drops the slow reader after the kernel's buffers, 1 MiB and one event at the latest.
    expect(blocks).toBeLessThan(60)
    // Each event exceeds the backlog limit. The node must keep a reader that keeps up all the same.
    growCut(devnet, blocks % 2, { commands: [large(blocks % 2)] })
    blocks++
    await eventsOf(good, blocks)
  }
  expect(blocks).toBeGreaterThan(1)
  expect(dataOf(good.text)).toHaveLength(blocks)
  growCut(devnet, blocks % 2)
  expect(await eventsOf(good, blocks + 1)).toHaveLength(blocks + 1)
})

it('header and block streams share one limit', async () => {
  const { devnet, peer } = await start({ ...fast, headerStreamLimit: 2 })
  const first = await opened(devnet, 'header/updates')
  await opened(devnet, 'block/updates')
  const full = [503, TEXT, 'No more update streams available currently. Retry later.']
  for (const path of ['header/updates', 'block/updates']) {
    expect(brief(await peer.get(`${PREFIX}/${path}`))).toEqual(full)
  }
  first.destroy()
  // The node notices the closed connection a moment later.
  let next: OpenResponse
  do next = await open(devnet, 'block/updates')
  while (next.status === 503)
  growCut(devnet, 0)
  expect(await eventsOf(next, 1)).toHaveLength(1)
})

it('a stream over HTTP/1.0 is plain text that ends with the connection', async () => {
  const { devnet } = await start({ ...fast, updateStreamMs: 300 })
  const socket = net.connect(Number(new URL(devnet.url).port), '127.0.0.1')
  let text = ''
  const closed = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (text.endsWith('\r\n\r\n')) growCut(devnet, 0)
    })
    socket.on('close', () => resolve())
  })
  socket.write(`GET ${PREFIX}/mining/updates HTTP/1.0\r\nhost: node\r\ncontent-length: 4\r\n\r\n\0\0\0\0`)
  await closed
  expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe('event:New Cut\n\n')
})
