/** What is written to many sockets arrives whole and in order, with the native function and without, slow readers included. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSender } from '../../../src/engine/stratum/native-send.ts'
import { type Mail, Outbox } from '../../../src/engine/stratum/outbox.ts'
import { until } from '../../gpu/wait.ts'

const { sendAll } = loadSender()
const COUNT = 700

interface Pair {
  readonly mail: Mail
  readonly client: Socket
  received: string
}

describe.each([
  { name: 'with the native function', sendAll, skip: sendAll === null },
  { name: 'with sockets of their own', sendAll: null, skip: false },
])('an outbox $name', ({ sendAll, skip }) => {
  const server = createServer()
  const pairs: Pair[] = []

  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    for (let i = 0; i < COUNT; i++) {
      const accepted = once(server, 'connection')
      const client = connect(port, '127.0.0.1')
      const [socket] = (await accepted) as [Socket]
      socket.on('error', () => socket.destroy())
      const pair: Pair = { mail: { socket, text: '', onWritten: null }, client, received: '' }
      client.setEncoding('utf8')
      client.on('data', (text) => {
        pair.received += text
      })
      pairs.push(pair)
    }
  })
  afterAll(() => {
    for (const { client, mail } of pairs) {
      client.destroy()
      mail.socket.destroy()
    }
    server.close()
  })
  const clear = () => {
    for (const pair of pairs) pair.received = ''
  }

  it.skipIf(skip)('gives each its own text and what all get, in order, in one turn of the event loop', async () => {
    clear()
    const outbox = new Outbox({ sendAll, unsentBytes: 2 ** 20 })
    const written: boolean[] = []
    for (const [i, { mail }] of pairs.entries()) {
      if (i % 3 === 0) outbox.post(mail, `a${i} é\n`)
      outbox.post(mail, 'the same for all\n', (isWritten) => written.push(isWritten))
      if (i % 5 === 0) outbox.post(mail, `b${i}\n`)
    }
    expect(written).toEqual([])
    await new Promise(setImmediate)
    expect(written).toEqual(Array.from({ length: COUNT }, () => true))
    const wanted = pairs.map(
      (_, i) => `${i % 3 === 0 ? `a${i} é\n` : ''}the same for all\n${i % 5 === 0 ? `b${i}\n` : ''}`,
    )
    await until(() => pairs.every(({ received }, i) => received.length >= wanted[i].length))
    expect(pairs.map(({ received }) => received)).toEqual(wanted)
  })

  it.skipIf(skip)('loses nothing of a client that reads slowly, and tells that it was not written', async () => {
    clear()
    const outbox = new Outbox({ sendAll, unsentBytes: 2 ** 26 })
    const [slow, quick] = pairs
    slow.client.pause()
    const line = `${'x'.repeat(99_999)}\n`
    const results: boolean[] = []
    let sent = 0
    for (; results.at(-1) !== false && sent < 500; sent++) {
      outbox.post(slow.mail, line, (isWritten) => results.push(isWritten))
      outbox.post(quick.mail, `${sent}\n`)
      outbox.flush()
    }
    expect(results.at(-1)).toBe(false)
    // What follows waits behind it.
    outbox.post(slow.mail, 'the end\n', (isWritten) => results.push(isWritten))
    outbox.flush()
    expect(results.at(-1)).toBe(false)
    slow.client.resume()
    const wanted = `${line.repeat(sent)}the end\n`
    await until(() => slow.received.length >= wanted.length)
    expect(slow.received === wanted).toBe(true)
    expect(quick.received).toBe(Array.from({ length: sent }, (_, i) => `${i}\n`).join(''))
  })

  it.skipIf(skip)('closes a client that leaves too much unread, and no other', async () => {
    clear()
    const outbox = new Outbox({ sendAll, unsentBytes: 200_000 })
    const [, , slow, other] = pairs
    slow.client.pause()
    for (let i = 0; i < 500 && !slow.mail.socket.destroyed; i++) {
      outbox.post(slow.mail, 'y'.repeat(100_000))
      outbox.post(other.mail, 'z')
      outbox.flush()
    }
    expect([slow.mail.socket.destroyed, other.mail.socket.destroyed]).toEqual([true, false])
    // Nothing is written to one that is closed, and nothing fails.
    outbox.post(slow.mail, 'more', () => expect.unreachable('it is closed'))
    outbox.flush()
  })

  it.skipIf(skip)('writes to those that are there when one has reset its connection', async () => {
    clear()
    const outbox = new Outbox({ sendAll, unsentBytes: 2 ** 20 })
    const [, , , , gone, other] = pairs
    const closed = new Promise((resolve) => gone.mail.socket.once('close', resolve))
    gone.client.resetAndDestroy()
    for (let i = 0; i < 100; i++) {
      outbox.post(gone.mail, 'to nobody\n')
      outbox.post(other.mail, 'to one\n')
      outbox.flush()
    }
    await closed
    await until(() => other.received.length >= 700)
    expect(other.received).toBe('to one\n'.repeat(100))
  })
})

describe('the native function', () => {
  it.skipIf(sendAll === null)('refuses pieces outside the bytes, and lists of different length', () => {
    const order = (pieces: number[], sent = 1, threads = 1) =>
      sendAll?.(Int32Array.of(-1), Uint32Array.from(pieces), new Uint8Array(10), new Int32Array(sent), threads)
    for (const wrong of [[0, 11], [11, 0], [5, 6], [2 ** 32 - 1, 2], [0], [0, 1, 0, 1]]) {
      expect(() => order(wrong)).toThrow(TypeError)
    }
    expect(() => order([0, 10], 2)).toThrow(TypeError)
    for (const threads of [0, 17]) expect(() => order([0, 10], 1, threads)).toThrow(TypeError)
    expect(order([0, 10])).toBeUndefined()
  })

  it('is not used, and why is told, when the file is none', () => {
    const file = join(tmpdir(), `newcut-send-${process.pid}.node`)
    writeFileSync(file, 'no library')
    const { sendAll: none, fault } = loadSender(file)
    expect(none).toBeNull()
    expect(fault).toMatch(/^rigs are written to one by one, since .*newcut-send-\d+\.node does not load: ./)
    expect(loadSender(`${file}.missing`)).toEqual({ sendAll: null, fault: null })
  })
})
