/** Flight sheets of HiveOS and mmpOS become a configuration file, written by the scripts and read by newcut itself. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startDevnet } from '../../src/compose/devnet.ts'
import { readPoolAddress } from '../../src/mining/source/pool/address.ts'
import { run, runProcess } from '../cli/run.ts'
import { describeWith, lackOf, PROGRAM_PATH } from '../needs.ts'
import { root, temporaryFolder } from './tools.ts'

const PATH = `${dirname(process.execPath)}:${PROGRAM_PATH}`
const KEY = 'ab'.repeat(32)
const TOKEN = 'a-token-of-a-rig'

/** The settings of a flight sheet, common to both systems. */
interface Sheet {
  readonly urls?: string
  readonly user?: string
  readonly pass?: string
  readonly worker?: string
  /** Further options, by name. */
  readonly own?: Readonly<Record<string, string>>
}

interface Written {
  /** Path of the configuration. */
  readonly file: string
  readonly text: string
  /** The configuration as newcut parses it, before validation. */
  readonly content: Readonly<Record<string, unknown>>
  readonly said: string
}

function bash(file: string, args: readonly string[], env: Record<string, string>) {
  return spawnSync('bash', [file, ...args], { encoding: 'utf8', env: { PATH, ...env } })
}

function written(file: string, { status, stdout, stderr }: ReturnType<typeof bash>): Written {
  expect(stdout).toBe('')
  expect(status).toBe(0)
  const text = readFileSync(file, 'utf8')
  return { file, text, content: parse(text), said: stderr }
}

function hive({ urls = '', user = '', pass = '', worker = '', own = {} }: Sheet): Written {
  const lines = Object.entries(own).map(([name, value]) => `${name}: ${value}`)
  return hiveLines({ urls, user, pass, worker }, lines.join('\n'))
}

function hiveLines({ urls = '', user = '', pass = '', worker = '' }: Sheet, lines: string): Written {
  const file = join(temporaryFolder(), 'newcut.yaml')
  const env = { CUSTOM_URL: urls, CUSTOM_TEMPLATE: user, CUSTOM_PASS: pass, CUSTOM_USER_CONFIG: lines }
  const all = { ...env, WORKER_NAME: worker, CUSTOM_CONFIG_FILENAME: file }
  return written(file, bash(join(root, 'deploy/hiveos/h-config.sh'), [], all))
}

/** The folder of a package for mmpOS, with another program in place of newcut. */
function mmpFolder(newcut: string): string {
  const folder = temporaryFolder()
  for (const name of ['mmpos/mmp-launch.sh', 'mmpos/mmp-stats.sh', 'rig-sheet.sh']) {
    copyFileSync(join(root, 'deploy', name), join(folder, name.split('/').at(-1) ?? name))
  }
  writeFileSync(join(folder, 'newcut'), `#!/bin/sh\n${newcut}\n`, { mode: 0o755 })
  return folder
}

function mmp({ urls = '', user = '', pass = '', worker = '', own = {} }: Sheet): Written {
  const folder = mmpFolder(':')
  const words = { pool: urls, user, password: pass, worker, coin: 'KDA' }
  const args = Object.entries({ ...words, ...own }).flatMap(([name, value]) => [`--${name}`, value])
  const file = join(folder, 'newcut.yaml')
  return written(file, bash(join(folder, 'mmp-launch.sh'), args, {}))
}

/** The options in a configuration that differ from their defaults, as newcut reports them. */
async function options(file: string): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(['config', '--config', file])
  expect(err).toBe('')
  expect(code).toBe(0)
  return parse(out)
}

describeWith(lackOf('bash'), 'the flight sheet', () => {
  describe.each([
    ['HiveOS', hive],
    ['mmpOS', mmp],
  ] as const)('of %s', (system, write) => {
    it('the sheet sets nodes in their order, the payee, and the token', async () => {
      const { file, content, said } = write({ urls: 'http://a:1,http://b:2', user: `k:${KEY}`, pass: TOKEN })
      expect(content).toEqual({
        http: '127.0.0.1:4148',
        nodes: ['http://a:1', 'http://b:2'],
        account: `k:${KEY}`,
        'http-token': TOKEN,
      })
      expect(said).toBe('')
      expect(await options(file)).toMatchObject({ node: ['http://a:1', 'http://b:2'], account: `k:${KEY}` })
    })

    it.each(['short', 'two words', 'x'.repeat(201), 'naïve-token'])(
      'the sheet sets no token if the pass cannot be one (%s), and says so without repeating it',
      async (pass) => {
        const { file, text, content, said } = write({ urls: 'http://a:1', pass })
        expect(content).not.toHaveProperty('http-token')
        expect(text + said).not.toContain(pass)
        const line = /the pass is left out, since it cannot be a token: a token has 8 to 200 letters/
        expect(text).toMatch(line)
        expect(said).toMatch(line)
        expect(await options(file)).toHaveProperty('node')
      },
    )

    it.each(['', 'x', 'X'])('the sheet sets no token without a pass (%s), and says nothing', (pass) => {
      const { content, said } = write({ urls: 'http://a:1', pass })
      expect(content).toEqual({ http: '127.0.0.1:4148', nodes: ['http://a:1'] })
      expect(said).toBe('')
    })

    it.each([
      [`k:${KEY}.rig1`, { account: `k:${KEY}` }],
      [`k:${KEY}.a.b`, { account: `k:${KEY}` }],
      [`${KEY}.rig1`, { 'public-key': KEY }],
      [KEY, { 'public-key': KEY }],
      [`c:${'A'.repeat(43)}.rig1`, { account: `c:${'A'.repeat(43)}` }],
      ['r:n_ab.users', { account: 'r:n_ab.users' }],
      ['r:n_ab.users.rig-7', { account: 'r:n_ab.users' }],
      ["o'hara", { account: "o'hara" }],
    ] as const)('the sheet removes the worker from %s', (user, expected) => {
      const { content, said } = write({ user, worker: 'rig-7' })
      expect(content).toEqual({ http: '127.0.0.1:4148', ...expected })
      expect(said).toBe('')
    })

    it('the sheet also removes the text after a dot from an account name, and reports it', () => {
      const { content, said } = write({ user: 'alice.rig1' })
      expect(content).toMatchObject({ account: 'alice' })
      expect(said).toMatch(/the account is alice: \.rig1 is taken for the name of the worker/)
      expect(write({ user: 'alice.of.rig-7', worker: 'rig-7' })).toMatchObject({
        content: { account: 'alice.of' },
        said: '',
      })
    })

    it.each([
      ['stratum+tcp://p:1917', 'd=2^50', `stratum+tcp://k:${KEY}.rig1:d%3D2%5E50@p:1917`],
      ['stratum+ssl://p:1917', 'x', `stratum+ssl://k:${KEY}.rig1@p:1917`],
      ['STRATUM://p:1917', '', `stratum+tcp://k:${KEY}.rig1@p:1917`],
      ['stratum+tls://p:1917', '', `stratum+ssl://k:${KEY}.rig1@p:1917`],
      ['ssl://p:1917', '', `stratum+ssl://k:${KEY}.rig1@p:1917`],
      ['stratum+tcp://own:word@p:1917', TOKEN, 'stratum+tcp://own:word@p:1917'],
    ])('the sheet sets the pool %s with the pass %s', async (url, pass, expected) => {
      const { file, content, said } = write({ urls: url, user: `k:${KEY}.rig1`, pass })
      expect(content).toEqual({ http: '127.0.0.1:4148', pool: [expected] })
      expect(said).toBe('')
      await options(file)
      const { user, password } = readPoolAddress(expected)
      const isOwn = url.includes('@')
      expect([user, password]).toEqual(isOwn ? ['own', 'word'] : [`k:${KEY}.rig1`, pass === 'x' ? '' : pass])
    })

    it('the sheet keeps users and passwords of a pool unchanged, whatever they contain', async () => {
      const { content } = write({ urls: 'stratum+tcp://p:1', user: 'ö@l:%/i', pass: 'a b@:é' })
      const [address] = content.pool as [string]
      expect(address).toMatch(/^stratum\+tcp:\/\/[\w%.-]+:[\w%.-]+@p:1$/)
      const [, user = '', password = ''] = /^stratum\+tcp:\/\/(.*):(.*)@/.exec(address) ?? []
      expect([user, password].map(decodeURIComponent)).toEqual(['ö@l:%/i', 'a b@:é'])
    })

    it('the sheet sets several pools in their order, and reports the nodes that it drops for them', () => {
      const urls = 'stratum+tcp://p:1,http://a:1,stratum+ssl://q:2'
      const { content, said } = write({ urls, user: 'me' })
      expect(content).toEqual({ http: '127.0.0.1:4148', pool: ['stratum+tcp://me@p:1', 'stratum+ssl://me@q:2'] })
      expect(said).toBe('newcut: left out, since pools take the place of nodes: http://a:1\n')
    })

    it("the settings of the sheet pass the program's dry run, with a node that answers", async () => {
      const devnet = await startDevnet({ port: 0 })
      try {
        const own = system === 'HiveOS' ? { http: '0.0.0.0:4555', state: 'off' } : {}
        const { file } = write({ urls: devnet.url, user: `k:${KEY}.rig1`, pass: 'short', own })
        const args = ['mine', '--dry-run', '--config', file, '--state', 'off', '--gpu', 'none']
        const { code, out, err } = await runProcess(args)
        expect(err).not.toContain('BAD_CONFIG')
        expect(code).toBe(0)
        expect(out).toContain(`k:${KEY}`)
      } finally {
        await devnet.close()
      }
    })
  })

  describe('of HiveOS: keys that the user repeats override earlier ones', () => {
    it.each([
      [{ http: '0.0.0.0:4555' }, { http: '0.0.0.0:4555' }],
      [{ '"http"': 'off' }, { http: 'off' }],
      [{ account: 'other' }, { account: 'other' }],
      [{ node: 'http://c:3' }, { nodes: undefined, node: 'http://c:3' }],
      [{ nodes: '[http://c:3]' }, { nodes: ['http://c:3'] }],
      [{ 'http-token': 'another-token' }, { 'http-token': 'another-token' }],
      [{ pool: 'stratum+tcp://me@p:1' }, { pool: 'stratum+tcp://me@p:1', nodes: undefined, account: undefined }],
      [{ fleet: 'nats://n' }, { fleet: 'nats://n', nodes: undefined, account: undefined }],
    ] as const)("the user's keys %j override those of the HiveOS template", async (own, expected) => {
      const { file, content } = hive({ urls: 'http://a:1', user: `k:${KEY}`, pass: TOKEN, own })
      for (const [name, value] of Object.entries(expected)) expect(content[name], name).toEqual(value)
      await options(file)
    })

    it("the HiveOS sheet takes the template's key as the guard of the user's account", () => {
      const { content } = hive({ user: KEY, own: { account: 'other' } })
      expect(content).toMatchObject({ account: 'other', 'public-key': KEY })
      expect(hive({ user: KEY, own: { 'public-key': 'cd'.repeat(32) } }).content).toMatchObject({
        'public-key': 'cd'.repeat(32),
      })
    })

    it("the HiveOS sheet takes the user's nodes and the template's payee, if the URL is that of a pool", () => {
      const { content } = hive({ urls: 'stratum+tcp://p:1', user: `k:${KEY}.r`, own: { node: 'http://c:3' } })
      expect(content).toEqual({ http: '127.0.0.1:4148', account: `k:${KEY}`, node: 'http://c:3' })
    })

    it('text that only looks like a key overrides nothing', () => {
      const { content } = hiveLines({ urls: 'http://a:1' }, '# http: 1\nschedule: "http: no"\nlog-file: http://x')
      expect(content).toMatchObject({ http: '127.0.0.1:4148', nodes: ['http://a:1'], 'log-file': 'http://x' })
    })

    it('the HiveOS sheet accepts indented lines and Windows line ends', async () => {
      const { file, content } = hiveLines(
        { urls: 'http://a:1' },
        '\r\n  http: 0.0.0.0:4555\r\n  chains:\r\n    - 1\r\n',
      )
      expect(content).toEqual({ http: '0.0.0.0:4555', nodes: ['http://a:1'], chains: [1] })
      await options(file)
    })
  })

  describe('of mmpOS', () => {
    /** The arguments of the started newcut, and its configuration. */
    function launched(...args: string[]) {
      const folder = mmpFolder('for word; do echo "$word"; done')
      const { status, stdout, stderr } = bash(join(folder, 'mmp-launch.sh'), args, {})
      const file = join(folder, 'newcut.yaml')
      const words = stdout.split('\n').slice(0, -1)
      expect(status).toBe(0)
      expect(words.slice(0, 3)).toEqual(['mine', '--config', file])
      return { own: words.slice(3), content: parse(readFileSync(file, 'utf8')), said: stderr }
    }

    it('the mmpOS sheet adds the protocol to addresses without one', () => {
      const pool = launched('--pool-protocol', 'stratum+tcp', '--pool', 'p:1', '--user', 'me')
      expect(pool.content).toMatchObject({ pool: ['stratum+tcp://me@p:1'] })
      const node = launched('--pool-protocol', 'http', '--pool', 'a:1,https://b:2')
      expect(node.content).toMatchObject({ nodes: ['http://a:1', 'https://b:2'] })
    })

    it('the mmpOS sheet passes newcut options through unchanged', () => {
      const flags = ['--threads', '2', '--account=k:other', '--state', 'off']
      const { own, content } = launched('mine', '--pool', 'http://a:1', '--user', `k:${KEY}.rig`, ...flags)
      expect(own).toEqual(flags)
      expect(content).toEqual({ http: '127.0.0.1:4148', nodes: ['http://a:1'] })
      const { content: other } = launched('--pool', 'stratum+tcp://p:1', '--user', KEY, '--node', 'http://c:3')
      expect(other).toEqual({ http: '127.0.0.1:4148', 'public-key': KEY })
    })

    it('the mmpOS sheet takes the API port from the profile, and --http from the user', () => {
      expect(launched('--api-port', '4555').content).toEqual({ http: '127.0.0.1:4555' })
      const { own, content } = launched('--api-port', '4555', '--http=0.0.0.0:4666')
      expect(own).toEqual([])
      expect(content).toEqual({ http: '0.0.0.0:4666' })
    })

    it('the mmpOS sheet names a word without its value', () => {
      const { status, stderr } = bash(join(mmpFolder(':'), 'mmp-launch.sh'), ['--user'], {})
      expect(stderr).toBe('newcut: --user has no value\n')
      expect(status).toBe(2)
    })
  })
})

describeWith(lackOf('bash'), 'the address for statistics', () => {
  it.each([
    ['http: 0.0.0.0:4555', '127.0.0.1:4555'],
    ['http: "0.0.0.0:4555"  # all', '127.0.0.1:4555'],
    ["'http' : '[::]:4555'", '[::1]:4555'],
    ['http: 192.168.1.7:80', '192.168.1.7:80'],
    ['http: off', 'off'],
    ['http: false', 'off'],
    ['nodes:\n  - http: 1', ''],
    ['# http: 0.0.0.0:4555', ''],
  ])('the API address of %s is %s', (text, expected) => {
    const file = join(temporaryFolder(), 'newcut.yaml')
    writeFileSync(file, `${text}\n`)
    const line = `. ${root}/deploy/rig-sheet.sh; newcut_address ${file}`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', line], { encoding: 'utf8', env: { PATH } })
    expect(stdout).toEqual(expected)
    expect(stderr).toBe('')
  })
})
