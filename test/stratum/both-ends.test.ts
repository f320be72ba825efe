/**
 * Miners as the rigs of a miner: newcut speaks both ends of the dialect, and a tap between them judges. Miners that are
 * killed have a process of their own.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { type Running, run, start, startHere, stopAll } from '../cli/run.ts'
import { paceSearch } from '../pace.ts'
import { freePort } from '../ports.ts'
import { Tap } from './tap.ts'

paceSearch()

const ALONE = ['--gpu', 'none', '--http', '127.0.0.1:0']
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
const TLS = { cert: fixture('tls-test-cert.pem'), key: fixture('tls-test-key.pem') }
const STEADY = { graph: 'petersen', difficulty: 150_000n } as const
/** Each poll asks a miner for its snapshot. */
const POLL = { interval: 100 }
afterEach(stopAll)

/** A node that records the nonces of the blocks it took. */
async function node() {
  const nonces: bigint[] = []
  const devnet = await startDevnet({
    ...STEADY,
    port: 0,
    onSolved: ({ nonce }, addition) => {
      if (addition.status === 'added') nonces.push(nonce)
    },
  })
  onTestFinished(() => devnet.close())
  return { devnet, nonces }
}

const serverOf = (url: string, port: number, more: readonly string[] = []) => {
  const listen = ['--stratum-listen', `127.0.0.1:${port}`, '--stratum-difficulty', '2k']
  return ['mine', '--node', url, '--state', 'off', '--threads', '0', ...ALONE, ...listen, ...more]
}

const rigOf = (port: number, name: string) => [
  'mine',
  '--pool',
  `stratum+tcp://k%3Aab.${name}@127.0.0.1:${port}`,
  '--threads',
  '1',
  ...ALONE,
]

type Miner = Pick<Running, 'sees'>

async function snapshot({ sees }: Miner): Promise<Snapshot> {
  const [, url] = await sees(/dashboard: (http:\/\/\S+)\//)
  return (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
}

async function rigsOf(miner: Miner): Promise<NonNullable<Snapshot['rigs']>> {
  const { rigs } = await snapshot(miner)
  if (rigs === undefined) throw new Error('it lets no rigs in')
  return rigs
}

const connected = (miner: Miner) => expect.poll(async () => (await rigsOf(miner)).sessions, POLL)

describe('a miner whose rigs are miners', () => {
  it('a miner whose rigs are miners credits their shares and mines blocks with them, through kills and restarts', async () => {
    const { devnet, nonces } = await node()
    const port = await freePort()
    const tap = await new Tap(() => port).listen()
    onTestFinished(() => tap.close())
    const lead = start(serverOf(devnet.url, port))
    await lead.sees(/rigs: stratum\+tcp:/)
    const [left, right] = [startHere(rigOf(tap.port, 'left')), start(rigOf(tap.port, 'right'))]
    await connected(lead).toBe(2)
    await expect.poll(() => tap.sessions.map(({ accepted }) => accepted >= 20)).toEqual([true, true])
    await lead.sees(/accepted {2}chain \d+ +height \d+ +rig:left/)
    await lead.sees(/accepted {2}chain \d+ +height \d+ +rig:right/)

    // The first target is easy, so vardiff raises the difficulty at least once.
    for (const { targets } of tap.sessions) {
      expect(targets.length).toBeGreaterThanOrEqual(2)
      expect(targets[targets.length - 1]).toBeLessThan(targets[0])
    }
    const { shares } = await rigsOf(lead)
    expect(shares).toMatchObject({ low: 0, duplicate: 0, malformed: 0, unauthorized: 0, unsubscribed: 0 })
    const told = await snapshot(left)
    expect(told.solutions.accepted).toBeGreaterThanOrEqual(20)
    expect(told.solutions.rejected).toBe(0)
    expect(told.hardwareErrors).toBe(0)

    // One rig dies, the other continues, and the first returns under the same name.
    right.child.kill('SIGKILL')
    await connected(lead).toBe(1)
    const [other] = tap.open
    expect(other.user).toBe('k:ab.left')
    const before = other.accepted
    await expect.poll(() => other.accepted).toBeGreaterThan(before + 3)
    const again = startHere(rigOf(tap.port, 'right'))
    await connected(lead).toBe(2)
    await expect.poll(() => tap.sessions[2]?.accepted ?? 0).toBeGreaterThan(3)

    // The server dies, and both rigs reconnect to the next one.
    lead.child.kill('SIGKILL')
    await lead.ended
    // A connection with data in flight to the dead process is reset.
    await left.sees(/(ended the connection|ECONNRESET|EPIPE); trying again/)
    const heir = startHere(serverOf(devnet.url, port))
    await connected(heir).toBe(2)
    const back = () => tap.open.map(({ accepted }) => accepted >= 3)
    await expect.poll(back).toEqual([true, true])
    await heir.sees(/accepted {2}chain /)
    const open = tap.open.map(({ nonce1 }) => nonce1)
    // The server goes first: a miner that has lost its last device exits with another code.
    for (const miner of [heir, left, again]) {
      const { code, err } = await miner.stop()
      expect(err).toBe('')
      expect(code).toBe(0)
    }

    // All shares are good by the tap's judgement, and none appears twice, whichever rig searched.
    expect(tap.faults).toEqual([])
    expect(tap.shares.every(({ isGood }) => isGood)).toBe(true)
    expect(tap.shares.every(({ answer }) => answer === true || answer === 21 || answer === null)).toBe(true)
    expect(new Set(tap.shares.map(({ searched }) => searched)).size).toBe(tap.shares.length)
    const nonce1s = tap.sessions.map(({ nonce1 }) => nonce1)
    expect(new Set(nonce1s.slice(0, 2)).size).toBe(2)
    expect(nonce1s[2]).not.toBe(nonce1s[0])
    expect(open.length).toBe(2)
    expect(new Set(open).size).toBe(2)
    // Every block in the chain is a share of a rig.
    expect(nonces.length).toBeGreaterThan(3)
    const submitted = new Set(tap.shares.map(({ nonce }) => nonce))
    expect(nonces.filter((nonce) => !submitted.has(nonce))).toEqual([])
  })

  it('a miner serves other miners as rigs over TLS if they trust its certificate', async () => {
    const { devnet, nonces } = await node()
    const port = await freePort()
    const lead = startHere(serverOf(devnet.url, port, ['--stratum-tls-cert', TLS.cert, '--stratum-tls-key', TLS.key]))
    await lead.sees(/rigs: stratum\+ssl:/)
    const url = `stratum+ssl://k%3Aab.safe@127.0.0.1:${port}`
    const fingerprint = new X509Certificate(readFileSync(TLS.cert)).fingerprint256
    const options = ['mine', '--pool', url, '--threads', '1', ...ALONE]
    const pinned = startHere([...options, '--fingerprint', fingerprint])
    const trusting = startHere([...options.map((each) => each.replace('.safe', '.sound')), '--ca', TLS.cert])
    await lead.sees(/accepted {2}chain \d+ +height \d+ +rig:safe/)
    await lead.sees(/accepted {2}chain \d+ +height \d+ +rig:sound/)
    const stranger = await run([...options, '--fail-fast'])
    expect(stranger.code).toBe(20)
    expect(stranger.err).toMatch(/certificate|self-signed/)
    const { sessions, shares } = await rigsOf(lead)
    expect(sessions).toBe(2)
    expect(shares).toMatchObject({ low: 0, duplicate: 0, malformed: 0 })
    for (const miner of [pinned, trusting]) expect((await snapshot(miner)).solutions.rejected).toBe(0)
    expect(nonces.length).toBeGreaterThanOrEqual(2)
  })
})
