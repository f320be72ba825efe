/**
 * Writes to many sockets arrive complete and in order, even with slow readers, with the native function and without it.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { provideSender } from '../../../src/mining/engine/stratum/native-send.ts'
import { mailOf, Outbox, type QueuedMessage } from '../../../src/mining/engine/stratum/outbox.ts'
import { itWith } from '../../needs.ts'
import { until } from '../../wait.ts'

const { sendAll, fault } = provideSender()
const noSender = sendAll === null ? `the native function does not load (${fault ?? 'no file'}): npm run install` : null
/** More sockets than a single call writes to. */
const COUNT = 1100

interface Pair {
  readonly mail: QueuedMessage
  readonly client: Socket
  received: string
}

describe.each([
  { name: 'with the native function', sendAll, lack: noSender },
  { name: 'with sockets of their own', sendAll: null, lack: null },
])('an outbox $name', ({ name, sendAll, lack }) => {
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
      const pair: Pair = { mail: mailOf(socket), client, received: '' }
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
  /** The sequence of each write, and whether the network took all of it. */
  const written: [number, boolean][] = []
  const fresh = (unsentBytes: number) => {
    for (const pair of pairs) pair.received = ''
    written.length = 0
    const onWritten = (_mail: QueuedMessage, sequence: number, isWritten: boolean) =>
      written.push([sequence, isWritten])
    return new Outbox<QueuedMessage>({ sendAll, unsentBytes, onWritten, onSlow: () => undefined })
  }

  itWith(
    lack,
    `an outbox ${name} sends each client its own text and the common one, in order, in one turn of the event loop`,
    async () => {
      const outbox = fresh(2 ** 20)
      const some = pairs.slice(0, 700)
      for (const [i, { mail }] of some.entries()) {
        if (i % 3 === 0) outbox.post(mail, `a${i} é\n`, null)
        outbox.post(mail, 'the same for all\n', 7)
        if (i % 5 === 0) outbox.post(mail, `b${i}\n`, null)
      }
      expect(written).toEqual([])
      await new Promise(setImmediate)
      expect(written).toEqual(some.map(() => [7, true]))
      const wanted = some.map(
        (_, i) => `${i % 3 === 0 ? `a${i} é\n` : ''}the same for all\n${i % 5 === 0 ? `b${i}\n` : ''}`,
      )
      await until(() => some.every(({ received }, i) => received.length >= wanted[i].length))
      expect(some.map(({ received }) => received)).toEqual(wanted)
    },
  )

  itWith(lack, `an outbox ${name} writes to the first 1,024 clients before the event loop turns`, async () => {
    const outbox = fresh(2 ** 20)
    for (const { mail } of pairs) outbox.post(mail, 'to all\n', 3)
    expect(written.length).toBe(1024)
    await until(() => pairs.every(({ received }) => received === 'to all\n'))
    expect(written).toEqual(pairs.map(() => [3, true]))
  })

  itWith(lack, `an outbox ${name} writes a text at once when it is as long as a client may leave unread`, async () => {
    const outbox = fresh(1_000)
    const { mail } = pairs[61]
    outbox.post(mail, 'x'.repeat(999), 1)
    expect(written).toEqual([])
    outbox.post(mail, 'y', 2)
    expect(written).toEqual([[2, true]])
  })

  itWith(lack, `an outbox ${name} loses nothing for a slow reader, and reports that it was not written`, async () => {
    const outbox = fresh(2 ** 26)
    const [slow, quick] = pairs
    slow.client.pause()
    const line = `${'x'.repeat(99_999)}\n`
    let sent = 0
    for (; written.at(-1)?.[1] !== false && sent < 500; sent++) {
      outbox.post(slow.mail, line, sent)
      outbox.post(quick.mail, `${sent}\n`, null)
      outbox.flush()
    }
    expect(written.at(-1)).toEqual([sent - 1, false])
    // Later text queues after it.
    outbox.post(slow.mail, 'the end\n', 1000)
    outbox.flush()
    expect(written.at(-1)).toEqual([1000, false])
    slow.client.resume()
    const wanted = `${line.repeat(sent)}the end\n`
    await until(() => slow.received.length >= wanted.length)
    expect(slow.received === wanted).toBe(true)
    expect(quick.received).toBe(Array.from({ length: sent }, (_, i) => `${i}\n`).join(''))
  })

  itWith(lack, `an outbox ${name} closes only the client that leaves too much unread`, async () => {
    const outbox = fresh(200_000)
    const [, , slow, other] = pairs
    slow.client.pause()
    for (let i = 0; i < 500 && !slow.mail.socket.destroyed; i++) {
      outbox.post(slow.mail, 'y'.repeat(100_000), 1)
      outbox.post(other.mail, 'z', null)
      outbox.flush()
    }
    expect([slow.mail.socket.destroyed, other.mail.socket.destroyed]).toEqual([true, false])
    // The outbox writes nothing to a closed client and throws no error.
    const before = written.length
    outbox.post(slow.mail, 'more', 2)
    outbox.flush()
    expect(written.length).toBe(before)
  })

  itWith(
    lack,
    `an outbox ${name} writes texts that do not fit together, and one that is too long for that`,
    async () => {
      const outbox = fresh(2 ** 22)
      const some = pairs.slice(10, 40)
      const wanted = some.map((_, i) => `${String(i).repeat(30_000)}\n`)
      wanted[7] = `${'long'.repeat(100_000)}\n`
      for (const [i, { mail }] of some.entries()) outbox.post(mail, wanted[i], i)
      outbox.flush()
      await until(() => some.every(({ received }, i) => received.length >= wanted[i].length))
      expect(some.map(({ received }, i) => received === wanted[i])).toEqual(some.map(() => true))
      expect(written.map(([sequence]) => sequence).sort((a, b) => a - b)).toEqual(some.map((_, i) => i))
    },
  )

  itWith(lack, `an outbox ${name} keeps the unsent rest of several slow clients of one call`, async () => {
    const outbox = fresh(2 ** 26)
    const slow = pairs.slice(50, 54)
    for (const { client } of slow) client.pause()
    const sent = slow.map(() => '')
    for (let round = 0; written.filter(([, isWritten]) => !isWritten).length < slow.length && round < 500; round++) {
      for (const [i, { mail }] of slow.entries()) {
        const text = `${round} ${String(i).repeat(60_000)}\n`
        sent[i] += text
        outbox.post(mail, text, round)
      }
      outbox.flush()
    }
    // The next call reuses the buffer of the last one.
    outbox.post(pairs[54].mail, 'q'.repeat(300_000), null)
    outbox.flush()
    for (const { client } of slow) client.resume()
    await until(() => slow.every(({ received }, i) => received.length >= sent[i].length))
    expect(slow.map(({ received }, i) => received === sent[i])).toEqual(slow.map(() => true))
  })

  itWith(lack, `an outbox ${name} writes nothing more to a socket that was ended`, async () => {
    const outbox = fresh(2 ** 20)
    const { mail, client } = pairs[60]
    const ended = once(client, 'end')
    outbox.post(mail, 'the last line\n', 1)
    outbox.flush()
    mail.socket.destroySoon()
    outbox.post(mail, 'too late\n', 2)
    outbox.flush()
    await ended
    expect(pairs[60].received).toBe('the last line\n')
    expect(written).toEqual([[1, true]])
  })

  itWith(lack, `an outbox ${name} writes to the remaining clients when one has reset its connection`, async () => {
    const outbox = fresh(2 ** 20)
    const [, , , , gone, other] = pairs
    const closed = new Promise((resolve) => gone.mail.socket.once('close', resolve))
    gone.client.resetAndDestroy()
    for (let i = 0; i < 100; i++) {
      outbox.post(gone.mail, 'to nobody\n', null)
      outbox.post(other.mail, 'to one\n', null)
      outbox.flush()
    }
    await closed
    await until(() => other.received.length >= 700)
    expect(other.received).toBe('to one\n'.repeat(100))
  })
})

describe('the native function', () => {
  itWith(noSender, 'the native function refuses pieces outside the bytes, and lists of different length', () => {
    const order = (pieces: number[], sent = 1, threads = 1) =>
      sendAll?.(Int32Array.of(-1), Uint32Array.from(pieces), new Uint8Array(10), new Int32Array(sent), threads)
    for (const wrong of [[0, 11], [11, 0], [5, 6], [2 ** 32 - 1, 2], [0], [0, 1, 0, 1]]) {
      expect(() => order(wrong)).toThrow(TypeError)
    }
    expect(() => order([0, 10], 2)).toThrow(TypeError)
    for (const threads of [0, 17]) expect(() => order([0, 10], 1, threads)).toThrow(TypeError)
    expect(order([0, 10])).toBeUndefined()
  })

  it('the native function is not used if its file is invalid, and the reason is reported', () => {
    const file = join(tmpdir(), `newcut-send-${process.pid}.node`)
    writeFileSync(file, 'no library')
    const { sendAll: none, fault } = provideSender(file)
    expect(none).toBeNull()
    expect(fault).toMatch(/^rigs are written to one by one, since .*newcut-send-\d+\.node does not load: ./)
    const compile = vi.fn()
    expect(provideSender(`${file}.missing`, compile)).toEqual({ sendAll: null, fault: null })
    expect(compile).toHaveBeenCalledOnce()
  })
})
