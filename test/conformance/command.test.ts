/** `newcut conformance` as users type it: output, exit codes, case files of their own, and bad input. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ConformanceCase, ownCases, readCases } from '../../src/client/conformance/case-file.ts'
import type { Devnet } from '../../src/compose/devnet.ts'
import { startDevnet } from '../../src/compose/devnet.ts'
import { run } from '../cli/run.ts'
import { proxyBefore } from './proxy.ts'

let node: Devnet
beforeAll(async () => {
  node = await startDevnet({ port: 0, graph: 'pair', difficulty: 20n, autoMine: { kind: 'on-demand' } })
})
afterAll(() => node.close())

const judge = (...args: readonly string[]) => run(['conformance', ...args])
const judgeNode = (...args: readonly string[]) => judge('--node', node.url, ...args)

function folder(files: Readonly<Record<string, unknown>>): string {
  const path = mkdtempSync(join(tmpdir(), 'newcut-conformance-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return path
}

const cutCases = readCases(ownCases()).filter(({ group }) => group === 'cut')
const isMined = ({ needs }: ConformanceCase) => needs.includes('mine')

const oneCase = (steps: readonly unknown[], more: object = {}) => ({
  'own.json': { about: 'own', cases: [{ name: 'mine', needs: ['read-only'], source: 'own', steps, ...more }] },
})

describe('the report', () => {
  it('the report of a good node is a summary with exit code 0', async () => {
    const { out, err, code } = await judgeNode('--only', 'info')
    expect(code).toBe(0)
    expect(err).toBe('')
    expect(out).toMatch(/^\d+ passed, 0 failed, 0 skipped\ndevelopment, node release [\d.]+, judged as newcut\n$/)
  })

  it('the report of a bad node has a line for each failed case, with exit code 1', async () => {
    const proxy = await proxyBefore(node.url, {
      answer: (answer, { path }) => {
        if (path === '/health-check') answer.status = 500
      },
    })
    onTestFinished(proxy.close)
    const { out, code } = await judge('--node', proxy.url, '--only', 'health is')
    expect(code).toBe(1)
    expect(out.split('\n')[0]).toBe(
      'FAILED info: health is a line of text (step 1, GET /health-check): status: expected 200, got 500: "Health check OK.\\n"',
    )
    expect(out).toContain('0 passed, 1 failed, 0 skipped')
  })

  it('the report says what it skipped, and why', async () => {
    const { out, code } = await judgeNode('--needs', 'read-only', '--only', 'cut: ')
    expect(code).toBe(0)
    expect(out).toContain(`skipped ${cutCases.filter(isMined).length}: it needs mine, which --needs leaves out\n`)
  })

  it('the report in JSON has every case', async () => {
    const { out } = await judgeNode('--only', 'cut: ', '--json', '--needs', 'read-only')
    const { cases, offers } = JSON.parse(out)
    expect(cases.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
      cutCases.map((each) => (isMined(each) ? 'skipped' : 'passed')),
    )
    expect(offers).toMatchObject({ 'read-only': null, mine: null, reorg: null })
  })

  it('the report in JUnit XML has suites, failures and skipped cases', async () => {
    const own = folder({
      'own.json': {
        about: 'own',
        cases: [
          {
            name: 'wrong & <bad>',
            needs: ['read-only'],
            source: 'own',
            steps: [{ call: 'GET', path: '/info', expect: { status: 418 } }],
          },
          {
            name: 'right',
            needs: ['read-only'],
            source: 'own',
            steps: [{ call: 'GET', path: '/info', expect: { status: 200 } }],
          },
          {
            name: 'old',
            needs: ['read-only'],
            source: 'own',
            releases: ['live 2.32'],
            steps: [{ call: 'GET', path: '/info' }],
          },
        ],
      },
    })
    const path = join(own, 'report.xml')
    expect((await judgeNode('--cases', own, '--junit', path)).code).toBe(1)
    const xml = readFileSync(path, 'utf8')
    expect(xml).toMatch(/<testsuite name="own" tests="3" failures="1" skipped="1" time="[\d.]+">/)
    expect(xml).toContain('name="wrong &amp; &lt;bad&gt;"')
    expect(xml).toContain(
      '<failure message="FAILED own: wrong &amp; &lt;bad&gt; (step 1, GET /info): status: expected 418',
    )
    expect(xml).toContain('<skipped message="it judges live 2.32 only"/>')
  })
})

it('newcut conformance sends a public node requests of read-only cases only', async () => {
  const asked: string[] = []
  const server = http.createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    response.setHeader('x-server-timestamp', '1700000000').setHeader('content-type', 'application/json')
    response.end('{"nodeVersion":"mainnet01","nodePackageVersion":"3.2","nodeChains":["0"],"nodeGraphHistory":[]}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { out } = await judge('--node', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(out).toMatch(/skipped \d+: it needs mine: mainnet01 is a public network/)
  expect(out).toContain('judged as live 3.2')
  expect(asked.length).toBeGreaterThan(100)
  expect(asked.filter((request) => /make-blocks|devnet|mining|send|insert|^PUT/.test(request))).toEqual([])
})

describe('bad input', () => {
  const url = 'http://127.0.0.1:1'
  it.each([
    [['--node', 'ftp://x'], '--node ftp://x: expected the address of a node'],
    [['--node', url, '--only', 'luck'], '--only luck: no case has this in its name'],
    [
      ['--node', url, '--needs', 'all'],
      '--needs all: expected one or more of read-only, funded-account, mine, pending, reorg, devnet-orders',
    ],
    [['--node', url, '--cases', '/no/cases'], 'the folder of cases /no/cases: it does not exist (ENOENT)'],
    [['--node', url, '--cases', '/dev/null'], 'the folder of cases /dev/null: it is not a folder (ENOTDIR)'],
    [['--node', url, '--release', '9'], '--release 9: expected one of spec, live-2.32, live-3.2, newcut'],
    [['--node', url, '--timeout', 'soon'], '--timeout soon: expected'],
    [['--node', url], 'http://127.0.0.1:1'],
  ])('newcut conformance %j is refused with a text', async (args, text) => {
    const { err, code } = await judge(...args)
    expect(err).toContain(text)
    expect(code).not.toBe(0)
    expect(err).not.toMatch(/\n\s+at /)
  })

  it('newcut conformance names a server that is not a node', async () => {
    const proxy = await proxyBefore(node.url, { path: () => '/health-check' })
    onTestFinished(proxy.close)
    expect((await judge('--node', proxy.url)).err).toContain('GET /info answers 200 without network and chains')
  })

  it('newcut conformance names the file of a report that it cannot write', async () => {
    const { err, out, code } = await judgeNode('--only', 'health', '--junit', '/no/such/folder/report.xml')
    expect(code).not.toBe(0)
    expect(out, 'no case has run').toBe('')
    expect(err).toContain('--junit /no/such/folder/report.xml: there is no folder')
  })

  const get = { call: 'GET', path: '/info' }
  it.each([
    [{}, 'has no case files'],
    [{ 'own.json': '{' }, 'own.json is not valid JSON: '],
    [{ 'own.json': { about: 'own', cases: [] } }, 'own.json: /cases'],
    [oneCase([{ ...get, expct: {} }]), '/cases/0/steps/0/expct is not a known field'],
    [oneCase([get], { needs: ['luck'] }), '/cases/0/needs/0 must be one of read-only'],
    [oneCase([{ expect: {} }]), '"mine", step 1: expected one of call, await, event, mine, make, got none'],
    [oneCase([{ ...get, mine: { 0: 1 } }]), 'got call and mine'],
    [oneCase([{ call: 'GET' }]), 'call and path go together'],
    [oneCase([{ ...get, body: 1, bodyText: '1' }]), 'expected one of body, bodyText and bodyBytes'],
    [oneCase([{ event: 'x' }]), 'expect.event is missing'],
    [oneCase([{ make: 'slice' }]), 'save is missing'],
    [oneCase([{ make: 'repeat', save: {}, skip: { when: {}, reason: 'r' } }]), 'skip goes with call'],
  ])('case files %j are refused: %s', async (files, text) => {
    const { err, code } = await judgeNode('--cases', folder(files))
    expect(err).toContain(text)
    expect(code).not.toBe(0)
  })

  it.each([
    [[{ ...get, expect: { json: '$missing' } }], 'got $missing has no value here'],
    [[{ ...get, save: { x: 'json.missing' } }], 'got json.missing, to be saved as $x, has no value here'],
    [[{ await: 'x' }], 'got no step has started x'],
    [[{ event: 'x', expect: { event: { name: 'a' } } }], 'got no step has opened the stream x'],
    [[{ make: 'command', with: { chain: 0 }, save: { c: 'value' } }], 'got a command needs code or pact'],
    [[{ make: 'slice', with: { bytes: '!' }, save: { c: 'value' } }], 'with.bytes'],
    [[{ make: 'repeat', with: { item: 1, count: 'x' }, save: { c: 'value' } }], 'with.count is x, expected 0 to'],
    [[{ make: 'slice', with: { bytes: 'AAAA', to: 1 }, expect: { value: 'BB' } }], 'value: expected "BB", got "AA"'],
  ])('a case that cannot run fails with the reason: %j', async (steps, text) => {
    const { out, code } = await judgeNode('--cases', folder(oneCase(steps)))
    expect(out).toContain(text)
    expect(code).toBe(1)
    expect(out).toContain('FAILED own: mine (step 1')
  })
})
