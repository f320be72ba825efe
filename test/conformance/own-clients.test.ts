/** `newcut conformance --serve` as users type it, with our own wallet and miner as clients. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ClientResult } from '../../src/client/conformance/clients/judge.ts'
import { type Ended, type Running, run, start, startHere } from '../cli/run.ts'
import { until } from '../wait.ts'

const KEY = '368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca'

function folder(files: Readonly<Record<string, unknown>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-clients-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), JSON.stringify(content))
  return path
}

/** A server, and what it said when it ended. */
interface Session<T> {
  readonly used: T
  readonly ended: Ended
}

type Server = Pick<Running, 'err' | 'ended'>

/** Starts the server in this process, uses it, and stops it as Ctrl-C does. */
async function session<T>(args: readonly string[], use: (url: string) => Promise<T>): Promise<Session<T>> {
  const server = startHere(['conformance', '--serve', '0', ...args])
  const used = await use(await addressOf(server))
  return { used, ended: await server.stop() }
}

async function addressOf({ err, ended }: Server): Promise<string> {
  const address = () => /serving (http:\S+) /.exec(err())?.[1]
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  await until(() => address() !== undefined || isOver)
  return address() ?? expect.fail(err())
}

async function walletSession() {
  return session(['--json'], async (url) => {
    const runAtNode = (args: readonly string[]) => run([...args, '--node', url])
    // One after the other: each meets the next situation.
    for (let i = 0; i < 4; i++) await runAtNode(['send', `(+ 1 ${i})`, '--key', 'sender00', '--sender', 'sender00'])
    await runAtNode(['transfer', 'sender00', 'sender01', '1.5', '--key', 'sender00', '--chain', '0', '--to-chain', '1'])
  })
}

const minerSession = () =>
  session(['--json'], (url) => run(['mine', '--node', url, '--public-key', KEY, '--threads', '1', '--blocks', '15']))

const answer = { status: 418, text: 'short and stout' }
const ownSituations = [
  { name: 'a teapot', source: 'RFC 2324', on: ['nodeInfo'], answer, never: { forMs: 600_000 } },
  { name: 'a lost teapot', source: 'RFC 2324', on: ['cut'], answer, again: { by: ['cut'], same: 'bytes' } },
]

const teapotSession = (cases: string) =>
  session(['--cases', cases], async (url) => {
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await fetch(`${url}/info`)).status)
    statuses.push((await fetch(`${url}/chainweb/0.0/development/cut`)).status)
    return statuses
  })

/** Sends a command with this gas limit to chain 0 of the network. */
async function gasVerdict(args: readonly string[], network: string, gasLimit: number) {
  const { used, ended } = await session(['--json', ...args], async (url) => {
    const info = (await (await fetch(`${url}/info`)).json()) as { readonly nodeVersion: string }
    const command = ['send', '(+ 1 2)', '--key', 'sender00', '--sender', 'sender00', '--no-wait', '--no-preflight']
    await run([...command, '--gas-limit', String(gasLimit), '--node', url])
    return info.nodeVersion
  })
  expect(used).toBe(network)
  const { cases } = JSON.parse(ended.out) as { readonly cases: readonly ClientResult[] }
  return cases.find(({ name }) => name === 'gas limit and gas price are those that nodes take')?.outcome
}

/** Asks once, and leaves the end to the server. */
async function idleSession() {
  const args = ['--idle', '300ms', '--junit', junit, '--only', 'requests: ']
  const server = startHere(['conformance', '--serve', '0', ...args])
  await fetch(`${await addressOf(server)}/eth_call`)
  return server.ended
}

/** Ends a process by Ctrl-C. */
async function signalledSession() {
  const server = start(['conformance', '--serve', '0', '--json', '--only', 'requests: '])
  await fetch(`${await addressOf(server)}/health-check`)
  server.child.kill('SIGINT')
  return server.ended
}

/** All of them mostly wait, so they run at the same time. */
let sessions: {
  readonly wallet: Session<void>
  readonly miner: Session<Ended>
  readonly teapot: Session<readonly number[]>
  readonly nobody: Session<Ended>
  readonly idle: Ended
  readonly signalled: Ended
}
const shared = mkdtempSync(join(tmpdir(), 'newcut-clients-'))
const junit = join(shared, 'client.xml')
afterAll(() => rmSync(shared, { recursive: true }))

beforeAll(async () => {
  const cases = join(shared, 'cases')
  mkdirSync(cases)
  writeFileSync(join(cases, 'own.json'), JSON.stringify({ about: 'own', situations: ownSituations }))
  const [wallet, miner, teapot, nobody, idle, signalled] = await Promise.all([
    walletSession(),
    minerSession(),
    teapotSession(cases),
    session([], (url) => run(['conformance', '--serve', new URL(url).port])),
    idleSession(),
    signalledSession(),
  ])
  sessions = { wallet, miner, teapot, nobody, idle, signalled }
})

/** Names of the cases with an outcome. */
function namesOf({ out }: Ended, wanted: (result: ClientResult) => boolean): string[] {
  const { cases } = JSON.parse(out) as { readonly cases: readonly ClientResult[] }
  return cases.filter(wanted).map(({ group, name }) => `${group}: ${name}`)
}
/** The cases that are wrong, with the reason. */
function wrong({ out }: Ended): string[] {
  const { cases } = JSON.parse(out) as { readonly cases: readonly ClientResult[] }
  return cases.filter(isWrong).map(({ group, name, failure, gaveUp }) => {
    return `${group}: ${name}: ${(failure ?? gaveUp)?.got}`
  })
}
const isPassed = ({ outcome }: ClientResult) => outcome === 'passed'
const isWrong = ({ outcome, gaveUp }: ClientResult) => outcome === 'failed' || gaveUp !== null

describe('our own client', () => {
  it('our own client passes as a wallet: sends that are disturbed, refused, and transfers between chains', () => {
    const { ended } = sessions.wallet
    expect(wrong(ended)).toEqual([])
    expect(ended.code).toBe(0)
    expect(namesOf(ended, isPassed)).toEqual(
      expect.arrayContaining([
        'commands: every signer has signed the hash',
        'sending: the node takes a command, and the connection closes before the answer',
        'sending: the connection closes before the node has the command',
        'sending: send is 503 once',
        'busy: poll is 429 with Retry-After',
      ]),
    )
  })

  it('our own client passes as a miner: work, solutions and streams that are disturbed', () => {
    const { ended, used } = sessions.miner
    expect(wrong(ended)).toEqual([])
    expect(ended.code).toBe(0)
    expect(used.code).toBe(0)
    const passed = namesOf(ended, (each) => isPassed(each) && each.group !== 'answers')
    const groups = new Set(passed.map((name) => name.split(':')[0]))
    expect([...groups].toSorted()).toEqual(['busy', 'connections', 'miners', 'mining', 'requests'])
  })
})

describe('the server', () => {
  it('the server ends by itself when the client sends nothing more, with a verdict and JUnit XML', () => {
    const { out, code } = sessions.idle
    expect(out.split('\n')[0]).toBe(
      'FAILED requests: the path is an endpoint of live nodes (request 1, GET /eth_call): request: ' +
        'expected the path is an endpoint of live nodes, got /eth_call is not an endpoint',
    )
    expect(code).toBe(1)
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite name="requests" tests="\d+" failures="1"/)
  })

  it('the server ends on Ctrl-C, with a verdict', () => {
    const { code, signal } = sessions.signalled
    expect(namesOf(sessions.signalled, isPassed).length).toBeGreaterThan(3)
    expect(code).toBe(0)
    expect(signal).toBe(null)
  })

  it('the server judges by situations of the user', () => {
    const { used, ended } = sessions.teapot
    expect(used).toEqual([418, 418, 200, 418])
    expect(ended.out).toContain(
      'FAILED own: a teapot (request 1, GET /info): next request: expected no repetition of this request, got 2 times,',
    )
    expect(ended.out).toMatch(
      /^gave up own: a lost teapot \(request 4, GET \S+\/cut\): expected the same request again/m,
    )
  })

  it('the server without a client says so, and fails', () => {
    const { out, code } = sessions.nobody.ended
    expect(out).toContain('0 passed, 0 failed')
    expect(code).toBe(1)
  })
})

describe('bad input', () => {
  const situation = { name: 'a', source: 'b', on: ['cut'], fault: 'close', again: { by: ['cut'], same: 'bytes' } }
  const file = (more: object) => ({ 'own.json': { about: 'own', situations: [{ ...situation, ...more }] } })

  it.each([
    [['--serve', 'x'], '--serve x: expected a whole number from 0 to 65535'],
    [['--serve', '70000'], '--serve 70000: expected a whole number'],
    [['--serve', '0', '--node', 'http://127.0.0.1:1'], '--node has no effect: --serve judges a client'],
    [['--serve', '0', '--release', 'spec'], '--release has no effect: --serve judges a client'],
    [['--serve', '0', '--only', 'luck'], '--only luck: no rule and no situation has this in its name'],
    [['--serve', '0', '--idle', 'soon'], '--idle soon: expected'],
    [['--serve', '0', '--cases', '/no/such'], 'cannot read the folder of situations /no/such'],
    [['--node', 'http://127.0.0.1:1', '--idle', '1s'], '--idle has no effect: a run against a node ends by itself'],
  ])('newcut conformance %j is refused with a text', async (args, text) => {
    const { err, code } = await run(['conformance', ...args])
    expect(err).toContain(text)
    expect(err).not.toMatch(/\n\s+at /)
    expect(code).not.toBe(0)
  })

  it.each([
    [{ on: ['luck'] }, 'there is no endpoint luck'],
    [{ answer: { status: 200 } }, 'expected one of answer, fault, shape, merge, got answer and fault'],
    [{ fault: undefined }, 'got none'],
    [{ never: { forMs: 1 } }, 'expected one of again and never'],
    [{ busyMs: 5 }, 'busyMs and most go together'],
    [{ busyMs: 5, most: 1 }, 'busyMs goes with answer and again, without times'],
    [{ fault: 'luck' }, '/situations/0/fault must be one of close'],
    [{ luck: 1 }, '/situations/0/luck is not a known field'],
  ])('situations with %j are refused: %s', async (more, text) => {
    const { err, code } = await run(['conformance', '--serve', '0', '--cases', folder(file(more))])
    expect(err).toContain(text)
    expect(code).not.toBe(0)
  })

  it('a port that another program has is named', () => {
    const { err, code } = sessions.nobody.used
    expect(err).toContain('cannot serve clients on 127.0.0.1:')
    expect(code).not.toBe(0)
  })
})

describe('newcut conformance --serve --network-file', () => {
  it('newcut conformance --serve --network-file serves the network of the file, and judges gas limits by it', async () => {
    const form = {
      network: 1,
      name: 'my-development',
      public: false,
      graphs: [{ from: 0, graph: 'pair' }],
      gas: { block: 400_000 },
    }
    const file = join(folder({ 'my-development.json': form }), 'my-development.json')
    expect(await gasVerdict(['--network-file', file], 'my-development', 400_000)).toBe('passed')
    expect(await gasVerdict(['--network-file', file], 'my-development', 400_001)).toBe('failed')
    expect(await gasVerdict([], 'development', 400_000)).toBe('failed')
  })
})
