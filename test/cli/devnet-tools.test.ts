/** Features of `newcut devnet` for tests of other programs: funded accounts, a request log, `--exec`. */
import { afterEach, describe, expect, it } from 'vitest'
import { runProcess, start, startHere, stopAll } from './run.ts'

afterEach(stopAll)

const URL_LINE = / at (http:\/\/127\.0\.0\.1:\d+)\n/
const INFO = '/info'
const FIRST_SECRET = '251a920c403ae8c8f65f59142316af3c82b631fba46ddea92ee8c95035bd2898'

/** The complete records of a JSON log so far. */
const recordsOf = (out: string) =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('newcut devnet shows the funded accounts', () => {
  it('newcut devnet shows the funded accounts with their secret keys, a line each, and a warning', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair'])
    await node.sees(/ warning {3}these keys are public: never use them on another network\n/)
    expect(node.out().match(/^ {2}sender0\d [0-9a-f]{64}$/gm)).toHaveLength(10)
    expect(node.out()).toContain(`sender00 ${FIRST_SECRET}\n`)
  })

  it('newcut devnet shows the funded accounts as JSON with --log json', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--log', 'json'])
    await node.sees(/"event":"accounts".*\n/)
    const record = recordsOf(node.out()).find(({ event }) => event === 'accounts')
    expect(record).toMatchObject({ level: 'info', warning: expect.stringContaining('these keys are public') })
    expect(record.accounts).toHaveLength(10)
    expect(record.accounts[0]).toEqual({
      account: 'sender00',
      publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      secretKey: FIRST_SECRET,
      coinsAtGenesis: 100_000_000,
    })
  })
})

describe('newcut devnet --log-requests', () => {
  it('newcut devnet --log-requests prints method, path without its query, status, milliseconds and bytes', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--log-requests'])
    const [, url] = await node.sees(URL_LINE)
    const answer = await fetch(`${url}${INFO}?key=secret`, { headers: { authorization: 'Bearer secret' } })
    const body = await answer.text()
    const [, bytes] = await node.sees(/ request {3}GET \/info {2}200 {2}[\d.]+ ms {2}(\d+) bytes\n/)
    expect(Number(bytes)).toBeGreaterThan(body.length)
    expect(Number(bytes)).toBeLessThan(body.length + 1000)
    await fetch(`${url}/no%1b%5b31m/path`)
    await node.sees(/ request {3}GET \/no%1b%5b31m\/path {2}404 /)
    expect(node.out()).not.toContain('Bearer')
    expect(node.out()).not.toContain('key=')
  })

  it('newcut devnet --log-requests writes JSON records with --log json', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--log-requests', '--log', 'json'])
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)"/)
    await fetch(`${url}/devnet/snapshot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    await node.sees(/"event":"request".*\n/)
    const record = recordsOf(node.out()).find(({ event }) => event === 'request')
    expect(Object.keys(record)).toEqual(['level', 'time', 'event', 'method', 'path', 'status', 'ms', 'bytes'])
    expect(record).toMatchObject({ method: 'POST', path: '/devnet/snapshot', status: 200 })
    expect(record.bytes).toBeGreaterThan(100)
  })

  it('newcut devnet --log-requests reports a stream when it ends', async () => {
    const node = startHere(['devnet', '--port', '0', '--graph', 'pair', '--log-requests'])
    const [, url] = await node.sees(URL_LINE)
    const reader = new AbortController()
    await fetch(`${url}/chainweb/0.0/development/header/updates`, { signal: reader.signal })
    expect(node.out()).not.toContain('header/updates')
    reader.abort()
    await node.sees(/ request {3}GET \/chainweb\/0\.0\/development\/header\/updates {2}200 /)
  })
})

describe('newcut devnet --exec', () => {
  const exec = (command: string, ...args: string[]) => ['devnet', '--graph', 'pair', ...args, '--exec', command]
  const ask = `${process.execPath} -e "fetch(process.env.NEWCUT_NODE + '/info').then((a) => console.log(a.status))"`

  it('newcut devnet --exec runs a command with the address of a fresh node, and passes its output through', async () => {
    const { code, out, err } = await runProcess(exec(`${ask}; echo wrong >&2`))
    expect({ code, out, err }).toEqual({ code: 0, out: '200\n', err: 'wrong\n' })
  })

  it('newcut devnet --exec exits with the code of the command', async () => {
    expect(await runProcess(exec('exit 7'))).toMatchObject({ code: 7, out: '', err: '' })
    expect((await runProcess(exec('no-such-program-here'))).code).toBe(127)
  })

  it('newcut devnet --exec exits with 128 plus the signal number if a signal kills the command', async () => {
    expect(await runProcess(exec('kill -9 $$'))).toMatchObject({ code: 137, out: '' })
  })

  it('two runs of newcut devnet --exec at once do not disturb each other', async () => {
    const both = await Promise.all([runProcess(exec(`${ask}; sleep 0.5`)), runProcess(exec(`${ask}; sleep 0.5`))])
    expect(both).toMatchObject([
      { code: 0, out: '200\n' },
      { code: 0, out: '200\n' },
    ])
  })

  it('newcut devnet --exec mines beside the command with --mine', async () => {
    const wait = `fetch(u).then(a => a.json()).then(c => c.height > 0 ? console.log('mined') : setTimeout(look, 50))`
    const script = `const u = process.env.NEWCUT_NODE + '/chainweb/0.0/development/cut'; const look = () => ${wait}; look()`
    const args = ['--mine', '--threads', '1', '--kernel', 'js', '--difficulty', '10']
    expect(await runProcess(exec(`${process.execPath} -e "${script}"`, ...args))).toMatchObject({
      code: 0,
      out: 'mined\n',
    })
  })

  it('newcut devnet --exec ends the command and all its child processes when it is stopped', async () => {
    const node = start(exec('echo begun; sleep 100 & wait'))
    await node.sees(/begun/)
    node.child.kill('SIGTERM')
    expect(await node.ended).toMatchObject({ code: 143, signal: null })
  })
})
