/** Files of a fork that are damaged or edited: a text says so, and no run gives a wrong result. */
import { appendFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { makeBlocks } from '../devnet/commands-common.ts'
import { folder, remoteOfFile, reorganise, startFork, startRemote } from './network.ts'
import { proxyTo } from './proxy.ts'

const remote = remoteOfFile()

const FILE = '(expect "balance" 100.5 (free.fork-token.balance "alice"))'

const encoded = (hash: Uint8Array | undefined) => Buffer.from(hash ?? []).toString('base64url')

/** A test file on a fork with a cache, and the file of its chain in there. */
async function cachedRun() {
  const { devnet } = remote
  const proxy = await proxyTo(devnet.url)
  const cache = folder()
  const file = join(folder(), 'test.repl')
  writeFileSync(file, FILE)
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  const args = ['test', file, '--fork', proxy.url, '--fork-cache', cache, '--fork-limit', '1000/s']
  const test = (cut = String(height)) => run([...args, '--fork-cut', cut])
  expect((await test()).code).toBe(0)
  const [name] = readdirSync(join(cache, 'development'))
  return { proxy, cache, test, lines: join(cache, 'development', name) }
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const changed = change(text)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
}

/** Another balance of alice: 100.6 instead of 100.5. */
const richer = (text: string) => text.replace(/(row:free[^\n]*alice[^\n]*"balance",\{"decimal":\[")3ed/, '$13ee')

describe('a line of the cache', () => {
  it('a changed line of the cache is reported, dropped and fetched again', async () => {
    const { test, lines, proxy } = await cachedRun()
    for (const change of [
      richer,
      (text: string) => text.replace('"row:free', '"row;free'),
      (text: string) => text.replace('["modules"', '["modu'),
    ]) {
      edit(lines, change)
      const before = proxy.seen.length
      const { code, out, err } = await test()
      expect(out, err).toContain('1 passed')
      expect(code, err).toBe(0)
      expect(err).toMatch(
        /the cache .*\.jsonl: line \d+ is damaged or was edited: newcut drops that, and fetches it again/,
      )
      expect(proxy.seen.length).toBeGreaterThan(before)
    }
    const { err } = await test()
    expect(err).not.toContain('damaged')
  })

  it('a changed line of the cache gives no result without a node', async () => {
    const { test, lines, proxy, cache } = await cachedRun()
    const [pin] = readdirSync(join(cache, 'development')).map((name) => join(cache, 'development', name))
    expect(pin).toBe(lines)
    await proxy.close()
    const pinned = JSON.stringify({ network: 'development', hashes: { 0: pinnedIn(lines) } })
    expect((await test(pinned)).code).toBe(0)
    edit(lines, richer)
    const { code, out, err } = await test(pinned)
    expect(out).not.toContain('passed, 0 failed')
    expect(code).not.toBe(0)
    expect(err).toContain('is damaged or was edited')
    expect(err).toContain('gave no answer in 6 attempts')
  })

  it('a line that a killed process left half written causes no message', async () => {
    const { test, lines } = await cachedRun()
    appendFileSync(lines, '["row:free.fork-token.accounts|al')
    const { code, err } = await test()
    expect(err).not.toContain('damaged')
    expect(code).toBe(0)
    appendFileSync(lines, readFileSync(lines, 'utf8').split('\n')[1].slice(0, 30))
    expect((await test()).err).not.toContain('damaged')
  })
})

const pinnedIn = (lines: string) => {
  const { height, hash } = JSON.parse(readFileSync(lines, 'utf8').split('\n')[0])
  return { height, hash }
}

it('a cache of another block is refused', async () => {
  const { test, lines } = await cachedRun()
  edit(lines, (text) => text.replace(/"hash":"../, '"hash":"~~'))
  const { code, err } = await test()
  expect(err).toContain('is of another block or another newcut')
  expect(code).not.toBe(0)
  expect(err).toContain('remove the file, or name another folder with --fork-cache')
})

it('a cut with blocks of several branches is refused', async () => {
  const remote = await startRemote()
  const { peer, devnet } = remote
  await makeBlocks(peer, { 0: 1, 1: 1 })
  await makeBlocks(peer, { 0: 1 })
  const old = devnet.cut.get(0)
  await reorganise(remote, 2)
  await makeBlocks(peer, { 1: 1 })
  const other = devnet.cut.get(1)
  expect(other?.height).toBe((old?.height ?? 0n) + 1n)
  const height = Number(old?.height)
  const cut = { hashes: { 0: { height, hash: encoded(old?.hash) }, 1: { height, hash: encoded(other?.parent) } } }
  const args = ['fork', devnet.url, '--fork-cache', 'off', '--fork-limit', '1000/s', '--fork-cut', JSON.stringify(cut)]
  const { code, err } = await run(args)
  expect(err).toContain('the cut of the fork: its blocks of chains 1 and 0 are of different branches')
  expect(code).not.toBe(0)
  const part = JSON.stringify({ hashes: { 0: cut.hashes[0] } })
  const missing = await run([...args.slice(0, -1), part])
  expect(missing.err).toContain('the cut of the fork: it lacks chain 1')
  expect(missing.code).not.toBe(0)
})

describe('fork.json of a data directory', () => {
  const data = async (fork = {}) => {
    const dataDir = folder()
    const forked = await startFork(remote, fork, { dataDir })
    await makeBlocks(forked.peer, { 0: 1 })
    await forked.devnet.close()
    return dataDir
  }
  const refusal = async (dataDir: string) => {
    const { code, err } = await run(['devnet', '--port', '0', '--data', dataDir])
    expect(err).not.toContain('    at ')
    expect(code).not.toBe(0)
    return err
  }

  it('a changed fork.json of a data directory is refused', async () => {
    const dataDir = await data()
    const file = join(dataDir, 'fork.json')
    const whole = readFileSync(file, 'utf8')
    for (const [change, text] of [
      [(kept: string) => kept.replace('"chains":null', '"chains":[0]'), 'was edited: its checksum is wrong'],
      [(kept: string) => kept.replace(/http:\/\/127[^"]*/, 'http://127.0.0.1:1'), 'was edited: its checksum is wrong'],
      [(kept: string) => kept.replace('"fork":2', '"fork":1'), 'it is damaged, or of another newcut'],
      [(kept: string) => kept.slice(0, 40), 'fork.json: it cannot be read'],
      [() => 'null', 'it is damaged, or of another newcut'],
    ] as const) {
      writeFileSync(file, change(whole))
      const err = await refusal(dataDir)
      expect(err).toContain(text)
      expect(err).toContain('another address of the node goes with --fork URL')
    }
  })

  it('the fork.json of another fork does not fit the blocks', async () => {
    const [one, cut] = [await data(), String(Number(remote.devnet.cut.get(1)?.height) - 1)]
    const other = await data({ cut })
    cpSync(join(other, 'fork.json'), join(one, 'fork.json'))
    expect(await refusal(one)).toContain('not the pinned block of its chain')
  })
})
