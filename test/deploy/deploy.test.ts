/** The packages for rigs, used as on a rig, with real miners. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { packageFor } from '../../scripts/package/rigs.ts'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { describeWith, itWith, lackOf, PROGRAM_PATH } from '../needs.ts'
import { freePort } from '../ports.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const folder = mkdtempSync(join(tmpdir(), 'newcut-deploy-'))
let devnet: Devnet
beforeAll(async () => {
  devnet = await startDevnet({ port: 0, difficulty: 50_000n })
})
afterAll(async () => {
  await devnet?.close()
  rmSync(folder, { recursive: true })
})

/** The environment is bare, except that PATH has the folder of the test's own Node. */
const PATH = `${dirname(process.execPath)}:${PROGRAM_PATH}`
const lack = lackOf('bash', 'tar', 'curl', 'jq')

/** Packages that were built: each once, because npm and tar take seconds for it. */
const built = new Map<string, string>()

/** Unpacks a package into a new folder. Builds it first if no test has. */
async function unpacked(system: 'hiveos' | 'mmpos'): Promise<string> {
  const file = built.get(system) ?? (await packed(system))
  const target = mkdtempSync(join(folder, system))
  expect(spawnSync('tar', ['-xzf', file, '-C', target]).status).toBe(0)
  expect(readdirSync(target)).toEqual(['newcut'])
  return join(target, 'newcut')
}

async function packed(system: 'hiveos' | 'mmpos'): Promise<string> {
  const { file, bytes } = await packageFor(system, { folder, withoutNode: true })
  expect(file).toBe(join(folder, `newcut-${version}_${system}.tar.gz`))
  expect(statSync(file).size).toBe(bytes)
  built.set(system, file)
  return file
}

/** Runs a line of bash. */
function bash(line: string, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', line], {
    encoding: 'utf8',
    env: { PATH, ...env },
  })
  return { status, stdout, stderr }
}

/** Starts a program in a process group of its own, which the end of the test kills. */
function launched(file: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(file, args, { env: { PATH, ...env }, detached: true, stdio: ['ignore', 'ignore', 'inherit'] })
  onTestFinished(() => endGroup(child))
  return new Promise<number | null>((resolve) => child.on('close', resolve))
}

function endGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL')
}

const scripts = [
  'newcut',
  'rig-sheet.sh',
  ...['hiveos', 'mmpos'].flatMap((name) => readdirSync(join(root, 'deploy', name)).map((file) => join(name, file))),
]

for (const name of scripts) {
  itWith(lackOf('bash'), `bash parses deploy/${name}`, () => {
    const { status, stdout, stderr } = spawnSync('bash', ['-n', join(root, 'deploy', name)], { encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
    expect(status).toBe(0)
  })
}

describeWith(lack, 'the package for HiveOS', () => {
  it('the HiveOS package has a manifest, configures itself from the flight sheet, mines, and reports its rates', async () => {
    const inside = await unpacked('hiveos')
    const manifest = bash(`. ${inside}/h-manifest.conf; echo $CUSTOM_NAME $CUSTOM_VERSION $WEB_PORT`)
    expect(manifest.stdout).toBe(`newcut ${version} 4148\n`)
    const port = await freePort()
    const key = 'ab'.repeat(32)
    const sheet = {
      CUSTOM_URL: `${devnet.url}\nhttp://127.0.0.1:1`,
      CUSTOM_TEMPLATE: `k:${key}`,
      CUSTOM_PASS: 'token-of-a-rig',
      CUSTOM_USER_CONFIG: 'threads: 1\ngpu: none\nstate: off',
      CUSTOM_CONFIG_FILENAME: join(inside, 'newcut.yaml'),
      CUSTOM_LOG_BASENAME: join(inside, 'log', 'newcut'),
      WEB_PORT: String(port),
    }
    expect(bash(join(inside, 'h-config.sh'), sheet)).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(statSync(sheet.CUSTOM_CONFIG_FILENAME).mode & 0o077).toBe(0)
    const stats = () => {
      // HiveOS sources the script in its own shell.
      const { stdout } = bash(`. ${inside}/h-stats.sh; echo "$khs"; echo "$stats"`, { WEB_PORT: String(port) })
      const [khs, json] = stdout.split('\n')
      return { khs: Number(khs), stats: JSON.parse(json) }
    }
    expect(stats()).toEqual({ khs: 0, stats: null })
    const ended = launched(join(inside, 'h-run.sh'), [], sheet)
    await expect.poll(() => stats().khs, { interval: 500 }).toBeGreaterThan(10)
    const shown = stats()
    expect(shown.stats).toMatchObject({
      hs: [shown.khs],
      hs_units: 'khs',
      ver: version,
      algo: 'blake2s',
      bus_numbers: [null],
    })
    expect(readFileSync(`${sheet.CUSTOM_LOG_BASENAME}.log`, 'utf8')).toContain(`paid: k:${key}`)
    const body = '{"jsonrpc":"2.0","id":1,"method":"stop"}'
    const headers = { authorization: `Bearer ${sheet.CUSTOM_PASS}` }
    await fetch(`http://127.0.0.1:${port}/json_rpc`, { method: 'POST', headers, body })
    expect(await ended).toBe(0)
  })

  it('the HiveOS package mines with the port of the extra config, and queries its rates there', async () => {
    const inside = await unpacked('hiveos')
    const [port, other] = [await freePort(), await freePort()]
    const sheet = {
      CUSTOM_URL: devnet.url,
      CUSTOM_TEMPLATE: `k:${'ab'.repeat(32)}.rig1`,
      CUSTOM_PASS: 'short',
      CUSTOM_USER_CONFIG: `http: 0.0.0.0:${port}\nthreads: 1\ngpu: none\nstate: off`,
      CUSTOM_CONFIG_FILENAME: join(inside, 'newcut.yaml'),
      CUSTOM_LOG_BASENAME: join(inside, 'log', 'newcut'),
      WEB_PORT: String(other),
    }
    expect(bash(join(inside, 'h-config.sh'), sheet)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('the pass is left out'),
    })
    const { CUSTOM_CONFIG_FILENAME } = sheet
    const told = (env: Record<string, string>) => {
      const [khs, stats] = bash(`. ${inside}/h-stats.sh; echo "$khs"; echo "$stats"`, env).stdout.split('\n')
      return { khs: Number(khs), stats: JSON.parse(stats) }
    }
    void launched(join(inside, 'h-run.sh'), [], sheet)
    const env = { CUSTOM_CONFIG_FILENAME, WEB_PORT: String(other) }
    await expect.poll(() => told(env).khs, { interval: 500 }).toBeGreaterThan(10)
    // HiveOS may pass only the file, or nothing but the manifest.
    expect(told({ CUSTOM_CONFIG_FILENAME }).stats).toMatchObject({ ver: version })
    expect(told({}).stats).toBeNull()
    rmSync(CUSTOM_CONFIG_FILENAME)
    expect(told(env).stats).toBeNull()
    expect(told({ ...env, WEB_PORT: String(port) }).stats).toMatchObject({ ver: version })
  })

  it('the HiveOS package takes a bare key, the name of an account, quotes, and no password', () => {
    const written = (sheet: Record<string, string>) => {
      const file = join(folder, 'sheet.yaml')
      const env = { ...sheet, CUSTOM_CONFIG_FILENAME: file, WEB_PORT: '4148' }
      expect(bash(join(root, 'deploy/hiveos/h-config.sh'), env)).toMatchObject({ status: 0, stderr: '' })
      return readFileSync(file, 'utf8').split('\n').slice(1).join('\n')
    }
    const key = '0'.repeat(64)
    expect(written({ CUSTOM_TEMPLATE: key, CUSTOM_PASS: 'x' })).toBe(`http: 127.0.0.1:4148\npublic-key: '${key}'\n`)
    expect(written({ CUSTOM_TEMPLATE: "o'hara" })).toBe("http: 127.0.0.1:4148\naccount: 'o''hara'\n")
    const nodes = "nodes:\n  - 'http://a:1'\n  - 'http://b:2'\n"
    expect(written({ CUSTOM_URL: 'http://a:1,http://b:2' })).toBe(`http: 127.0.0.1:4148\n${nodes}`)
  })
})

describeWith(lack, 'the package for mmpOS', () => {
  it('the mmpOS package names itself, mines, and prints its state', async () => {
    const inside = await unpacked('mmpos')
    const named = bash(`. ${inside}/mmp-external.conf; echo $EXTERNAL_NAME $EXTERNAL_VERSION`)
    expect(named.stdout).toBe(`newcut ${version}\n`)
    const port = await freePort()
    const stats = () => bash(`${inside}/mmp-stats.sh 1 /dev/null`, { WEB_PORT: String(port) })
    expect(stats()).toMatchObject({ status: expect.toSatisfy((status) => status !== 0), stdout: '' })
    const node = ['--node', devnet.url, '--threads', '1', '--gpu', 'none', '--state', 'off']
    void launched(join(inside, 'newcut'), ['mine', ...node, '--http', `127.0.0.1:${port}`], {})
    const hash = () => (stats().status === 0 ? JSON.parse(stats().stdout).hash[0] : null)
    await expect.poll(hash, { interval: 500 }).toBeGreaterThan(10_000)
    const shown = JSON.parse(stats().stdout)
    expect(shown).toMatchObject({ busid: ['cpu'], units: 'hs', miner_name: 'newcut', miner_version: version })
    expect(shown.air.map(Number)).toEqual([expect.any(Number), 0, expect.any(Number)])
  })

  it('the mmpOS package mines as the profile says, and prints its state from the API in its file', async () => {
    const inside = await unpacked('mmpos')
    const port = await freePort()
    const pool = ['--pool-protocol', 'http', '--pool', new URL(devnet.url).host]
    const user = ['--user', `k:${'ab'.repeat(32)}.rig1`, '--password', 'x', '--coin', 'KDA']
    const own = ['--threads', '1', '--gpu', 'none', '--state', 'off', '--http', `0.0.0.0:${port}`]
    void launched(join(inside, 'mmp-launch.sh'), [...pool, ...user, ...own], {})
    const stats = () => bash(`${inside}/mmp-stats.sh 1 /dev/null`)
    const hash = () => (stats().status === 0 ? JSON.parse(stats().stdout).hash[0] : null)
    await expect.poll(hash, { interval: 500 }).toBeGreaterThan(10_000)
    expect(JSON.parse(stats().stdout)).toMatchObject({ busid: ['cpu'], miner_version: version })
  })
})
