/** The refusal tables of docs/STRATUM.md: each row has a case here that runs against the real server. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Socket, connect as tcp } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { Accounts } from '../../../src/mining/accounts/accounts.ts'
import { ShareRecorder } from '../../../src/mining/accounts/recorder.ts'
import type { RigLimits } from '../../../src/mining/engine/stratum/limits.ts'
import type { StratumOptions } from '../../../src/mining/engine/stratum/stratum.ts'
import { shareVerdicts } from '../../../src/mining/stratum/messages.ts'
import {
  type CloseReason,
  closeReasons,
  malformedTexts,
  type RequestRefusal,
  requestRefusals,
  shareFault,
} from '../../../src/mining/stratum/refusals.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { connected, loggedIn, type Started, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const page = readFileSync(new URL('../../../docs/STRATUM.md', import.meta.url), 'utf8')

/** Cells of the table below a heading, without its header and without code marks. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`## ${heading}\n`)
  const lines = section.split(/\n## /)[0].match(/^\|.*\|$/gm) ?? []
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  )
}

const shareRows = rowsBelow('Refused shares')
const requestRows = rowsBelow('Requests that are refused')
const closeRows = rowsBelow('Connections that are closed')

async function ready(limits: Partial<RigLimits> = {}, options: Partial<StratumOptions> = {}) {
  const started = await startedServer(limits, options)
  await started.engine.setWork(workOf(1, UNREACHABLE))
  const rig = await loggedIn(started.port)
  await until(() => rig.jobs.length > 0)
  return { ...started, rig, job: rig.jobs[0] }
}

type Ready = Awaited<ReturnType<typeof ready>>
/** Code and text of the error that a rig gets. */
type Answer = { readonly code: number; readonly message: string } | null | undefined

const errorOf = async (asked: Promise<{ readonly error: Answer }>): Promise<Answer> => (await asked).error
const submit = (of: (ready: Ready) => readonly unknown[]) => (each: Ready) =>
  errorOf(each.rig.ask('mining.submit', of(each)))
const ask =
  (method: string, params: unknown) =>
  ({ rig }: Ready) =>
    errorOf(rig.ask(method, params as unknown[]))

/** A share log on a full disk. */
const fullLog: StratumOptions['recorder'] = (onNotice) => {
  const full = () => Promise.reject(new Error('no space left'))
  const none = async function* () {
    yield* []
  }
  const store = { append: full, refuse: full, shares: none, refusals: none, close: async () => undefined }
  const kept = { store, accounts: null, has: () => false, newestMs: 0 }
  return new ShareRecorder(kept, new Accounts({ onWarning: () => undefined }), systemClock, onNotice)
}

describe('a share that is refused', () => {
  const cases: Readonly<Record<string, (each: Ready) => Promise<Answer>>> = {
    stale: submit(({ rig, job }) => ['k:abc.rig', 'f00d', rig.nextShare(job)]),
    duplicate: async ({ rig, job }) => {
      const nonce2 = rig.nextShare(job)
      await rig.submit(job.id, nonce2)
      return errorOf(rig.submit(job.id, nonce2))
    },
    low: submit(({ rig, job }) => ['k:abc.rig', job.id, rig.badShare(job)]),
    unauthorized: async ({ port, job }) => {
      const early = await connected(port)
      await early.subscribe()
      return errorOf(early.submit(job.id, '0'.repeat(12)))
    },
    unsubscribed: async ({ port, job }) => errorOf((await connected(port)).submit(job.id, '0'.repeat(12))),
    malformed: submit(({ job }) => ['k:abc.rig', job.id, 'z']),
    unavailable: submit(({ rig, job }) => ['k:abc.rig', job.id, rig.nextShare(job)]),
  }

  it('the table of refused shares has a row and a case for each verdict', () => {
    const verdicts = shareVerdicts.filter((verdict) => verdict !== 'accepted').toSorted()
    expect(shareRows.map(([verdict]) => verdict).toSorted()).toEqual(verdicts)
    expect(Object.keys(cases).toSorted()).toEqual(verdicts)
  })

  it.each(shareRows)('a refused share (%s) is answered with %s, %s, and counted', async (verdict, code, text) => {
    const each = await ready({}, verdict === 'unavailable' ? { recorder: fullLog } : {})
    const error = await cases[verdict](each)
    expect(error?.code).toBe(Number(code))
    if (text !== 'see below') expect(error?.message).toBe(text)
    expect(each.engine.status().shares).toMatchObject({ [verdict]: 1 })
  })
})

/** Gets a worker banned whose connection has a second user. */
async function banned({ rig, job }: Ready): Promise<void> {
  await rig.authorize('k:abc.bad')
  for (let i = 0; i < 100; i++) await rig.ask('mining.submit', ['k:abc.bad', job.id, 'z'])
}

describe('a request that is refused', () => {
  const id = ({ job }: Ready) => job.id
  /** How to provoke each answer, by reason and answer. */
  const cases: Readonly<Record<string, (each: Ready) => Promise<Answer>>> = {
    'submit: submit needs a user, a job id and nonce2': submit((each) => ['k:abc.rig', id(each)]),
    'job: the job id is not a text': submit(() => ['k:abc.rig', 7, '00']),
    'job: the job id is empty': submit(() => ['k:abc.rig', '', '00']),
    'nonce2: nonce2 is not a text': submit((each) => ['k:abc.rig', id(each), 7]),
    'nonce2: nonce2 is not hexadecimal': submit((each) => ['k:abc.rig', id(each), '0x12']),
    'digits: nonce2 has 16 digits, expected 12': submit((each) => ['k:abc.rig', id(each), '0'.repeat(16)]),
    'digits: nonce2 has more than 32 digits, expected 12': submit((each) => ['x', id(each), '0'.repeat(33)]),
    'digits: nonce2 has 0 digits, expected 12': submit((each) => ['k:abc.rig', id(each), '']),
    'user: the user is not a text of at most 512 characters': ask('mining.authorize', ['x'.repeat(513), 'x']),
    'difficulty: the difficulty is not a positive number': ask('mining.suggest_difficulty', [0]),
    'rate: the rate is not a hexadecimal number of at most 64 digits': ask('eth_submitHashrate', ['fast']),
    'target: the target is not 1 to 64 hex digits, above 0': ask('mining.suggest_target', ['0x00']),
    'parameters: the parameters are not a list': ask('mining.submit', { job: '1' }),
    'method: no such method': ask('mining.nonsense', []),
    'line: the line is not a JSON object with an id and a method': async ({ rig }) => {
      rig.socket.write('GET / HTTP/1.1\r\n')
      await until(() => rig.strays.length > 0)
      return rig.strays[0].error
    },
    'banned: banned for a while: too many bad shares': async (each) => {
      await banned(each)
      return errorOf(each.rig.ask('mining.submit', ['k:abc.bad', each.job.id, '00']))
    },
    'held: none': async ({ rig }) => {
      const answers = Array.from({ length: 250 }, () => rig.ask('mining.ping', []))
      return (await Promise.all(answers))[249].error
    },
  }

  it('the table of refused requests has a row and a case for each reason and text', () => {
    expect([...new Set(requestRows.map(([reason]) => reason))].toSorted()).toEqual([...requestRefusals].toSorted())
    expect(requestRows.map(([reason, , text]) => `${reason}: ${text}`).toSorted()).toEqual(
      Object.keys(cases).toSorted(),
    )
  })

  it('the table of refused requests has a row for every text with code 20, except other numbers of digits', () => {
    const texts = malformedTexts(12).filter((text) => !/has (1[3-57-9]|2\d|3[0-2]) digits/.test(text))
    expect(requestRows.flatMap(([, code, text]) => (code === '20' ? [text] : [])).toSorted()).toEqual(texts.toSorted())
  })

  it.each(requestRows)('a refused request (%s) is answered with %s, %s, and counted', async (reason, code, text) => {
    const each = await ready()
    const error = await cases[`${reason}: ${text}`](each)
    expect(error ?? null).toEqual(text === 'none' ? null : { code: Number(code), message: text })
    expect(each.engine.status().refusals.requests[reason as RequestRefusal]).toBeGreaterThan(0)
    expect(each.rig.hasEnded).toBe(false)
  })

  it('a refused request is counted once, even without an answer', async () => {
    const { rig, engine } = await ready()
    rig.socket.write('{"id":null,"method":"mining.nonsense","params":[]}\n')
    rig.socket.write('{"id":null,"method":"mining.submit","params":["a","b"]}\n')
    await rig.ask('mining.ping', [])
    expect(engine.status().refusals.requests).toMatchObject({ method: 1, submit: 1, line: 0 })
    expect(rig.strays).toEqual([])
  })
})

describe('the texts for a malformed share', () => {
  it('the texts for a malformed share are a small set, whatever is sent', () => {
    const texts = new Set(malformedTexts(12))
    expect(texts.size).toBe(33)
    // The texts of 1 to 12 digits are valid.
    const digits = Array.from({ length: 5000 }, (_, n) => 'a'.repeat(n)).filter(
      ({ length }) => length === 0 || length > 12,
    )
    const values = [undefined, null, 7, 'z', '0x', ...digits, [], {}]
    for (const job of ['1', '', 7, null]) {
      for (const nonce2 of values) expect(texts).toContain(shareFault(['user', job, nonce2], 12).text)
    }
    expect(texts).toContain(shareFault([], 12).text)
  })
})

describe('a connection that is closed', () => {
  const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))
  const tls = { cert: fixture('tls-test-cert.pem'), key: fixture('tls-test-key.pem') }

  /** Expects the server to close a connection. */
  async function ended(rig: Rig): Promise<void> {
    await rig.ended
  }

  const cases: Readonly<Record<CloseReason, () => Promise<Started>>> = {
    full: async () => {
      const started = await startedServer({ sessions: 1 })
      await loggedIn(started.port)
      await ended(await connected(started.port))
      return started
    },
    address_full: async () => {
      const started = await startedServer({ sessionsPerAddress: 1 })
      await loggedIn(started.port)
      await ended(await connected(started.port))
      return started
    },
    address_banned: async () => {
      const started = await startedServer({ badUntilBan: 10 })
      const bad = await connected(started.port)
      bad.socket.write('nonsense\n')
      await ended(bad)
      return started
    },
    handshake: async () => {
      const started = await startedServer({}, { tls })
      const plain = await connected(started.port)
      plain.socket.write('{"id":1,"method":"mining.subscribe","params":[]}\n')
      await ended(plain)
      return started
    },
    login: async () => {
      const clock = new VirtualClock()
      const started = await startedServer({}, { clock })
      const silent = await connected(started.port)
      await until(() => started.engine.status().sessions === 1)
      await clock.pass(32_000)
      await ended(silent)
      return started
    },
    idle: async () => {
      const clock = new VirtualClock()
      const started = await startedServer({ idleMs: 100_000 }, { clock })
      const spare = await loggedIn(started.port)
      await clock.pass(102_000)
      await ended(spare)
      return started
    },
    long_line: async () => {
      const started = await startedServer()
      const rig = await connected(started.port)
      rig.socket.write('x'.repeat(5000))
      await ended(rig)
      return started
    },
    garbage: async () => {
      const started = await startedServer()
      const rig = await connected(started.port)
      rig.socket.write('a\nb\nc\nd\n')
      await ended(rig)
      return started
    },
    slow_reader: async () => {
      const started = await startedServer({ unsentBytes: 10_000 })
      const stuck = await loggedIn(started.port)
      stuck.socket.pause()
      let sequence = 0
      await until(() => {
        for (let i = 0; i < 500; i++) void started.engine.setWork(workOf(++sequence, UNREACHABLE))
        return started.engine.status().sessions === 0
      })
      return started
    },
    worker_banned: async () => {
      const each = await ready({ badUntilBan: 5 })
      for (let i = 0; i < 5; i++) void each.rig.submit(each.job.id, 'z')
      await ended(each.rig)
      return each
    },
    nonce1: async () => {
      const started = await startedServer({}, { random: () => 0 })
      // Nonce1 0, and 256 more until the one that is 1 with swapped bytes.
      const rigs: Rig[] = []
      for (let i = 0; i < 257; i++) rigs.push(await connected(started.port))
      const late = rigs[1]
      expect((await late.subscribe()).result).toEqual([null, '0001', 6])
      await late.ask('mining.authorize', ['k:abc.late', 'order=memory'])
      await ended(late)
      return started
    },
    broken: async () => {
      const started = await startedServer()
      const socket: Socket = tcp({ host: '127.0.0.1', port: started.port })
      await once(socket, 'connect')
      socket.write('{"id":1,"method":"mining.subscribe","params":[]}\n')
      await once(socket, 'data')
      socket.resetAndDestroy()
      await until(() => started.engine.status().sessions === 0)
      return started
    },
  }

  it('the table of closed connections has a row for each reason', () => {
    expect(closeRows.map(([reason]) => reason)).toEqual([...closeReasons])
  })

  it.each(closeRows)('a closed connection (%s) is counted once', async (reason) => {
    const { engine } = await cases[reason as CloseReason]()
    await until(() => engine.status().refusals.connections[reason as CloseReason] > 0)
    const none = Object.fromEntries(closeReasons.map((name) => [name, 0]))
    expect(engine.status().refusals.connections).toEqual({ ...none, [reason]: 1 })
  })

  it('a connection that is closed for two reasons at once is counted for the first', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 30 })
    const rig = await connected(port)
    rig.socket.write('a\nb\nc\n')
    await rig.ended
    expect(engine.status().refusals.connections).toMatchObject({ address_banned: 1, garbage: 0 })
    // Meanwhile the server turns away the whole address.
    await (await connected(port)).ended
    expect(engine.status().refusals.connections).toMatchObject({ address_banned: 2, address_full: 0 })
  })

  it('a connection that is closed for lines that are not stratum ends that session only, and the others of the address stay', async () => {
    const { engine, port } = await startedServer({ badUntilBan: 30 })
    await engine.setWork(workOf(1, UNREACHABLE))
    const spares = [await loggedIn(port), await loggedIn(port, 'k:abc.other'), await connected(port)]
    // A malformed share is bad, but its line is stratum.
    await until(() => spares[0].jobs.length > 0)
    await spares[0].submit('1', 'z')
    const [bad, garbled] = [await connected(port), await connected(port)]
    garbled.socket.write('x\n')
    await until(() => engine.status().refusals.requests.line === 1)
    bad.socket.write('a\nb\n')
    await Promise.all([bad.ended, garbled.ended])
    expect(engine.status().refusals.connections).toMatchObject({ address_banned: 2 })
    for (const rig of spares) expect(await rig.ask('mining.ping', [])).toMatchObject({ result: 'pong' })
  })

  it('a connection that is closed by the stop of the server is not counted, even in a handshake', async () => {
    for (const options of [{}, { tls }]) {
      const { engine, port } = await startedServer({}, options)
      const rig = await connected(port)
      await engine.stop()
      await rig.ended
      expect(Object.values(engine.status().refusals.connections).every((count) => count === 0)).toBe(true)
    }
  })

  it('a connection that is closed by the rig itself is not counted', async () => {
    const { engine, rig } = await ready()
    rig.socket.end()
    await until(() => engine.status().sessions === 0)
    expect(Object.values(engine.status().refusals.connections).every((count) => count === 0)).toBe(true)
  })
})
