/** `newcut conformance --serve` as users type it, with our own wallet and miner as clients. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Running, run, start } from '../cli/run.ts'
import { until } from '../wait.ts'

const KEY = '368820f80c324bbc7c2b0610688a7da43e39f91d118732671cd9c7500ff43cca'

function folder(files: Readonly<Record<string, unknown>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-clients-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), JSON.stringify(content))
  return path
}

/** Starts the server, and waits for its address. */
async function serving(...args: readonly string[]): Promise<Running & { readonly url: string }> {
  const server = start(['conformance', '--serve', '0', ...args])
  const address = () => /serving (http:\S+) /.exec(server.err())?.[1]
  await until(() => address() !== undefined)
  return { ...server, url: address() as string }
}

async function ended(server: Running) {
  server.child.kill('SIGINT')
  return server.ended
}

describe('our own client', () => {
  it('as a wallet passes: sends that are disturbed, refused, and transfers between chains', async () => {
    const server = await serving('--json')
    const typed = (args: readonly string[]) => run([...args, '--node', server.url])
    for (let i = 0; i < 5; i++) await typed(['send', `(+ 1 ${i})`, '--key', 'sender00', '--sender', 'sender00'])
    const transfer = ['transfer', 'sender00', 'sender01', '1.5', '--key', 'sender00', '--chain', '0', '--to-chain', '1']
    await typed(transfer)
    const { out, code } = await ended(server)
    const { cases } = JSON.parse(out)
    const named = (wanted: string) =>
      cases
        .filter(({ outcome }: { outcome: string }) => outcome === wanted)
        .map(({ group, name }: { group: string; name: string }) => `${group}: ${name}`)
    expect([named('failed'), code]).toEqual([[], 0])
    expect(named('passed')).toEqual(
      expect.arrayContaining([
        'commands: every signer has signed the hash',
        'sending: the node takes a command, and the connection closes before the answer',
        'sending: send is 503 once',
        'busy: poll is 429 with Retry-After',
      ]),
    )
  })

  it('as a miner passes: work, solutions and streams that are disturbed', async () => {
    const server = await serving('--json')
    const mined = await run(['mine', '--node', server.url, '--public-key', KEY, '--threads', '1', '--blocks', '15'])
    const { out, code } = await ended(server)
    const { cases } = JSON.parse(out)
    const of = (wanted: string) =>
      cases.filter(
        ({ outcome, group }: { outcome: string; group: string }) =>
          outcome === wanted && (wanted === 'failed' || group !== 'answers'),
      )
    expect([of('failed'), code, mined.code]).toEqual([[], 0, 0])
    const groups = new Set(of('passed').map(({ group }: { group: string }) => group))
    expect([...groups].toSorted()).toEqual(['busy', 'connections', 'miners', 'mining', 'requests'])
  })
})

describe('the server', () => {
  it('ends by itself when the client asks nothing more, with a verdict and JUnit XML', async () => {
    const junit = join(folder(), 'client.xml')
    const server = await serving('--idle', '300ms', '--junit', junit, '--only', 'requests: ')
    await fetch(`${server.url}/eth_call`)
    const { out, code } = await server.ended
    expect(out.split('\n')[0]).toBe(
      'FAILED requests: the path is an endpoint of live nodes (request 1, GET /eth_call): request: ' +
        'expected the path is an endpoint of live nodes, got /eth_call is no endpoint',
    )
    expect(code).toBe(1)
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite name="requests" tests="\d+" failures="1"/)
  })

  it('judges by situations of the user', async () => {
    const own = {
      name: 'a teapot',
      source: 'RFC 2324',
      on: ['nodeInfo'],
      answer: { status: 418, text: 'short and stout' },
      again: { by: ['nodeInfo'], same: 'bytes' },
    }
    const server = await serving('--cases', folder({ 'own.json': { about: 'own', situations: [own] } }))
    expect((await fetch(`${server.url}/info`)).status).toBe(418)
    const { out } = await ended(server)
    expect(out).toContain('FAILED own: a teapot (request 1, GET /info): next request: expected the same request again')
  })

  it('without a client says so, and fails', async () => {
    const { out, code } = await ended(await serving())
    expect([out, code]).toEqual([expect.stringContaining('0 passed, 0 failed'), 1])
  })
})

describe('bad input', () => {
  const situation = { name: 'a', source: 'b', on: ['cut'], fault: 'close', again: { by: ['cut'], same: 'bytes' } }
  const file = (more: object) => ({ 'own.json': { about: 'own', situations: [{ ...situation, ...more }] } })

  it.each([
    [['--serve', 'x'], '--serve x: expected a port from 0 to 65535'],
    [['--serve', '70000'], '--serve 70000: expected a port'],
    [['--serve', '0', '--node', 'http://127.0.0.1:1'], '--node does not go with --serve'],
    [['--serve', '0', '--release', 'spec'], '--release does not go with --serve'],
    [['--serve', '0', '--only', 'luck'], '--only luck: no rule and no situation has this in its name'],
    [['--serve', '0', '--idle', 'soon'], '--idle soon: expected'],
    [['--serve', '0', '--cases', '/no/such'], 'cannot read the folder of situations /no/such'],
    [['--node', 'http://127.0.0.1:1', '--idle', '1s'], '--idle goes with --serve'],
  ])('%j is refused with a text', async (args, text) => {
    const { err, code } = await run(['conformance', ...args])
    expect([err.includes(text), err, code !== 0]).toEqual([true, expect.not.stringMatching(/\n\s+at /), true])
  })

  it.each([
    [{ on: ['luck'] }, 'there is no endpoint luck'],
    [{ answer: { status: 200 } }, 'expected one of answer, fault, shape, merge, got answer and fault'],
    [{ fault: undefined }, 'got none'],
    [{ never: { forMs: 1 } }, 'expected one of again and never'],
    [{ busyMs: 5 }, 'busyMs and most go together'],
    [{ busyMs: 5, most: 1 }, 'busyMs goes with answer and again, without times'],
    [{ fault: 'luck' }, '/situations/0/fault must be one of close'],
    [{ luck: 1 }, '/situations/0/luck is no known field'],
  ])('situations with %j are refused: %s', async (more, text) => {
    const { err, code } = await run(['conformance', '--serve', '0', '--cases', folder(file(more))])
    expect([err.includes(text), err, code !== 0]).toEqual([true, expect.any(String), true])
  })

  it('a port that another program has is named', async () => {
    const server = await serving()
    const { err, code } = await run(['conformance', '--serve', new URL(server.url).port])
    expect([err.includes('cannot serve clients on 127.0.0.1:'), code !== 0]).toEqual([true, true])
    await ended(server)
  })
})
