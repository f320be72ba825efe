/** `newcut rigs check` over real sockets: its report, JSON and exit codes. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { RigsCheckReport } from '../../src/commands/results/rigs-check-lines.ts'
import { runRigsCheck } from '../../src/commands/rigs-check.ts'
import { resolveLayers } from '../../src/faces/cli/config.ts'
import { rigsCheckOptions } from '../../src/faces/cli/options/conformance.ts'
import { makerNames } from '../../src/pool/stratum-check/maker-rigs.ts'
import { makers } from '../../src/pool/stratum-check/makers.ts'
import { connectTo, readServerAddress } from '../../src/pool/stratum-check/reach.ts'
import { startedServer, stopServers, workOf } from '../engine/stratum/servers.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { good, type Script, serve } from '../stratum/check/scripted.ts'
import { UNREACHABLE } from '../support/work.ts'
import { until } from '../wait.ts'
import { exitCodeFor, run, startHere, stopAll } from './run.ts'
import { silentContext } from './silent-context.ts'

afterEach(async () => {
  await stopAll()
  await stopServers()
})

async function ours(
  options: Parameters<typeof startedServer>[1] = {},
  limits: Parameters<typeof startedServer>[0] = {},
) {
  const started = await startedServer(limits, { difficulty: null, ...options })
  await started.engine.setWork(workOf(1, UNREACHABLE))
  return { ...started, at: `127.0.0.1:${started.port}` }
}

/** The address of a scripted server. */
async function scripted(script: Script): Promise<string> {
  const server = createServer((socket) => serve(socket, new VirtualClock(), script))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The address of a server that never says anything. */
async function silent(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const jsonOf = (out: string) => JSON.parse(out) as RigsCheckReport
const check = (...args: readonly string[]) => run(['rigs', 'check', ...args])

describe('newcut rigs check', () => {
  it('newcut rigs check leaves no device, user or account with the operator, and one with --user does', async () => {
    const { at, engine } = await ours()
    const seen = () => {
      const { users, rigs } = engine.status()
      return { users: users.map(({ user }) => user), rigs: rigs.map(({ device }) => device) }
    }
    const during: ReturnType<typeof seen>[] = []
    const checking = check(at, '--maker', 'ka3')
    await until(() => engine.status().sessions > 0)
    during.push(seen())
    expect((await checking).code).toBe(0)
    expect([...during, seen()]).toEqual([
      { users: [], rigs: [] },
      { users: [], rigs: [] },
    ])
    expect((await check(at, '--maker', 'ka3', '--user', 'somebody.rig')).code).toBe(0)
    expect(seen()).toEqual({ users: ['somebody'], rigs: ['rig:rig'] })
  })

  it('newcut rigs check reports that the rigs of every maker would mine at our own server', async () => {
    const { at, engine } = await ours()
    const { code, out, err } = await check(at)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^stratum\+tcp:\/\/127\.0\.0\.1:\d+ as k:0{64}\.check\nnewcut submits no shares here, /)
    expect(out.match(/^\S.* {2}yes {2}.* 6 bytes .*2\^\d+$/gm)).toHaveLength(makerNames.length)
    expect(out).toMatch(/^Antminer KA3 +166 TH\/s +2\^48 +1\.7 s$/m)
    expect(out).toMatch(/^KD-BOX +1\.6 TH\/s +2\^44 +11 s$/m)
    expect(out).not.toMatch(/loss:|fails:/)
    await until(() => engine.status().sessions === 0)
    expect(Object.values(engine.status().shares)).toEqual(expect.arrayContaining([0]))
    expect(Object.values(engine.status().shares).every((count) => count === 0)).toBe(true)
  })

  it('newcut rigs check reports the same as JSON, for one maker and another user', async () => {
    const { at, engine } = await ours()
    const { code, out } = await check(at, '--json', '--maker', 'ka3', '--user', 'k:abc.shelf', '--password', 'd=2^50')
    const { makers, ...rest } = jsonOf(out)
    expect(code).toBe(0)
    expect(rest).toMatchObject({ server: `stratum+tcp://${at}`, tls: false, user: 'k:abc.shelf', listenedMs: 0 })
    expect(makers).toMatchObject([
      { maker: 'ka3', outcome: 'mines', findings: [], nonce2Bytes: 6, difficulty: 2 ** 50, measure: null },
    ])
    expect(rest.shares).toMatchObject([{ rig: 'Antminer KA3', rate: 166e12, difficulty: 2 ** 50 }])
    expect(rest.findings).toEqual([])
    expect(out).not.toContain('d=2^50')
    expect(engine.status().users).toMatchObject([{ user: 'k:abc' }])
  })

  it('newcut rigs check listens for the requested time', async () => {
    const { at } = await ours()
    const { code, out } = await check(at, '--listen-for', '1', '--maker', 'ka3', '--json')
    const { makers, listenedMs } = jsonOf(out)
    expect(listenedMs).toBe(1000)
    expect(code).toBe(0)
    expect(makers[0].measure?.seconds).toBeGreaterThanOrEqual(0.99)
    const text = await check(at, '--listen-for', '1s', '--maker', 'goldshell')
    expect(text.out).toMatch(/^Goldshell KD5, KD6 +\d+ +\d+ +[\d.]+ +[\d.]+ m?s +7 s +100\.0 %$/m)
  })

  it('newcut rigs check names each problem of a rig and its fix, and exits with 1', async () => {
    const at = await scripted({
      ...good,
      'mining.subscribe': (asked, server) => {
        server.answer(asked, [null, asked.params[0] === 'BM-K1' ? '9e8' : '0009e8', asked.params.length === 0 ? 6 : 5])
        server.state.isSubscribed = true
      },
    })
    const { code, out } = await check(at, '--timeout', '1s')
    expect(code).toBe(1)
    expect(out).toMatch(/^Antminer KA3, 2022 +with a loss /m)
    expect(out).toMatch(/^one that authorizes first +no /m)
    expect(out).toContain('Antminer KA3, 2022:\n')
    expect(out).toContain(
      '  loss: nonce2 has 5 bytes: its three boards search the same nonces, and a header lasts 20 ms\n',
    )
    expect(out).toContain('    at the server: give nonce1 two bytes and nonce2 six\n')
    expect(out).toContain('  fails: no job comes within 1 s\n')
    expect(out).toMatch(/\nseveral connections:\n {2}loss: two connections have the nonce1 0009e8/)
  })

  it('newcut rigs check exits with 0 if rigs mine with a loss', async () => {
    const at = await scripted({
      ...good,
      'mining.subscribe': (asked, server) => {
        server.notify('client.show_message', 'hello')
        good['mining.subscribe'](asked, server)
      },
    })
    const { code, out } = await check(at, '--maker', 'ka3-2023')
    expect(code).toBe(0)
    expect(out).toMatch(/^Antminer KA3, 2023 on +with a loss /m)
  })

  it('newcut rigs check reports how an Antminer handles TLS', async () => {
    const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
    const { at } = await ours({ tls: { cert: fixture('tls-test-cert.pem'), key: fixture('tls-test-key.pem') } })
    const { code, out } = await check(`stratum+ssl://${at}`, '--json')
    const { makers, tls } = jsonOf(out)
    expect(tls).toBe(true)
    expect(code).toBe(1)
    expect(makers.map(({ outcome }) => outcome)).toEqual(['fails', 'fails', ...Array(5).fill('mines')])
    expect(makers[0].findings).toMatchObject([{ name: 'tls', level: 'fails' }])
    // Without TLS the server closes the connection before it sends anything.
    const plain = await check(at, '--maker', 'ka3')
    expect(plain.code).toBe(1)
    expect(plain.out).toMatch(/closes the connection without a line.*\n.*stratum\+ssl/)
  })

  it('newcut rigs check reports a server that accepts too few connections', async () => {
    const { at } = await ours({}, { sessionsPerAddress: 5 })
    const { code, out } = await check(at, '--json', '--listen-for', '1s')
    const outcomes = jsonOf(out).makers.map(({ outcome }) => outcome)
    expect(code).toBe(1)
    expect(outcomes.filter((outcome) => outcome === 'mines')).toHaveLength(5)
    expect(outcomes.filter((outcome) => outcome === 'fails')).toHaveLength(2)
  })

  it('newcut rigs check exits with 20 if nobody listens, or if the server does not speak TLS', async () => {
    const gone = await scripted(good)
    const { at } = await ours()
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const refused = await check(`127.0.0.1:${port}`)
    expect(refused.err).toMatch(/ECONNREFUSED.*is the server started, and the port open\?.*\[NODE_UNREACHABLE\]/)
    const plain = await check(`stratum+ssl://${at}`)
    expect(plain.err).toMatch(/does it speak TLS\?.*\[NODE_UNREACHABLE\]/)
    expect([refused, plain].map((ended) => [ended.code, exitCodeFor(ended)])).toEqual([
      [20, 20],
      [20, 20],
    ])
    expect(gone).not.toBe('')
  })

  it.each([
    [['x'], /x: expected HOST:PORT.*10\.0\.0\.5:1917/],
    [['stratum+tcp://k:abc@pool:1917'], /the user belongs into --user/],
    [['pool:0'], /0 is not a port from 1 to 65535/],
    [['pool:65536'], /65536 is not a port from 1 to 65535/],
    [['pool:1', '--timeout', 'soon'], /--timeout soon: expected a time of at least 1 s/],
    [['pool:1', '--timeout', '0'], /--timeout 0/],
    [['pool:1', '--listen-for', '10ms'], /--listen-for 10ms/],
    [['pool:1', '--maker', 'bitmain'], /expected one of ka3/],
    [['pool:1', '--user', ''], /--user : expected some text/],
    [['pool:1', '--password', 'secret', '--password', 'other'], /--password is given twice \(/],
    [[], /rigs check needs an argument: SERVER/],
    [['pool:1', '--nonsense'], /--nonsense: no such option.*newcut rigs check --help/],
  ])('newcut rigs check refuses %j', async (args, complaint) => {
    const ended = await check(...args)
    expect(exitCodeFor(ended)).toBe(2)
    expect(ended.code).toBe(2)
    expect(ended.err).toMatch(complaint)
    expect(ended.out).toBe('')
  })

  it('newcut rigs check has its help under help too, with every maker in it', async () => {
    expect((await run(['help', 'rigs', 'check'])).out).toBe((await run(['rigs', 'check', '--help'])).out)
    const { out } = await check('--help')
    expect(out).toContain('Usage: newcut rigs check [options] <server>')
    const [, listed] = out.split('Makers (default: all):\n')
    const lines = listed.trimEnd().split('\n')
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual(makers.map(({ name, rig }) => [name, rig]))
  })

  it('newcut rigs check stops on request', async () => {
    let asked = 0
    const at = await scripted({ ...good, 'mining.subscribe': () => asked++ })
    const stopped = { code: 1, out: '', err: 'stopped before it was done\n' }
    expect(await startHere(['rigs', 'check', at]).stop()).toMatchObject(stopped)
    const running = startHere(['rigs', 'check', at])
    // All makers except the one that authorizes first.
    await until(() => asked >= makerNames.length - 1)
    expect(await running.stop()).toMatchObject(stopped)
  })
})

describe('a server that sends nothing', () => {
  it('newcut rigs check times out during the handshake with a server that sends nothing', async () => {
    const clock = new VirtualClock()
    // This TLS handshake never completes.
    const address = readServerAddress(`stratum+ssl://${await silent()}`)
    const tried = connectTo(address, clock, 5_000, new AbortController().signal).catch((error: Error) => error.message)
    await clock.pass(4_999)
    expect(clock.pending).toBe(1)
    await clock.pass(1)
    expect(await tried).toMatch(/^stratum\+ssl:.*: no connection within 5 s$/)
    expect(clock.pending).toBe(0)
  })

  it('newcut rigs check opens no further connections once it is stopped', async () => {
    const address = readServerAddress(await silent())
    const tried = connectTo(address, new VirtualClock(), 5_000, AbortSignal.abort())
    await expect(tried).rejects.toThrow(/: stopped$/)
  })

  it('newcut rigs check reports a server that sends nothing after the timeout at the log-in', async () => {
    const at = await scripted({ ...good, 'mining.subscribe': () => undefined })
    const clock = new VirtualClock()
    let out = ''
    const write = (text: string) => {
      out += text
      return true
    }
    const flags = { maker: 'ka3', timeout: '20s' }
    const layers = { orders: {}, flags, environment: {}, content: {}, file: null }
    const { values } = resolveLayers(rigsCheckOptions, layers)
    const running = runRigsCheck(at, values, { ...silentContext, out: { write } }, clock)
    let code: number | null = null
    void running.then((ended) => {
      code = ended
    })
    await until(async () => {
      await clock.pass(20_000)
      return code !== null
    })
    expect(code).toBe(1)
    expect(out).toContain('fails: mining.subscribe has no answer within 20 s')
  })
})
