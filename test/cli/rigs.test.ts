/** `newcut mine --stratum-listen`: rigs connect and mine blocks, in plain text and over TLS. */
import { spawn } from 'node:child_process'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { Rig } from '../support/stratum-rig.ts'
import { run, startHere, stopAll } from './run.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) rig.close()
  await stopAll()
})

/** Rigs only: no CPU thread, no GPU. */
const alone = ['--threads', '0', '--gpu', 'none', '--stratum-listen', '127.0.0.1:0']

async function mining(port: number, user: string): Promise<Rig> {
  const rig = await Rig.login(port, user)
  rigs.push(rig)
  rig.mine()
  return rig
}

describe('newcut mine --stratum-listen', () => {
  it('newcut mine --stratum-listen mines blocks with rigs alone, and shows them in summary and metrics', async () => {
    const { sees, stop } = startHere(['mine', ...alone, '--difficulty', '3k', '--http', '127.0.0.1:0'])
    const [, port] = await sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+), any user and password\n/)
    const [, url] = await sees(/dashboard: (http:\/\/\S+)\//)
    const read = async () => (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
    expect((await read()).idleReason).toBe('rigs rigs is unable: no rig is connected')
    expect((await fetch(`${url}/healthz`)).status).toBe(503)
    await mining(Number(port), 'k:abc.shelf 1')
    await sees(/accepted {2}chain \d+ +height \d+ +rig:shelf 1/)
    const { devices, hashes, rigs: told } = await read()
    expect(told).toMatchObject({
      sessions: 1,
      users: [{ user: 'k:abc', sessions: 1 }],
      rigs: [{ device: 'rig:shelf 1' }],
    })
    expect(devices).toMatchObject([{ engine: 'rigs', device: 'rig:shelf 1', kernel: 'stratum' }])
    expect(hashes).toBeGreaterThanOrEqual(3000)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toMatch(/^newcut_rig_sessions 1$/m)
    expect(metrics).toMatch(/^newcut_rig_shares_total\{verdict="accepted"\} [1-9]/m)
    expect(metrics).toMatch(/^newcut_hashes_total\{engine="rigs",device="rig:shelf 1"\} [1-9]/m)
    expect(metrics).toMatch(/^newcut_rig_user_shares_total\{user="k:abc",verdict="accepted"\} [1-9]/m)
    expect(metrics).toMatch(/^newcut_rig_device_shares_total\{device="rig:shelf 1",verdict="accepted"\} [1-9]/m)
    const { code, out, err } = await stop()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/summary {3}\d+ accepted/)
    expect(out).not.toMatch(/hardware/)
  })

  it('newcut mine --stratum-listen accepts the allowed number of rigs from one address, and warns about more', async () => {
    const { sees, stop } = startHere(['mine', ...alone, '--http', 'off', '--stratum-per-address', '2'])
    const [, port] = await sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
    for (const name of ['left', 'right']) await mining(Number(port), `k:abc.${name}`)
    const third = await Rig.connect(Number(port))
    await third.ended
    await sees(/warning +2 rigs are connected from 127\.0\.0\.1, .*--stratum-per-address/)
    expect((await stop()).code).toBe(0)
  })

  it('newcut mine --stratum-listen accepts no more rigs than its open-file limit allows, and keeps mining', async () => {
    const command = 'ulimit -n 300 && exec "$0" "$@"'
    const main = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
    const args = ['mine', ...alone, '--http', 'off', '--difficulty', '3k']
    const child = spawn('bash', ['-c', command, process.execPath, main, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let out = ''
    child.stdout.on('data', (bytes) => {
      out += bytes
    })
    const sees = async (pattern: RegExp) => {
      await expect.poll(() => out).toMatch(pattern)
      return pattern.exec(out) ?? []
    }
    const [, port] = await sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
    await mining(Number(port), 'k:abc.first')
    let closed = 0
    for (let i = 0; i < 200; i++) {
      const rig = await Rig.connect(Number(port))
      rigs.push(rig)
      void rig.ended.then(() => closed++)
    }
    await sees(/warning +150 rigs are connected, .*ulimit -n/)
    await expect.poll(() => closed).toBeGreaterThanOrEqual(51)
    await sees(/accepted {2}chain \d+ +height \d+ +rig:first/)
  })

  it('newcut mine --stratum-listen ends with an error if the port is in use, and says so in a dry run too', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as AddressInfo
    const options = ['mine', '--gpu', 'none', '--stratum-listen', `127.0.0.1:${port}`, '--http', 'off']
    const refused = await run(options)
    expect(refused.code).toBe(24)
    expect(refused.err).toMatch(/cannot listen for rigs on 127\.0\.0\.1:\d+: .*EADDRINUSE.*\[PORT_BUSY\]/s)
    const devnet = startHere(['devnet', '--port', '0'])
    const [, url] = await devnet.sees(/newcut mine --node (http:\S+)/)
    const tried = await run([...options, '--node', url, '--state', 'off', '--dry-run'])
    expect(tried.err).toMatch(/\[PORT_BUSY\]/)
    await new Promise((resolve) => taken.close(resolve))
    const free = await run([...options, '--node', url, '--state', 'off', '--dry-run'])
    expect(free).toMatchObject({ code: 0, err: '' })
    expect(free.out).toMatch(/devices: cpu, rigs\nrigs: they can connect to 127\.0\.0\.1:\d+\n/)
  })

  it.each<[string, string[], RegExp]>([
    ['a difficulty without a server', ['--stratum-difficulty', '1k'], /--stratum-difficulty has no effect: no rigs/],
    [
      'a number of rigs without a server',
      ['--stratum-per-address', '9'],
      /--stratum-per-address has no effect: no rigs/,
    ],
    ['no rigs of an address', [...alone, '--stratum-per-address', '0'], /--stratum-per-address .*from 1 to 65536/],
    ['a key without a certificate', [...alone, '--stratum-tls-key', 'x'], /--stratum-tls-cert is missing/],
    ['a certificate without a key', [...alone, '--stratum-tls-cert', 'x'], /--stratum-tls-key is missing/],
    ['no address', ['--stratum-listen', '1917'], /--stratum-listen .*expected HOST:PORT/],
    ['work that rigs do not know', [...alone, '--graph', 'pair'], /no rig can search work of this network/],
  ])('newcut mine --stratum-listen refuses %s', async (_, options, message) => {
    const { code, err } = await run(['mine', '--http', 'off', ...options])
    expect(err).toMatch(message)
    expect(err).toMatch(/\[BAD_OPTION\]/)
    expect(code).toBe(2)
  })

  it('newcut mine --stratum-listen refuses an invalid certificate', async () => {
    const tls = ['--stratum-tls-cert', 'package.json', '--stratum-tls-key', 'package.json']
    const { code, err } = await run(['mine', '--http', 'off', ...alone, ...tls])
    expect(err).toMatch(/cannot use package\.json and package\.json for TLS: .*\[BAD_INPUT\]/)
    expect(code).toBe(1)
  })
})
