/** A network in one file: written at the end, read at the start, and told by GET /devnet/state. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { type Running, run, startHere, start as startProcess, stopAll } from '../cli/run.ts'
import { startRemote } from '../copy/network.ts'
import { type Signed, signed } from './command.ts'
import { exec } from './commands-common.ts'
import { PREFIX } from './common.ts'

async function start(options: DevnetOptions = {}) {
  const devnet = await startDevnet({ port: 0, autoMine: { kind: 'on-demand' }, ...options })
  onTestFinished(() => devnet.close())
  /** Plain calls of the coin contract need no thread. */
  const value = async (code: string, chain = 0) => {
    const answer = await post(devnet.url, `chain/${chain}/pact/api/v1/local`, exec(code))
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { readonly result: { readonly data?: unknown } }).result.data
  }
  return { devnet, value, heads: () => [...devnet.cut.values()].map(({ height, hash }) => [Number(height), hash]) }
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'newcut-test-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

const post = (url: string, path: string, body: unknown) =>
  fetch(`${url}${PREFIX}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function send(url: string, commands: readonly Signed[], chain = 0): Promise<void> {
  const answer = await post(url, `chain/${chain}/pact/api/v1/send`, { cmds: commands })
  expect(answer.status, await answer.text()).toBe(200)
}

/** Chain -> request keys of its pending transactions, oldest first. */
async function pendingOf(url: string, chains = 2): Promise<string[][]> {
  const keysOf = async (chain: number) => {
    const answer = await fetch(`${url}/chainweb/0.0/development/chain/${chain}/mempool/getPending`, { method: 'POST' })
    return ((await answer.json()) as { hashes: string[] }).hashes
  }
  return Promise.all(Array.from({ length: chains }, (_, chain) => keysOf(chain)))
}

const unpackedLines = (state: Uint8Array) => gunzipSync(state).toString().trimEnd().split('\n')

/** A state with these lines, and the right number of them in the last one. */
const packed = (lines: readonly string[]) =>
  gzipSync([...lines.slice(0, -1), `{"records":${lines.length - 2}}`, ''].join('\n'))

/** Gives this test a folder of its own for temporary files. */
async function ownTemporaryFolder(): Promise<string> {
  const { TMPDIR: before } = process.env
  process.env.TMPDIR = await folder()
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  return process.env.TMPDIR
}

describe('a state file', () => {
  it('a state file is written at the end, and the next node begins with it', async () => {
    const stateFile = join(await folder(), 'network.state')
    const first = await start({ stateFile, graph: 'pair', impersonate: ['*'] })
    await first.devnet.fund('sender01', 5, 1)
    const before = await first.value('(coin.get-balance "sender01")', 1)
    await first.devnet.mine({ 0: 3 })
    const heads = first.heads()
    await first.devnet.close()
    const temporary = await ownTemporaryFolder()
    // The graph is that of the file.
    const second = await start({ stateFile })
    expect(second.heads()).toEqual(heads)
    expect(await second.value('(coin.get-balance "sender01")', 1)).toEqual(before)
    await second.devnet.mine({ 1: 1 })
    const later = second.heads()
    await second.devnet.close()
    expect((await start({ stateFile })).heads()).toEqual(later)
    // The folder of a node that ended is gone.
    expect(await readdir(temporary)).toEqual([expect.stringMatching(/^newcut-state-/)])
  })

  it('a state file goes from a running node to another program, as often as wanted', async () => {
    const { devnet } = await start({ graph: 'pair' })
    await devnet.rows(0, 'coin.coin-table', { sender02: { balance: 7.5 } })
    const state = await devnet.state()
    await devnet.mine({ 0: 1 })
    for (let i = 0; i < 2; i++) {
      const { value, devnet: copy } = await start({ state })
      expect(copy.cut.get(0)?.height).toBe(1n)
      expect(await value('(coin.get-balance "sender02")')).toBe(7.5)
    }
    // A state is preferred to the file, which gets it at the end.
    const stateFile = join(await folder(), 'network.state')
    await writeFile(stateFile, 'hello')
    const both = await start({ state, stateFile })
    const heads = both.heads()
    await both.devnet.close()
    expect((await start({ stateFile })).heads()).toEqual(heads)
  })

  it('a state file has privileged blocks, and the fork with which the network began', async () => {
    const remote = await startRemote()
    const lowest = Math.min(...[...remote.devnet.cut.values()].map(({ height }) => Number(height)))
    const fork = { url: remote.devnet.url, cut: String(lowest), perSecond: 1000 }
    const { devnet, value } = await start({ fork })
    expect(await value('(free.fork-token.balance "alice")')).toBe(100.5)
    const copy = await start({ state: await devnet.state() })
    expect(copy.devnet.fork?.pin).toEqual(devnet.fork?.pin)
    expect(await copy.value('(free.fork-token.balance "alice")')).toBe(100.5)
  })

  it('a state file is an option of newcut devnet', async () => {
    onTestFinished(() => stopAll())
    const file = join(await folder(), 'network.state')
    const args = ['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair', '--state-file', file]
    const node = startHere(args)
    const [, url] = await node.sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/)
    expect((await run(['fund', 'sender00', '1'], { NEWCUT_NODE: url })).code).toBe(0)
    node.stop()
    expect((await node.ended).code).toBe(0)
    const again = startHere(args)
    const [, blocks] = await again.sees(/\nstate: .*network\.state, (\d+) blocks; saved at the end\n/)
    expect(Number(blocks)).toBe(3)
    again.stop()
    await again.ended
    const both = await run(['devnet', '--data', 'x', '--state-file', file], {})
    expect(both.code).toBe(2)
    expect(both.err).toContain('--data and --state-file exclude each other')
  })

  it('a state file has the pending transactions, which are pending again', async () => {
    const { devnet } = await start({ graph: 'pair', impersonate: ['*'] })
    const [cheap, dear, other] = [signed({ gasPrice: 1e-7 }), signed({ gasPrice: 1e-5 }), signed({ chainId: '1' })]
    const unsigned = { ...signed(), sigs: [null] }
    await send(devnet.url, [cheap])
    await send(devnet.url, [dear, unsigned])
    await send(devnet.url, [other], 1)
    const keys = [[cheap.hash, dear.hash, unsigned.hash], [other.hash]]
    const notices: string[] = []
    const { devnet: copy } = await start({ state: await devnet.state(), onNotice: (text) => notices.push(text) })
    expect(await pendingOf(copy.url)).toEqual(keys)
    expect(notices).toEqual(['state: 4 of 4 transactions are pending again'])
    const { blocks } = await copy.mine({ 0: 1, 1: 1 })
    expect(blocks[0][0].requestKeys).toEqual([dear.hash, cheap.hash, unsigned.hash])
    expect(blocks[1][0].requestKeys).toEqual([other.hash])
    expect(copy.pending).toBe(0)
    // The start of the copy has them.
    await copy.reset()
    expect(await pendingOf(copy.url)).toEqual(keys)
    // A node that mines on arrival need not wait for another one.
    const arrival = await start({ state: await devnet.state(), autoMine: { kind: 'on-arrival', confirmations: 0 } })
    await expect.poll(() => arrival.devnet.pending).toBe(0)
    expect(arrival.devnet.cut.get(1)?.height).toBeGreaterThan(0n)
  })

  it('a state file drops pending transactions that are no longer valid, and says how many', async () => {
    const { devnet } = await start({ graph: 'pair' })
    const included = signed()
    await send(devnet.url, [included])
    await devnet.mine({ 0: 1 })
    const valid = signed()
    await send(devnet.url, [valid])
    const lines = unpackedLines(await devnet.state())
    const line = (chain: number, command: unknown) =>
      JSON.stringify([chain, Buffer.from(JSON.stringify(command)).toString('base64')])
    const hourAgo = Math.floor(Date.now() / 1000) - 3600
    const added = [
      line(0, signed({ creationTime: hourAgo, ttl: 3000 })),
      line(0, signed({ creationTime: hourAgo, ttl: 3500 })),
      line(0, included),
      line(0, { ...signed(), sigs: [{ sig: '00' }] }),
      line(7, signed({ chainId: '7' })),
      line(0, 'hello'),
    ]
    const notices: string[] = []
    const state = packed([lines[0], ...added, ...lines.slice(1)])
    const { devnet: copy } = await start({ state, onNotice: (text) => notices.push(text) })
    expect(await pendingOf(copy.url)).toEqual([[valid.hash], []])
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(/^state: 1 of 7 transactions are pending again, 6 were dropped \(2: Transaction time-to/)
    for (const why of ['1: Transaction already exists', '1: the network has no chain 7', '1: the command must be']) {
      expect(notices[0]).toContain(why)
    }
  })

  it('a state file of an earlier version has no pending transactions', async () => {
    const { devnet, heads } = await start({ graph: 'pair' })
    await devnet.mine({ 0: 2 })
    const lines = unpackedLines(await devnet.state())
    const older = await start({
      state: packed([lines[0].replace('"newcutState":2', '"newcutState":1'), ...lines.slice(1)]),
    })
    expect(older.heads()).toEqual(heads())
    expect(older.devnet.pending).toBe(0)
  })

  it('a state file keeps the pending transactions of its last whole end, if a later process is killed', async () => {
    onTestFinished(() => stopAll())
    const file = join(await folder(), 'network.state')
    const args = ['devnet', '--port', '0', '--auto-mine', 'on-demand', '--graph', 'pair', '--state-file', file]
    const urlOf = async ({ sees }: Pick<Running, 'sees'>) => (await sees(/ at (http:\/\/127\.0\.0\.1:\d+)\n/))[1]
    const [kept, lost] = [signed(), signed()]
    const first = startHere(args)
    await send(await urlOf(first), [kept])
    expect((await first.stop()).code).toBe(0)
    const second = startProcess(args)
    const url = await urlOf(second)
    await send(url, [lost])
    expect(await pendingOf(url)).toEqual([[kept.hash, lost.hash], []])
    second.child.kill('SIGKILL')
    await second.ended
    const third = startHere(args)
    expect(await pendingOf(await urlOf(third))).toEqual([[kept.hash], []])
    await third.sees(/state: 1 of 1 transactions are pending again/)
  })

  const message = (text: string) => ({ code: 'DATA_UNUSABLE', message: expect.stringContaining(text) })

  it('a state file is refused with the reason if it is damaged', async () => {
    const { devnet } = await start({ graph: 'pair' })
    const state = await devnet.state()
    const lines = gunzipSync(state).toString().split('\n')
    const of = (...changed: string[]) => gzipSync(changed.join('\n'))
    const cases: [Uint8Array, string][] = [
      [Buffer.from('hello'), 'not a state of a newcut network: incorrect header check'],
      [state.subarray(0, state.length / 2), 'not a state of a newcut network: '],
      [gzipSync('{}\n'), 'not a state of a newcut network: it has other content'],
      [gzipSync('hello'), 'not a state of a newcut network: it has other content'],
      [gzipSync('{"a":1}\n'.repeat(200_000)), 'not a state of a newcut network: it has other content'],
      [gzipSync('{"newcutState":1,"fork":5}\n'), 'not a state of a newcut network: it has other content'],
      [of(lines[0].replace(':2', ':3')), 'a state of version 3; this newcut reads versions 1 and 2'],
      [of(lines[0], '[0]', ...lines.slice(1)), 'network: its line 2 is not a record'],
      [of(lines[0], '[0,"e30="]', ...lines.slice(1)), 'network: it is cut off'],
      [of(...lines.slice(0, 3)), 'not a state of a newcut network: it is cut off'],
      [of(lines[0], ...lines.slice(2)), 'not a state of a newcut network: it is cut off'],
      [of(lines[0], lines[1].replace('",', '",1'), ...lines.slice(2)), 'network: its line 2 is not a record'],
      [of(lines[0], lines[1], 'null', ...lines.slice(2)), 'network: its line 3 is not a record'],
      [of(lines[0], '["key"]', ...lines.slice(1)), 'network: its line 2 is not a record'],
      [of(lines[0], '{"other":1}', ...lines.slice(1)), 'network: its line 2 is not a record'],
      [of(...lines.slice(0, -3), ...lines.slice(-2)), 'network: it is cut off'],
      [of(...lines, '[0,"e30="]', ''), 'not a state of a newcut network: text follows its last line'],
      [state.with(-8, state[state.length - 8] ^ 1), 'not a state of a newcut network: incorrect data check'],
      [of(lines[0], lines[1].replace(/"(.)(.*)"\]$/, '"$1AAAA$2"]'), ...lines.slice(2)), 'state/blocks: damaged: '],
    ]
    for (const [bytes, text] of cases) {
      await expect(startDevnet({ port: 0, state: bytes })).rejects.toMatchObject(message(text))
    }
    const file = join(await folder(), 'x.state')
    await writeFile(file, 'hello')
    await expect(startDevnet({ port: 0, stateFile: file })).rejects.toMatchObject(message(`${file}: not a state of`))
    expect(await readFile(file, 'utf8')).toBe('hello')
  })

  it('a state file is refused with other settings, beside a data directory, and where it cannot be written', async () => {
    const { devnet } = await start({ graph: 'pair' })
    const state = await devnet.state()
    await expect(startDevnet({ port: 0, state, graph: 'petersen' })).rejects.toMatchObject(
      message('state: its network has graph pair, not graph petersen'),
    )
    await expect(startDevnet({ port: 0, state, dataDir: '/tmp/x' })).rejects.toMatchObject({ code: 'BAD_OPTION' })
    const lost = startDevnet({ port: 0, graph: 'pair', stateFile: '/proc/none/x.state' })
    await expect(lost).rejects.toMatchObject(message('/proc/none/x.state: the state cannot be written'))
    const place = join(await folder(), 'gone')
    await mkdir(place)
    const cut = await startDevnet({ port: 0, graph: 'pair', stateFile: join(place, 'x.state') })
    expect(await readdir(place)).toEqual([])
    await rm(place, { recursive: true })
    await expect(cut.close()).rejects.toMatchObject(message('gone/x.state: the state cannot be written'))
    // A folder stands where the file has to go. No half of a file stays.
    const home = await folder()
    const stateFile = join(home, 'network.state')
    const late = await startDevnet({ port: 0, graph: 'pair', stateFile })
    await mkdir(join(stateFile, 'in'), { recursive: true })
    await expect(late.close()).rejects.toMatchObject(message('the state cannot be written'))
    expect(await readdir(home)).toEqual(['network.state'])
  })

  it('the node gives the path of a state file only to programs on this machine', async () => {
    const { devnet } = await start({ graph: 'pair' })
    const answer = await fetch(`${devnet.url}/devnet/state`, { headers: { origin: 'http://example.com' } })
    expect(answer.status).toBe(403)
  })
})
