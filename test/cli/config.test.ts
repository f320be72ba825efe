import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { resolveConfig } from '../../src/faces/cli/config-file.ts'
import { mineOptions } from '../../src/faces/cli/options/mine.ts'
import { balanceOptions } from '../../src/faces/cli/options/wallet.ts'
import {
  duration,
  firstNodeUrl,
  hashCount,
  listenAddress,
  nodeUrls,
  poolAddresses,
  publicKeys,
  yesNo,
} from '../../src/faces/cli/values.ts'
import { run } from './run.ts'

const folder = mkdtempSync(join(tmpdir(), 'newcut-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function yamlFile(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('the order of sources', () => {
  const file = yamlFile('three.yaml', 'threads: 3\nblock-delay: 5s\npow: false\n')

  it('flags override the environment, then the file, then defaults', () => {
    const environment = { NEWCUT_THREADS: '2', NEWCUT_BLOCK_DELAY: '7s' }
    const { values, origins } = resolveConfig(mineOptions, { threads: '1' }, environment, file)
    expect(values).toMatchObject({ threads: 1, 'block-delay': 7000, pow: false, graph: 'twenty', blocks: undefined })
    expect(['threads', 'block-delay', 'pow', 'graph'].map((name) => origins.get(name))).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ])
  })

  it.each([
    [{ NEWCUT_NO_POW: '1' }, undefined, false],
    [{ NEWCUT_NO_POW: 'false' }, undefined, true],
    [{ NEWCUT_POW: 'false' }, undefined, false],
    [{}, yamlFile('no-pow.yaml', 'no-pow: true\n'), false],
    [{ NEWCUT_POW: 'true' }, yamlFile('no-pow.yaml', 'no-pow: true\n'), true],
  ])('a switch may be set by the name of its flag: %j %s', (environment, path, pow) => {
    expect(resolveConfig(mineOptions, {}, environment, path).values.pow).toBe(pow)
  })

  it('the order of sources refuses a switch under both of its names', () => {
    const environment = { NEWCUT_POW: 'true', NEWCUT_NO_POW: '1' }
    const message = 'NEWCUT_POW=true and NEWCUT_NO_POW=1 are the same option'
    expect(() => resolveConfig(mineOptions, {}, environment, undefined)).toThrow(message)
  })

  it.each([
    [{ NEWCUT_NODES: 'a:1,b:2' }, undefined],
    [{ NEWCUT_NODE: 'a:1,b:2' }, undefined],
    [{}, yamlFile('nodes.yaml', 'nodes:\n  - a:1\n  - b:2\n')],
    [{}, yamlFile('node.yaml', 'node: [a:1, b:2]\n')],
  ])('several nodes may be named as node and as nodes: %j %s', (environment, path) => {
    const { node } = resolveConfig(mineOptions, {}, environment, path).values
    expect(node).toEqual(['http://a:1', 'http://b:2'])
    expect(resolveConfig(balanceOptions, {}, environment, path).values.node).toBe('http://a:1')
  })

  it('the order of sources refuses nodes under both names', () => {
    const environment = { NEWCUT_NODE: 'a:1', NEWCUT_NODES: 'b:2' }
    const message = 'NEWCUT_NODE=a:1 and NEWCUT_NODES=b:2 are the same option'
    expect(() => resolveConfig(mineOptions, {}, environment, undefined)).toThrow(message)
  })

  it('NEWCUT_CONFIG names the file if no flag does', () => {
    expect(resolveConfig(mineOptions, {}, { NEWCUT_CONFIG: file }, undefined).values.threads).toBe(3)
  })

  it.each([
    [{ NEWCUT_THREADS: 'x' }, undefined, 'NEWCUT_THREADS=x: expected a whole number from 0 to 1024'],
    [
      { NEWCUT_TREADS: '2' },
      undefined,
      'NEWCUT_TREADS in the environment: no such option; did you mean NEWCUT_THREADS?',
    ],
    [{}, yamlFile('typo.yaml', 'tread: 2\n'), 'tread: no such option; did you mean threads?'],
    [{}, yamlFile('bad.yaml', 'threads: many\n'), 'threads: "many": expected a whole number'],
    [{}, yamlFile('list.yaml', '- threads\n'), 'expected lines of the form option: value'],
    [{}, yamlFile('broken.yaml', 'threads: [1\n'), 'configuration file'],
    [{}, yamlFile('tag.yaml', 'threads: !many 2\n'), 'Unresolved tag: !many at line 1'],
    [{}, yamlFile('directive.yaml', '%YES\n---\nthreads: 2\n'), 'Unknown directive %YES at line 1'],
    [{}, join(folder, 'missing.yaml'), 'ENOENT'],
  ])(
    'the order of sources refuses an invalid value with its place and the reason: %j %s',
    (environment, path, message) => {
      expect(() => resolveConfig(mineOptions, {}, environment, path)).toThrow(message)
    },
  )

  it('newcut config prints a file with the same meaning', async () => {
    const args = ['--threads', '1', '--difficulty', '2.5G', '--http', 'off', '--block-delay', '1500ms', '--no-pow']
    const first = await run(['config', ...args])
    expect(first.code).toBe(0)
    expect(parse(first.out)).toMatchObject({ threads: 1, difficulty: 2_500_000_000, http: 'off', pow: false })
    expect(first.out).toContain('threads: 1 # flag')
    const again = await run(['config', '--config', yamlFile('printed.yaml', first.out)])
    expect(parse(again.out)).toEqual(parse(first.out))
  })
})

describe('values', () => {
  it.each([
    [duration(1), '500ms', 500],
    [duration(1), '1.5m', 90_000],
    [duration(1), '2 h', 7_200_000],
    [duration(1), '30', undefined],
    [duration(1), '0s', undefined],
    [duration(1), '-5s', undefined],
    [duration(1, true), '0', 0],
    [hashCount, '100k', 100_000n],
    [hashCount, '2.5G', 2_500_000_000n],
    [hashCount, 100_000, 100_000n],
    [hashCount, '0', undefined],
    [hashCount, '1.5', undefined],
    [hashCount, '1e6', 1_000_000n],
    [hashCount, '2.5E9', 2_500_000_000n],
    [hashCount, 1e30, 10n ** 30n],
    [hashCount, '1.5e0', undefined],
    [hashCount, '1e-3', undefined],
    [hashCount, '1e80', undefined],
    [firstNodeUrl, 'localhost:1848', 'http://localhost:1848'],
    [firstNodeUrl, '10.0.0.7:1848', 'http://10.0.0.7:1848'],
    [firstNodeUrl, '[::1]:1848', 'http://[::1]:1848'],
    [firstNodeUrl, 'https://node.example/path', 'https://node.example/path'],
    [firstNodeUrl, 'localhost', undefined],
    [firstNodeUrl, 'localhost:99999', undefined],
    [firstNodeUrl, 'ftp://localhost:1848', undefined],
    [firstNodeUrl, ['a:1', 'b:2'], 'http://a:1'],
    [nodeUrls, ['a:1', 'http://b:2'], ['http://a:1', 'http://b:2']],
    [nodeUrls, 'a:1, b:2', ['http://a:1', 'http://b:2']],
    [nodeUrls, 'a:1,', undefined],
    [nodeUrls, [], undefined],
    [poolAddresses, 'stratum+tcp://a:x,d=1024@p:1', ['stratum+tcp://a:x,d=1024@p:1']],
    [
      poolAddresses,
      ['stratum+tcp://a:x,y@p:1,stratum+ssl://b@q:2', 'stratum+tcp://c@r:3'],
      ['stratum+tcp://a:x,y@p:1', 'stratum+ssl://b@q:2', 'stratum+tcp://c@r:3'],
    ],
    [poolAddresses, '', undefined],
    [duration(1000, true), '1s', 1000],
    [duration(1000, true), '999ms', undefined],
    [duration(1000, true), '0', 0],
    [listenAddress, 'off', null],
    [listenAddress, '[::1]:80', { host: '::1', port: 80 }],
    [listenAddress, 'localhost:65536', undefined],
    [yesNo, 'true', true],
    [yesNo, 'maybe', undefined],
    [publicKeys, ['AB'.repeat(32)], ['ab'.repeat(32)]],
    [publicKeys, 'zz'.repeat(32), undefined],
  ])('option values are read, or refused when they are not of their kind (row %#)', (kind, raw, value) => {
    expect(kind.parse(raw)).toEqual(value)
  })
})

describe('newcut config COMMAND', () => {
  it('newcut config COMMAND prints the options of that command, with their origins', async () => {
    const { code, out } = await run(['config', 'devnet', '--port', '3000'], { NEWCUT_GRAPH: 'petersen' })
    expect(code).toBe(0)
    expect(out).toContain('port: 3000 # flag\n')
    expect(out).toContain('graph: petersen # environment\n')
    expect((await run(['config', 'rigs', 'check'], { NEWCUT_PASSWORD: 'mine' })).out).toContain(
      '# password: set, and not shown # environment\n',
    )
  })

  it('newcut config COMMAND refuses a name that is not a command', async () => {
    const { code, err } = await run(['config', 'devnt'])
    expect(err).toMatch(
      /^newcut: config devnt: no such command; did you mean devnet\? \(newcut --help lists all commands\)/,
    )
    expect(code).toBe(2)
  })
})

it('commands without options of their own take variables and files, and refuse unknown ones', async () => {
  const file = yamlFile('runs.yaml', 'runs: 0\n')
  const { code, err } = await run(['test', 'x.repl', '--config', file])
  expect(err).toContain(`runs: 0: expected a whole number from 1 to 1000000`)
  expect(code).toBe(2)
  const other = await run(['test', 'x.repl'], { NEWCUT_JOBS: 'many' })
  expect(other.err).toContain('NEWCUT_JOBS=many: expected a whole number')
  expect(other.code).toBe(2)
  const unknown = await run(['keygen'], { NEWCUT_JOBZ: '1' })
  expect(unknown.err).toContain('did you mean NEWCUT_JOBS?')
  expect(unknown.code).toBe(2)
})
