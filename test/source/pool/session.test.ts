/** One session with a pool that behaves freely: variants of messages, redirects and silence. */
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeHex } from '../../../src/ground/base/bytes.ts'
import type { Clock } from '../../../src/ground/base/clock.ts'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { type PoolAddress, readPoolAddress } from '../../../src/mining/source/pool/address.ts'
import { type PoolJob, type PoolRedirection, PoolSession } from '../../../src/mining/source/pool/session.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { itWith } from '../../needs.ts'
import { freshWork, UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'

const SOON = { interval: 10 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A pool that accepts its client, gives work, and sends nothing more by itself. */
async function silentPool() {
  const asked: { readonly id: unknown; readonly method?: string; readonly params: readonly unknown[] }[] = []
  const raw: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        raw.push(line)
        const message = JSON.parse(line)
        asked.push(message)
        if (message.method === 'mining.subscribe') socket.write(`{"id":${message.id},"result":[null,"09e8",6]}\n`)
        if (message.method === 'mining.authorize') socket.write(`{"id":${message.id},"result":true}\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  const say = (line: string) => {
    for (const socket of sockets) socket.write(`${line}\n`)
  }
  return { asked, raw, say, port: (server.address() as { port: number }).port }
}

/** The address of a server on this machine. */
const here = (port: number): PoolAddress => readPoolAddress(`stratum+tcp://alice@127.0.0.1:${port}`)

function connected(address: PoolAddress, { home = address, clock = systemClock as Clock } = {}) {
  const jobs: PoolJob[] = []
  const messages: string[] = []
  const ends: { readonly reason: string; readonly move: PoolRedirection | null }[] = []
  const session = new PoolSession({
    ...{ address, home, clock, trust: {}, agent: 'newcut/test' },
    handlers: {
      onJob: (job) => jobs.push(job),
      onMessage: (text) => messages.push(text),
      onEnd: ({ message }, move) => ends.push({ reason: message, move }),
    },
  })
  cleanups.push(() => session.close())
  return { session, jobs, messages, ends }
}

const notice = (id: string, work = freshWork(UNREACHABLE)) =>
  `{"id":null,"method":"mining.notify","params":[${id},"${encodeHex(work)}",true]}`

/** A session with work. */
async function mining(options: Parameters<typeof connected>[1] = {}) {
  const pool = await silentPool()
  const client = connected(here(pool.port), options)
  await expect.poll(() => pool.asked.length, SOON).toBe(2)
  pool.say(notice('"1"'))
  await expect.poll(() => client.jobs.length, SOON).toBe(1)
  return { pool, ...client }
}

describe('continuing session', () => {
  it.each([
    ['parameters by name, of a method that nobody knows', '{"id":null,"method":"pool.news","params":{"a":1}}'],
    ['a text as parameters of such a method', '{"id":null,"method":"pool.news","params":"hello"}'],
    ['an answer with the method null', '{"id":77,"method":null,"result":true,"error":null}'],
    ['a notification with an empty result and error', notice('"7"').replace('}', ',"result":null,"error":null}')],
    ['a message without a text', '{"id":null,"method":"client.show_message","params":{"text":"hello"}}'],
  ])('a session continues after %s', async (_, line) => {
    const { pool, jobs, ends } = await mining()
    pool.say(line)
    pool.say(notice('"8"'))
    await expect.poll(() => jobs.at(-1)?.id, SOON).toBe('8')
    expect(ends).toEqual([])
  })

  it('a session answers every request with an id, whatever its parameters', async () => {
    const { pool } = await mining()
    pool.say('{"id":12345678901234567890,"method":"pool.ask","params":{"a":1}}')
    pool.say('{"id":9,"method":"client.get_version","params":{}}')
    await expect
      .poll(() => pool.raw.slice(2), SOON)
      .toEqual([
        '{"id":12345678901234567890,"result":false,"error":[-32601,"no such method",null]}',
        '{"id":9,"result":"newcut/test","error":null}',
      ])
  })

  it('a session continues, and answers a ping that requests an answer', async () => {
    const { pool, ends } = await mining()
    pool.say('{"id":null,"method":"mining.ping","params":[]}')
    pool.say('{"id":"p1","method":"mining.ping"}')
    pool.say('{"id":7,"method":"client.news","params":[]}')
    await expect
      .poll(() => pool.raw.slice(2), SOON)
      .toEqual([
        '{"id":"p1","result":"pong","error":null}',
        '{"id":7,"result":false,"error":[-32601,"no such method",null]}',
      ])
    expect(ends).toEqual([])
  })

  it('a session shows a message in either form', async () => {
    const { pool, messages } = await mining()
    pool.say('{"id":null,"method":"client.show_message","params":"down at noon"}')
    pool.say('{"id":null,"method":"client.show_message","params":["up at one"]}')
    await expect.poll(() => messages, SOON).toEqual(['down at noon', 'up at one'])
  })

  it.each(['64128', '12345678901234567890', '"0064128"'])(
    'a session names the job %s in shares as it came',
    async (id) => {
      const { pool, session, jobs } = await mining()
      pool.say(notice(id))
      await expect.poll(() => jobs.length, SOON).toBe(2)
      void session.submit(jobs[1], 0x0123456789ab09e8n)
      await expect
        .poll(() => pool.raw.at(-1), SOON)
        .toBe(`{"id":3,"method":"mining.submit","params":["alice",${id},"0123456789ab"]}`)
    },
  )

  it('a session continues with the previous length of nonce2 if the pool names none', async () => {
    const { pool, jobs, ends } = await mining()
    for (const [params, bits] of [
      ['["ff"]', 16],
      ['["ab",7]', 8],
      ['["cd",null]', 8],
    ] as const) {
      pool.say(`{"id":null,"method":"mining.set_extranonce","params":${params}}`)
      const { length } = jobs
      pool.say(notice(`"${length}"`))
      await expect.poll(() => jobs.length, SOON).toBe(length + 1)
      expect(jobs[length].nonce1).toEqual({ bits, value: Number.parseInt(params.slice(2, 4), 16) })
    }
    expect(ends).toEqual([])
  })
})

describe('ending session', () => {
  it.each([
    ['work by name', '{"id":null,"method":"mining.notify","params":{"job":"1"}}', /params .*not a list/],
    ['a target as a text', '{"id":null,"method":"mining.set_target","params":"ff"}', /params .*not a list/],
    ['a job id that is a list', notice('["1"]'), /job .*text or number of at most 128/],
    ['an endless job id', notice(`"${'1'.repeat(129)}"`), /job .*text or number of at most 128/],
    ['too large a nonce1', '{"id":null,"method":"mining.set_extranonce","params":["123456"]}', /nonce1/],
  ])('a session ends after %s', async (_, line, complaint) => {
    const { pool, ends } = await mining()
    pool.say(line)
    await expect.poll(() => ends, SOON).toEqual([{ reason: expect.stringMatching(complaint), move: null }])
  })
})

describe('redirecting pool', () => {
  it.each([
    ['[]', 0],
    ['[null,null,null]', 0],
    ['["","",-5]', 0],
    ['[null,null,2.5]', 2500],
    ['[null,null,"3"]', 3000],
    ['[null,null,86400]', 60_000],
    ['[null,null,"soon"]', 0],
  ])('a redirection with the parameters %s means the same pool', async (params, waitMs) => {
    const { pool, ends } = await mining()
    pool.say(`{"id":null,"method":"client.reconnect","params":${params}}`)
    await expect
      .poll(() => ends, SOON)
      .toEqual([
        { reason: expect.stringContaining('it redirects miners to'), move: { address: here(pool.port), waitMs } },
      ])
  })

  it.each([
    ['eu.mypool.co.uk', 'us.mypool.co.uk', true],
    ['mypool.co.uk', 'evil.co.uk', false],
    ['pool.a.example.org', 'b.example.org', true],
    ['pool.a.example.org', 'example.com', false],
    ['pool.example.org', '127.0.0.1', false],
  ])('a redirection from %s to %s is allowed: %s, wherever the session is now', async (home, host, may) => {
    const configured = readPoolAddress(`stratum+tcp://alice@${home}:1917`)
    const { pool, ends, messages } = await mining({ home: configured })
    pool.say(`{"id":null,"method":"client.reconnect","params":["${host}",3333]}`)
    await expect.poll(() => ends.length + messages.length, SOON).toBe(1)
    expect(ends.map(({ move }) => move?.address.host)).toEqual(may ? [host] : [])
    if (!may) expect(messages).toEqual([expect.stringContaining(`${host}:3333, outside its own domain`)])
  })
})

describe('silent pool', () => {
  const share = 0x0123456789ab09e8n

  it('the miner leaves a silent pool 30 s after a share, although it sends more shares', async () => {
    const clock = new VirtualClock()
    const { session, jobs, ends } = await mining({ clock })
    for (const passMs of [10_000, 10_000, 9_999]) {
      void session.submit(jobs[0], share)
      await clock.pass(passMs)
    }
    expect(ends).toEqual([])
    await clock.pass(1)
    expect(ends).toEqual([
      { reason: expect.stringMatching(/said nothing for 30 s, although a share waits/), move: null },
    ])
  })

  it('the miner leaves a silent pool after three minutes, unless it sends any message', async () => {
    const clock = new VirtualClock()
    const { pool, session, jobs, ends, messages } = await mining({ clock })
    // Sends a message that does not answer the shares.
    const talk = async () => {
      const count = messages.length
      pool.say('{"id":null,"method":"client.show_message","params":["hello"]}')
      await until(() => messages.length > count)
    }
    for (let i = 0; i < 9; i++) {
      void session.submit(jobs[0], share)
      await clock.pass(29_000)
      await talk()
    }
    await clock.pass(179_999)
    expect(ends).toEqual([])
    await clock.pass(1)
    expect(ends).toEqual([{ reason: expect.stringMatching(/said nothing for 3 min/), move: null }])
  })

  const noTable = process.platform === 'linux' ? null : 'Linux alone shows the timers of connections: run it there'
  itWith(noTable, 'TCP keepalive probes a silent pool', async () => {
    const { pool } = await mining()
    const port = pool.port.toString(16).toUpperCase().padStart(4, '0')
    // Columns: local and remote address, state, queues, timer. Timer 02 is keepalive.
    const row = new RegExp(`^ *\\d+: \\S+ \\S+:${port} 01 \\S+ (\\d\\d):`, 'm')
    await expect.poll(() => row.exec(readFileSync('/proc/net/tcp', 'utf8'))?.[1], SOON).toBe('02')
  })
})
