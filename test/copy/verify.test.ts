/** `newcut fork`: the cut of a fork, and the comparison of a node with this evaluator. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { makeBlocks, startLedger } from '../devnet/commands-common.ts'
import { execWith, folder, inBlock, remoteOfFile } from './network.ts'
import { proxyTo } from './proxy.ts'

const remote = remoteOfFile()

async function forkOf(args: readonly string[] = []) {
  const { devnet } = remote
  const proxy = await proxyTo(devnet.url)
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  const call = (more: readonly string[]) =>
    run([
      'fork',
      proxy.url,
      '--fork-cache',
      'off',
      '--fork-limit',
      '1000/s',
      '--fork-cut',
      String(height),
      ...args,
      ...more,
    ])
  return { proxy, call, height, devnet }
}

it('newcut fork prints the cut of a fork, with which another begins at the same blocks', async () => {
  const { call, proxy, height, devnet } = await forkOf()
  const { code, out } = await call([])
  expect(JSON.parse(out)).toMatchObject({ network: 'development', height })
  expect(code).toBe(0)
  const file = join(folder(), 'cut.json')
  writeFileSync(file, out)
  const test = join(folder(), 'test.repl')
  writeFileSync(test, '(expect "height" true (= (at "block-height" (chain-data)) '.concat(`${height + 1}))`))
  const again = await run(['test', test, '--fork', proxy.url, '--fork-cache', 'off', '--fork-cut', file])
  expect(again.out, again.err).toContain('1 passed')
  expect(again.code, again.err).toBe(0)
  expect(devnet.cut.size).toBe(Object.keys(JSON.parse(out).hashes).length)
})

it('newcut fork --verify names the live module in which a test file ended', async () => {
  const { proxy, height } = await forkOf()
  const test = join(folder(), 'ends.repl')
  writeFileSync(test, '(expect "one" 1 1)\n(free.fork-second.fails)\n')
  const fork = ['--fork', proxy.url, '--fork-cache', 'off', '--fork-cut', String(height)]
  const { code, out } = await run(['test', test, ...fork])
  expect(out).toMatch(
    /ends early\n +module free\.fork-second:\d+:\d+\n +called at .*ends\.repl:2:1\n(?:.*\n){2} +on purpose\n/,
  )
  expect(code).toBe(1)
})

it('newcut fork --verify finds that a node and newcut agree about all modules of a chain', async () => {
  const { call } = await forkOf()
  const { code, out } = await call(['--verify'])
  const [, equal, all] = /(\d+) of (\d+) equal, 0 different, 0 modules not loaded/.exec(out) ?? []
  expect(code).toBe(0)
  expect(equal).toEqual(all)
  expect(Number(all)).toBeGreaterThan(20)
})

it('newcut fork --verify reports differences in gas, results and events, as text and as a file', async () => {
  const { call, proxy } = await forkOf()
  proxy.manner = async ({ url, body }, forward) => {
    const answer = await forward()
    if (!url.includes('/local')) return answer
    if (body.includes('(+ 1 2)')) return { ...answer, body: answer.body.replace(/"gas":\d+/, '"gas":77') }
    if (!body.includes('get-balance') || !body.includes('sender01')) return answer
    const json = JSON.parse(answer.body)
    return { ...answer, body: JSON.stringify({ ...json, result: { status: 'success', data: 'another' } }) }
  }
  const code = join(folder(), 'code.pact')
  writeFileSync(
    code,
    '(+ 1 2)\n(coin.get-balance "sender01")\n(enforce false "no")\n(coin.get-balance "sender02")\n(free.fork-second.fails)',
  )
  const report = join(folder(), 'report.json')
  const { code: exit, out } = await call([code, '--verify', '--report', report])
  expect(exit).toBe(1)
  expect(out).toContain('DIFFERS (+ 1 2)\n  gas here 1, there 77')
  expect(out).toContain('DIFFERS (coin.get-balance "sender01")\n  result here')
  expect(out).toContain('3 of 5 equal, 2 different, 0 modules not loaded')
  const { pin, cases, equal, differences } = JSON.parse(readFileSync(report, 'utf8'))
  expect(pin.network).toBe('development')
  expect(cases).toBe(5)
  expect(equal).toBe(3)
  expect(differences).toHaveLength(2)
})

it('newcut fork --verify lists modules that do not load here', async () => {
  const { call, proxy } = await forkOf()
  proxy.manner = async ({ url, body }, forward) => {
    const answer = await forward()
    if (!url.includes('/local') || !body.includes('describe-module')) return answer
    return { ...answer, body: answer.body.replace('(defun twice:decimal ()', '(defun twice:decimal () (old-native 1)') }
  }
  const { out } = await call(['--verify'])
  expect(out).toContain(
    'NOT LOADED The forked module free.fork-second does not load here: Cannot find module: free.old-native',
  )
  expect(out).toContain('1 modules not loaded')
})

it.each([
  [['--fork-cut', '999999'], '--fork-cut 999999: the lowest chain has height'],
  [
    ['--fork-cut', '/no/such/file'],
    '--fork-cut /no/such/file: it does not exist (ENOENT) (it takes a height, or a file',
  ],
  [['--fork-cut', '/dev/null'], '/dev/null: it is empty (a cut is {"hashes":'],
  [['--fork-cut', '{"hashes":{}}'], '--fork-cut is not a cut: '],
  [['--fork-limit', 'fast'], 'a number of requests in a second, such as 5/s'],
  [['--fork-chains', '99'], 'the cut of the fork has no chain 99'],
  [['--fork-chains', 'all'], 'chain numbers with commas between them'],
])('newcut fork --verify refuses %j', async (args, text) => {
  const { devnet } = remote
  const { code, err } = await run(['fork', devnet.url, '--fork-cache', 'off', ...args])
  expect(err).toContain(text)
  expect(code).not.toBe(0)
})

/** Modules whose results differ by release: since 3.2 only an admin composes capabilities of another module. */
const COMPOSING = `(namespace "free")
(module inner G (defcap G () true) (defcap D () true))
(module outer G
  (defcap G () (enforce false "nobody"))
  (defcap C () (compose-capability (inner.D)))
  (defun composed:integer () (with-capability (C) 1)))`

it('a report shows how two releases differ, in a file with which anybody finds the same', async () => {
  const { peer, devnet } = await startLedger({ nodeRelease: '2.32' })
  const [deployed] = await inBlock(peer, [execWith(COMPOSING, {}, { gasLimit: 50_000 })])
  expect(deployed.result.status, JSON.stringify(deployed.result)).toBe('success')
  await makeBlocks(peer, { 0: 12, 1: 12 })
  const report = join(folder(), 'differences.json')
  const args = ['--fork-cache', 'off', '--fork-limit', '1000/s', '--verify']
  const same = await run(['fork', devnet.url, ...args, '--node-release', '2.32'])
  expect(same.out, same.err).toContain(', 0 different')
  expect(same.code, same.err).toBe(0)
  const found = await run(['fork', devnet.url, ...args, '--report', report])
  expect(found.out, found.err).toContain('DIFFERS (free.outer.composed)\n')
  expect(found.code, found.err).toBe(1)
  const text = readFileSync(report, 'utf8')
  const told = JSON.parse(text)
  expect(told).toMatchObject({
    newcut: expect.stringMatching(/^\d/),
    node: expect.stringMatching(/^\d/),
    pin: { network: 'development' },
    chain: 0,
    release: '3.2',
    differences: [
      { code: '(free.outer.composed)', here: { status: 'failure' }, there: { status: 'success', result: '{"int":1}' } },
    ],
  })
  for (const secret of [devnet.url, devnet.url.replace(/.*:/, ':'), folder().slice(0, 5)])
    expect(text).not.toContain(secret)
  // The head moves on, and the report still names its block.
  await makeBlocks(peer, { 0: 3, 1: 3 })
  const again = join(folder(), 'again.json')
  const repeated = await run(['fork', devnet.url, report, ...args, '--report', again])
  expect(repeated.out, repeated.err).toContain('0 of 1 equal, 1 different')
  expect(repeated.code, repeated.err).toBe(1)
  const { pin, differences } = JSON.parse(readFileSync(again, 'utf8'))
  expect(pin).toEqual(told.pin)
  expect(differences).toEqual(told.differences)
  expect((await run(['fork', devnet.url, report, ...args, '--node-release', '2.32'])).code).toBe(0)
})

it('newcut fork --verify refuses files that are not reports, reports of different blocks, and conflicting options', async () => {
  const { call } = await forkOf()
  const file = (name: string, content: unknown) => {
    const path = join(folder(), name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const report = (height: number) => ({ pin: { height }, chain: 0, differences: [] })
  for (const [args, text] of [
    [
      [file('a.json', 'no JSON'), '--verify'],
      'a.json is not a report of newcut fork --verify (files of code have other names',
    ],
    [[file('b.json', { pin: {} }), '--verify'], 'b.json is not a report of newcut fork --verify'],
    [[file('null.json', null), '--verify'], 'null.json is not a report of newcut fork --verify'],
    [[file('c.json', report(1)), file('d.json', report(2)), '--verify'], 'these reports are of different blocks'],
    [['/no/such/file', '--verify'], '/no/such/file: '],
    [[file('e.pact', '(+ 1 2)')], 'e.pact has no effect: it is for --verify'],
    [['--report', '/tmp/r.json'], '--report has no effect: it is for --verify'],
  ] as const) {
    const { code, err } = await call(args)
    expect(err).toContain(text)
    expect(code).not.toBe(0)
    expect(err).not.toContain('    at ')
  }
})
