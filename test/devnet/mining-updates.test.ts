import net from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { brief, clockByHand, expectCommonHeaders, PREFIX, start, TEXT } from './common.ts'
import { at, bob, getWork, heightOf, mineBlock, solve, submit } from './miner.ts'
import { OpenResponse } from './request.ts'
import type { Devnet } from './whole-node.ts'

const EVENT = 'event:New Cut\n\n'
const bodyOf = (chain: number) => {
  const body = Buffer.alloc(4)
  body.writeUInt32LE(chain)
  return body
}

async function watch(devnet: Devnet, chain: number): Promise<OpenResponse> {
  const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body: bodyOf(chain) })
  onTestFinished(() => stream.destroy())
  expect(stream.status).toBe(200)
  expect(stream.headers['content-type']).toBe('text/event-stream')
  expectCommonHeaders(stream)
  return stream
}

it('mining/updates sends exactly the bytes of one event, without data', async () => {
  const { devnet, peer } = await start()
  const { port } = new URL(devnet.url)
  const socket = net.connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = ''
  let changed: () => void = () => undefined
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    changed()
  })
  const until = async (isEnough: () => boolean) => {
    while (!isEnough()) {
      await new Promise<void>((resolve) => {
        changed = resolve
      })
    }
  }
  socket.write(`GET ${PREFIX}/mining/updates HTTP/1.1\r\nhost: node\r\ncontent-length: 4\r\n\r\n`)
  socket.write(bodyOf(2))
  // The headers arrive at once, before the first event.
  await until(() => received.includes('\r\n\r\n'))
  const head = received.slice(0, received.indexOf('\r\n\r\n') + 4)
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).toMatch(/\r\ncontent-type: text\/event-stream\r\n/i)
  expect(received).toBe(head)
  await mineBlock(peer, 2)
  // One chunk of 15 bytes.
  const chunk = `f\r\n${EVENT}\r\n`
  await until(() => received.length >= head.length + chunk.length)
  expect(received.slice(head.length)).toBe(chunk)
})

it('mining/updates reports only its own chain, and also when that is unblocked', async () => {
  const { devnet, peer } = await start()
  /** Waits for the answers to later requests: by then all earlier events have arrived. */
  const settled = async () => {
    for (let i = 0; i < 3; i++) await peer.get('/health-check')
  }
  const [zero, five, one] = [await watch(devnet, 0), await watch(devnet, 5), await watch(devnet, 1)]
  await mineBlock(peer, 0)
  expect(await zero.read(EVENT.length)).toBe(EVENT)
  // Chain 0 waits for 5, 10 and 15; the last of them unblocks it.
  await mineBlock(peer, 5)
  await mineBlock(peer, 10)
  expect(await five.read(EVENT.length)).toBe(EVENT)
  await mineBlock(peer, 15)
  expect(await zero.read(2 * EVENT.length)).toBe(EVENT.repeat(2))
  // Chain 0 unblocks once, not with every block: chain 1 is not adjacent and was never blocked itself.
  await mineBlock(peer, 1)
  expect(await one.read(EVENT.length)).toBe(EVENT)
  await settled()
  expect(zero.text).toBe(EVENT.repeat(2))
  expect(heightOf(await mineBlock(peer, 0))).toBe(2)
  expect(await zero.read(3 * EVENT.length)).toBe(EVENT.repeat(3))
  await settled()
  expect(zero.text).toEqual(EVENT.repeat(3))
  expect(five.text).toBe(EVENT)
  expect(one.text).toBe(EVENT)
})

it('mining/updates sends nothing for solutions that change nothing', async () => {
  const { devnet, peer } = await start()
  const late = solve(await getWork(peer, 0, { account: bob }))
  const early = Buffer.from(await getWork(peer, 1))
  early.writeBigInt64LE(BigInt(Date.now() + 60_000) * 1000n, at.creationTime())
  const stream = await watch(devnet, 0)
  const other = await watch(devnet, 1)
  await mineBlock(peer, 0)
  expect((await submit(peer, late)).status).toBe(200)
  expect((await submit(peer, solve(early))).status).toBe(200)
  await mineBlock(peer, 1)
  expect(await stream.read(1)).toBe(EVENT)
  expect(await other.read(1)).toBe(EVENT)
})

it('mining/updates ends after its lifetime, plus or minus a tenth', async () => {
  const { time, clock } = clockByHand()
  const chances = [0.5, 0, 0.999]
  const { devnet } = await start({ updateStreamMs: 2000 }, { clock, random: () => chances.shift() ?? 0 })
  const [middle, short, long] = [await watch(devnet, 0), await watch(devnet, 1), await watch(devnet, 2)]
  const ended: OpenResponse[] = []
  for (const stream of [middle, short, long]) void stream.closed.then(() => ended.push(stream))
  await time.pass(1799)
  expect(time.pending).toBe(3)
  await time.pass(1)
  await short.closed
  expect(ended).toEqual([short])
  await time.pass(199)
  expect(time.pending).toBe(2)
  await time.pass(1)
  await middle.closed
  expect(ended).toEqual([short, middle])
  await time.pass(200)
  await long.closed
  expect(ended.map(({ text }) => text)).toEqual(['', '', ''])
})

it('mining/updates refuses a body that is not a chain of the network', async () => {
  const { peer } = await start()
  for (const body of [undefined, Buffer.alloc(0), Buffer.alloc(3), Buffer.alloc(5), bodyOf(20), bodyOf(2 ** 32 - 1)]) {
    const [status, type, message] = brief(await peer.get(`${PREFIX}/mining/updates`, body && { body }))
    expect(status).toBe(400)
    expect(type).toBe(TEXT)
    expect(message).toMatch(/4 bytes|no chain/)
  }
})

it('mining/updates limits open streams, and accepts the next when one closes', async () => {
  const { devnet, peer } = await start({ updateStreamLimit: 2 })
  const ask = () => peer.get(`${PREFIX}/mining/updates`, { body: bodyOf(0) })
  const first = await watch(devnet, 0)
  const second = await watch(devnet, 0)
  const full = [503, TEXT, 'No more update streams available currently. Retry later.']
  expect(brief(await ask())).toEqual(full)
  first.destroy()
  // The node notices the closed connection a moment later.
  let third: OpenResponse
  do third = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body: bodyOf(0) })
  while (third.status === 503)
  onTestFinished(() => third.destroy())
  expect(third.status).toBe(200)
  expect(brief(await ask())).toEqual(full)
  await mineBlock(peer, 0)
  expect(await second.read(1)).toBe(EVENT)
  expect(await third.read(1)).toBe(EVENT)
})
