/** `newcut lead`, `newcut mine --fleet` and `newcut fleet`: the compiled commands with a real NATS server. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { run, start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { until } from '../wait.ts'
import { NatsServer } from './nats.ts'

afterEach(stopAll)
const RIG = ['--threads', '1', '--gpu', 'none', '--http', 'off', '--state', 'off']

async function startServer(config = '', scheme = 'nats', hasJetStream = true): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-nats-'))
  const nats = await NatsServer.start(folder, config, scheme, hasJetStream)
  onTestFinished(async () => {
    await nats.kill()
    rmSync(folder, { recursive: true })
  })
  return nats
}

/** A self-signed certificate for 127.0.0.1, in PEM form. */
function createCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=nats', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', key, '-out', cert, '-days', '2', '-nodes']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', ...files, ...subject],
    {
      stdio: 'ignore',
    },
  )
  return { cert, key }
}

describeWith(lackOf('nats-server'), 'a fleet', () => {
  let devnet: Devnet
  beforeAll(async () => {
    devnet = await startDevnet({ port: 0, difficulty: 1_000_000n, blockDelayMs: 2000 })
  })
  afterAll(() => devnet?.close())

  const lead = (url: string, ...args: string[]) =>
    start(['lead', '--nats', url, '--node', devnet.url, '--http', '127.0.0.1:0', '--state', 'off', ...args])

  it('a fleet mines: the leader gives work, rigs find blocks, and the list shows them', async () => {
    const { url } = await startServer()
    const leader = lead(url)
    await leader.sees(/fleet {5}this process is the leader/)
    const rigs = ['alpha', 'beta'].map((rig) => start(['mine', '--fleet', url, '--rig', rig, ...RIG]))
    for (const rig of rigs) await rig.sees(/ accepted .*thread0/)
    expect(rigs[0].out()).toMatch(/^rig alpha of the fleet main at nats:\/\/127\.0\.0\.1:\d+$/m)
    expect(rigs[0].out()).toMatch(/^paid: k:3b6a27bc\w+, set by the leader$/m)
    await leader.sees(/ accepted .*rig:alpha/)
    await leader.sees(/ accepted .*rig:beta/)
    // Rigs report once a second, and idle for a moment between their solution and the next job.
    let out = ''
    const list = async () => {
      const listed = await run(['fleet', '--nats', url])
      expect(listed.code).toBe(0)
      out = listed.out
      return out
    }
    await expect.poll(list).toMatch(/^alpha +searching(.*\n)+beta +searching/m)
    expect(out).toMatch(/^rig +state +rate +blocks +version$/m)
    expect(out).toMatch(/^alpha +searching +.* +\d+\/\d+ +\d+\.\d+\.\d+$/m)
    expect(out).toMatch(/^2 rigs, .*; led by .* on development, paid: k:3b6a27bc/m)
    const [, face] = await leader.sees(/metrics: (http:\/\/127\.0\.0\.1:\d+)/)
    const metrics = await (await fetch(`${face}/metrics`)).text()
    expect(metrics).toMatch(/^newcut_fleet_leading\{fleet="main"\} 1$/m)
    expect(metrics).toMatch(/^newcut_fleet_rigs\{fleet="main"\} 2$/m)
    const summary = (await (await fetch(`${face}/api/summary`)).json()) as { fleet: unknown }
    expect(summary.fleet).toMatchObject({ isLeading: true, rigs: 2 })
    for (const each of [...rigs, leader]) each.child.kill('SIGTERM')
    for (const each of [...rigs, leader]) expect(await each.ended).toMatchObject({ code: 0, err: '' })
  })

  it('`newcut fleet` pauses and resumes one rig, and all rigs, including those that join later', async () => {
    const { url } = await startServer()
    const leader = lead(url)
    await leader.sees(/this process is the leader/)
    const alpha = start(['mine', '--fleet', url, '--rig', 'alpha', ...RIG])
    await alpha.sees(/ accepted /)
    const unknown = await run(['fleet', 'pause', 'alpa', '--nats', url])
    expect(unknown.err).toMatch(/^newcut: no rig alpa is connected; did you mean alpha\? \(newcut fleet lists the rigs/)
    expect(unknown.code).toBe(1)
    expect((await run(['fleet', 'pause', 'alpha', '--nats', url])).out).toMatch(/^rig alpha paused: 1 connected now/)
    await alpha.sees(/paused +until the leader of the fleet resumes it/)
    const list = async () => JSON.parse((await run(['fleet', '--nats', url, '--json'])).out)
    await expect.poll(list).toMatchObject({ rigs: [{ rig: 'alpha', state: 'paused' }] })
    expect((await run(['fleet', 'resume', 'alpha', '--nats', url])).code).toBe(0)
    await alpha.sees(/resumed/)
    expect((await run(['fleet', 'pause', 'all', '--nats', url])).out).toMatch(/^all rigs paused/)
    const refused = await run(['fleet', 'resume', 'alpha', '--nats', url])
    expect(refused.err).toMatch(/all rigs are paused: resume all/)
    expect(refused.code).toBe(2)
    // The next leader knows the pause too, and so does a rig that joins later.
    leader.child.kill('SIGKILL')
    await leader.ended
    const next = lead(url)
    await next.sees(/this process is the leader/)
    const beta = start(['mine', '--fleet', url, '--rig', 'beta', ...RIG])
    await beta.sees(/paused +until the leader of the fleet resumes it/)
    expect((await run(['fleet', 'resume', 'all', '--nats', url])).code).toBe(0)
    await beta.sees(/ accepted /)
  })

  it('a fleet continues with the second leader when the first is killed', async () => {
    const { url } = await startServer()
    const first = lead(url)
    await first.sees(/this process is the leader/)
    const second = lead(url)
    await second.sees(/is the leader; this process stands by/)
    const rig = start(['mine', '--fleet', url, '--rig', 'alpha', ...RIG])
    await rig.sees(/ accepted /)
    first.child.kill('SIGKILL')
    await second.sees(/this process is the leader/)
    await second.sees(/ accepted .*rig:alpha/)
  })

  it('a fleet accepts user and password, and never shows them', async () => {
    const { url } = await startServer('authorization { user: miner, password: "s3cret!" }')
    const own = url.replace('nats://', 'nats://miner:s3cret%21@')
    const leader = lead(own)
    await leader.sees(/this process is the leader/)
    const rig = start(['mine', '--fleet', own, '--rig', 'alpha', ...RIG])
    await rig.sees(/ accepted /)
    for (const wrong of [url, url.replace('nats://', 'nats://miner:wrong@')]) {
      const { code, err } = await run(['fleet', '--nats', wrong])
      expect(err).toMatch(/refuses these credentials/)
      expect(code).toEqual(expect.any(Number))
      expect(code).not.toBe(0)
      expect(err).not.toMatch(/wrong/)
    }
    const config = await run(['config', '--fleet', own])
    for (const text of [leader.out(), leader.err(), rig.out(), rig.err(), config.out]) {
      expect(text).not.toMatch(/s3cret/)
    }
  })

  it('a rig works with the rights that the documents give to rigs', async () => {
    const text = readFileSync(new URL('../../docs/FLEETS.md', import.meta.url), 'utf8')
    const [, config = ''] = /```conf\n(authorization \{[^`]*)```/.exec(text) ?? []
    expect(config).toMatch(/permissions/)
    const { url } = await startServer(config)
    const leader = lead(url.replace('nats://', 'nats://leader:LEADER@'))
    await leader.sees(/this process is the leader/)
    const rig = start(['mine', '--fleet', url.replace('nats://', 'nats://rig:RIG@'), '--rig', 'alpha', ...RIG])
    await rig.sees(/ accepted /)
    // The user of a rig may not send commands.
    const { code } = await run(['fleet', 'pause', 'all', '--nats', url.replace('nats://', 'nats://rig:RIG@')])
    expect(code).not.toBe(0)
    await rig.sees(/ accepted /)
    expect(rig.out()).not.toMatch(/paused/)
  })

  it('a fleet speaks TLS, and only with a server that its authority vouches for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const { cert, key } = createCertificate(folder)
    const { url } = await startServer(`tls { cert_file: "${cert}", key_file: "${key}" }`, 'tls')
    const leader = lead(url, '--nats-ca', cert)
    await leader.sees(/this process is the leader/)
    const rig = start(['mine', '--fleet', url, '--nats-ca', cert, '--rig', 'alpha', ...RIG])
    await rig.sees(/ accepted /)
    const stranger = await run(['fleet', '--nats', url])
    expect(stranger.code).not.toBe(0)
    expect(stranger.err).toMatch(/no NATS server answers at tls:.*self.signed certificate/)
    const plain = await run(['fleet', '--nats', url.replace('tls:', 'nats:')])
    expect(plain.code).not.toBe(0)
    expect(plain.err).toMatch(/accepts only TLS.*use a tls:\/\/ address/s)
  })

  it.each([
    [['fleet', 'pause'], /pause: the name of a rig is missing/],
    [['fleet', 'list', 'alpha'], /list takes no rig/],
    [['fleet', '--nats', 'http://x'], /--nats \*\*\*: expected nats:\/\/HOST/],
    [['fleet', '--nats', 'nats://127.0.0.1:1'], /no NATS server answers at nats:\/\/127\.0\.0\.1:1/],
    [['mine', '--fleet', 'nats://h', '--node', 'http://h'], /--node has no effect/],
    [['mine', '--fleet', 'nats://h', '--public-key', 'ab'.repeat(32)], /--public-key has no effect/],
    [
      ['mine', '--fleet', 'nats://h', '--stratum-proxy-listen', '127.0.0.1:0'],
      /--stratum-proxy-listen has no effect: no rigs can connect/,
    ],
    [
      ['mine', '--fleet', 'nats://h', '--nats-ca', 'x.pem'],
      /--nats-ca has no effect: the address of the NATS server does not use TLS/,
    ],
    [['mine', '--rig', 'alpha'], /--rig has no effect/],
    [['mine', '--fleet', 'nats://h', '--rig', 'a b'], /--rig .*letters, digits/],
    [['lead', '--nats', 'tls://h', '--nats-cert', 'x.pem'], /--nats-key is missing/],
    [['lead', '--nats', 'tls://h', '--nats-ca', 'none.pem'], /--nats-ca none\.pem: it does not exist/],
  ])('the command %j is refused, and the error says why', async (args, why) => {
    const { code, err } = await run(args)
    expect(err).toMatch(why)
    expect(code).not.toBe(0)
  })

  it('`newcut fleet` reports that no leader answers', async () => {
    const { url } = await startServer()
    const { code, err } = await run(['fleet', '--nats', url])
    expect(err).toMatch(/no leader of the fleet main answers at nats:/)
    expect(code).not.toBe(0)
    const failed = await run(['mine', '--fleet', url, '--fail-fast', ...RIG])
    expect(failed.err).toMatch(/no leader of the fleet answers/)
    expect(failed.code).not.toBe(0)
  })

  it('--dry-run prints what would be led or searched, or what is wrong, and does neither', async () => {
    const { url } = await startServer()
    const tryLead = (nats: string, node = devnet.url) => run(['lead', '--dry-run', '--nats', nats, '--node', node])
    const tried = await tryLead(url)
    expect(tried).toMatchObject({ code: 0, err: '' })
    expect(tried.out).toMatch(/^fleet: main at nats:.*\nnetwork: development, .*\npaid: .*\nwork: chain \d+ height \d+/)
    expect(tried.out).toMatch(/\nall checks passed; without --dry-run, newcut would lead or stand by\n$/)
    expect((await run(['fleet', '--nats', url])).err).toMatch(/no leader of the fleet main answers/)
    const alone = await run(['mine', '--fleet', url, '--rig', 'alpha', ...RIG, '--dry-run'])
    expect(alone.err).toMatch(/no leader of the fleet answers/)
    expect(alone.code).toBe(20)
    expect((await tryLead('nats://127.0.0.1:1')).err).toMatch(/no NATS server answers at nats:\/\/127\.0\.0\.1:1/)
    expect((await tryLead(url, 'http://127.0.0.1:1')).err).toMatch(/127\.0\.0\.1:1.*\[NODE_UNREACHABLE\]/s)
    const copies = await run(['lead', '--dry-run', '--nats', url, '--node', devnet.url, '--nats-replicas', '3'])
    expect(copies.err).toMatch(/is a single server: it cannot keep 3 copies \(leave --nats-replicas out\)/)
    const plain = await startServer('', 'nats', false)
    expect((await tryLead(plain.url)).err).toMatch(/no JetStream \(nats-server -js\)/)
    const leader = lead(url)
    await leader.sees(/this process is the leader/)
    // The command succeeds once the leader has read the list of paused rigs.
    await until(async () => (await run(['fleet', '--nats', url])).code === 0)
    const rig = await run(['mine', '--fleet', url, '--rig', 'alpha', ...RIG, '--dry-run'])
    expect(rig).toMatchObject({ code: 0, err: '' })
    expect(rig.out).toMatch(/rig alpha of the fleet main at nats:.*\npaid: k:\w+, set by the leader\ndevices: cpu\n/)
  })

  it('the leader names JetStream if the server lacks it', async () => {
    const { url } = await startServer('', 'nats', false)
    const leader = lead(url)
    await leader.sees(/warning .*JetStream.*nats-server -js/i)
  })
})
