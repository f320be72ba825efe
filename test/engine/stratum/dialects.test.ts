/** Dialects of rigs: the server replays recorded sessions, and serves rigs that write nonces in memory order. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { decodeHex, encodeHex } from '../../../src/ground/base/bytes.ts'
import { withNonce } from '../../../src/ground/chain/header.ts'
import { meets, powHash } from '../../../src/ground/chain/pow.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { MemoryRig } from './memory-rigs.ts'
import { connected, loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** All lines of a connection, unparsed. */
function heard(rig: Rig): string[] {
  const lines: string[] = []
  let text = ''
  rig.socket.on('data', (bytes) => {
    text += bytes.toString()
    const whole = text.split('\n')
    text = whole.pop() ?? ''
    lines.push(...whole)
  })
  return lines
}

/** The method of a notification, or the id of an answered request. */
const kindOf = (raw: string) => {
  const { id, method } = JSON.parse(raw)
  return method ?? `answer ${id}`
}

describe('the client of the recorded sessions', () => {
  const file = new URL('../../vectors/stratum.json', import.meta.url)
  const { sessions } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly sessions: readonly {
      readonly pool: string
      readonly messages: readonly { readonly dir: string; readonly raw: string }[]
    }[]
  }

  it.each(sessions)(
    'the recorded client of $pool gets the recorded lines from this server, in that order',
    async ({ messages }) => {
      const { engine, port } = await startedServer()
      await engine.setWork(workOf(1, UNREACHABLE))
      const rig = await connected(port)
      const lines = heard(rig)
      for (const { dir, raw } of messages) if (dir === 'client->server') rig.socket.write(`${raw}\n`)
      await until(() => lines.length >= 4)
      const told = messages.filter(({ dir }) => dir === 'server->client').map(({ raw }) => raw)
      // The recorded server sends several jobs at the beginning; this server sends one.
      expect(lines.map(kindOf)).toEqual(told.slice(0, 4).map(kindOf))
      for (const [index, line] of lines.entries()) expect(shapeOf(line)).toEqual(shapeOf(told[index]))
      expect(engine.devices()).toMatchObject([{ device: expect.stringMatching(/^rig:[0-9a-f]{31}…$/) }])
    },
  )
})

/** The shape of a line: types of all values and lengths of texts, without job ids and the optional clean flag. */
function shapeOf(raw: string): unknown {
  const { method, params, ...rest } = JSON.parse(raw)
  const shape = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(shape) : typeof value === 'string' ? value.length : value
  return { ...rest, result: shape(rest.result), params: shape(method === 'mining.notify' ? [params[1]] : params) }
}

describe('a rig with small differences', () => {
  it.each([
    ['as the BM-K1, without null', '{"id":2,"method":"mining.subscribe","params":["BM-K1/1.0"]}'],
    ['with an empty list', '{"id":2,"method":"mining.subscribe","params":[]}'],
    ['with no list', '{"id":2,"method":"mining.subscribe"}'],
    ['with null for the list', '{"id":2,"method":"mining.subscribe","params":null}'],
    ['with a return before the end', '{"id":2,"method":"mining.subscribe","params":["kdaminer-v1.0.0",null]}\r'],
    ['as later versions of JSON-RPC', '{"jsonrpc":"2.0","id":2,"method":"mining.subscribe","params":["x"]}'],
  ])('a rig that subscribes %s, gets its nonce1', async (_, line) => {
    const { port } = await startedServer()
    const rig = await connected(port)
    const lines = heard(rig)
    rig.socket.write(`${line}\n`)
    await until(() => lines.length > 0)
    const result = [null, expect.stringMatching(/^[0-9a-f]{4}$/), 6]
    expect(JSON.parse(lines[0])).toEqual({ id: 2, result, error: null })
  })

  it.each(['6412800009e8', '40591', 'ffffffff', 'F'.repeat(64)])(
    'a share with the job %s of another pool gets a stale answer',
    async (id) => {
      const { engine, port } = await startedServer({ badUntilBan: 1 })
      await engine.setWork(workOf(1, UNREACHABLE))
      const rig = await loggedIn(port)
      expect((await rig.submit(id, '0123456789ab')).error?.code).toBe(21)
      expect(await rig.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
    },
  )
})

/** A share as such a rig finds it: nonce1 and nonce2 are the bytes of the nonce in memory order. */
function memoryShare(rig: Rig) {
  const { id, header, target } = rig.jobs[0]
  for (let number = 1; ; number++) {
    const nonce2 = number.toString(16).padStart(12, '0')
    const bytes = Uint8Array.from(header)
    bytes.set(decodeHex(rig.nonce1 + nonce2), 278)
    if (meets(powHash(bytes), target)) return { id, nonce2, bytes }
  }
}

describe('a rig that writes the lowest byte first', () => {
  /** Ways to announce the order to the server. */
  const says: [string, (rig: Rig) => Promise<unknown>][] = [
    [
      'by its program',
      async (rig) => {
        await rig.subscribe('blackminer-f1/2.0')
        await rig.authorize()
      },
    ],
    [
      'by its program, in other letters',
      async (rig) => {
        await rig.subscribe('Black-Miner F1')
        await rig.authorize()
      },
    ],
    [
      'by its password, before it subscribes',
      async (rig) => {
        await rig.ask('mining.authorize', ['k:abc.f1', 'x,order=memory'])
        await rig.subscribe()
      },
    ],
    [
      'by its password, after it has subscribed',
      async (rig) => {
        await rig.subscribe()
        await rig.ask('mining.authorize', ['k:abc.f1', 'order=memory'])
      },
    ],
  ]

  it.each(says)(
    'a rig that writes the lowest byte first and says so %s, has its shares counted and finds blocks',
    async (_, login) => {
      const { engine, port, candidates } = await startedServer()
      // Three earlier log-ins give this rig a nonce1 whose two bytes differ.
      for (let i = 0; i < 3; i++) await loggedIn(port)
      const work = workOf(1, 300n)
      await engine.setWork(work)
      const rig = await connected(port)
      await login(rig)
      await until(() => rig.jobs.length > 0)
      const { id, nonce2, bytes } = memoryShare(rig)
      expect(await rig.submit(id, nonce2)).toMatchObject({ result: true, error: null })
      expect(await rig.submit(id, nonce2)).toMatchObject({ result: false, error: { code: 22 } })
      // The nonce of the block has the bytes that the rig hashed.
      expect(candidates).toHaveLength(1)
      expect(encodeHex(withNonce(work.bytes, candidates[0].nonce))).toBe(encodeHex(bytes))
      expect(engine.status().shares).toMatchObject({ accepted: 1, duplicate: 1 })
    },
  )

  it('a rig that writes the lowest byte first never shares the bytes of nonce1 with another rig, in any mix of byte orders', async () => {
    const { engine, port } = await startedServer()
    const inMemory = (rig: Rig) => rig.nonce1
    const usual = (rig: Rig) => rig.nonce1.slice(2) + rig.nonce1.slice(0, 2)
    const rigs: { readonly rig: Rig; readonly bytesOf: (rig: Rig) => string }[] = []
    for (let i = 0; i < 40; i++) {
      rigs.push({ rig: await loggedIn(port, 'k:abc.f1', 'BlackMiner F1'), bytesOf: inMemory })
      const late = await connected(port)
      await late.subscribe()
      void late.ask('mining.authorize', ['k:abc.f1', 'order=memory'])
      rigs.push({ rig: late, bytesOf: inMemory })
      for (let k = 0; k < 8; k++) rigs.push({ rig: await loggedIn(port), bytesOf: usual })
    }
    // Rigs that declared the order too late are closed, since in memory order their nonce1 belongs to another rig.
    const { sessions } = engine.status()
    await until(() => rigs.filter(({ rig }) => !rig.hasEnded).length === sessions)
    const staying = rigs.filter(({ rig }) => !rig.hasEnded)
    expect(staying.length).toBeGreaterThan(380)
    expect(new Set(staying.map(({ rig, bytesOf }) => bytesOf(rig))).size).toBe(staying.length)
  })

  it('a rig that asks for the swapped order too late for its nonce1 is closed, and counts after its reconnect', async () => {
    const { engine, port } = await startedServer({}, { random: () => 0 })
    await engine.setWork(workOf(1, UNREACHABLE))
    // The values 0000 to 0100: with swapped bytes 0001 is 0100, which is taken.
    const rigs: Rig[] = []
    for (let i = 0; i <= 256; i++) rigs.push(await connected(port))
    await rigs[1].subscribe()
    void rigs[1].ask('mining.authorize', ['k:abc.f1', 'order=memory'])
    await rigs[1].ended
    const again = await connected(port)
    await again.ask('mining.authorize', ['k:abc.f1', 'order=memory'])
    await again.subscribe()
    await until(() => again.jobs.length > 0)
    const { id, nonce2 } = memoryShare(again)
    expect(await again.submit(id, nonce2)).toMatchObject({ result: true })
  })

  it('a rig that writes the lowest byte first leaves the swapped nonce1 to others when it disconnects', async () => {
    const { engine } = await startedServer({}, { random: () => 0 })
    const [, rig] = [new MemoryRig(engine), new MemoryRig(engine)]
    await rig.say({ id: 1, method: 'mining.subscribe', params: [] })
    await rig.say({ id: 2, method: 'mining.authorize', params: ['k:abc.f1', 'order=memory'] })
    // In memory order its nonce1 0001 is 0100.
    expect(rig.answerTo(1)?.result).toEqual([null, '0001', 6])
    await rig.close()
    const rigs = Array.from({ length: 255 }, () => new MemoryRig(engine))
    await rigs[254].say({ id: 1, method: 'mining.subscribe', params: [] })
    expect(rigs[254].answerTo(1)?.result).toEqual([null, '0100', 6])
  })

  it('a rig uses the usual order if its password only has a word that ends like the option', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    await loggedIn(port)
    const rig = await connected(port)
    await rig.subscribe()
    await rig.ask('mining.authorize', ['k:abc.f1', 'x,border=memory'])
    await until(() => rig.jobs.length > 0)
    expect(await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).toMatchObject({ result: true })
  })

  it('a rig uses the usual order if it says order=usual, whatever its program', async () => {
    const { engine, port } = await startedServer()
    await engine.setWork(workOf(1, UNREACHABLE))
    await loggedIn(port)
    const rig = await connected(port)
    await rig.subscribe('BlackMiner F1')
    await rig.ask('mining.authorize', ['k:abc.f1', 'order=usual'])
    await until(() => rig.jobs.length > 0)
    expect(await rig.submit(rig.jobs[0].id, rig.nextShare(rig.jobs[0]))).toMatchObject({ result: true })
  })
})
