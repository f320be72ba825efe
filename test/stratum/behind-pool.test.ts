/**
 * Rigs of a proxy of a pool, each its own process. The pool is a miner with rigs, whose node mines real blocks.
 * Taps before the proxy and before the pool judge all traffic, and check that the pool accepts what the proxy accepts.
 */
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { type Running, start, stopAll } from '../cli/run.ts'
import { RawRig } from '../engine/passthrough/raw-rig.ts'
import { freePort } from '../ports.ts'
import { until } from '../wait.ts'
import { Tap } from './tap.ts'

const ALONE = ['--gpu', 'none', '--http', '127.0.0.1:0']
afterEach(stopAll)

async function summary({ sees }: Running): Promise<Snapshot> {
  const [, url] = await sees(/dashboard: (http:\/\/\S+)\//)
  return (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
}

async function tap(port: number): Promise<Tap> {
  const started = await new Tap(() => port).listen()
  onTestFinished(() => started.close())
  return started
}

const miner = (port: number, user: string, more: readonly string[]) =>
  start(['mine', '--pool', `stratum+tcp://k%3Aab.${user}@127.0.0.1:${port}`, ...ALONE, ...more])

describe('rigs behind a pool', () => {
  it('rigs of a proxy mine the blocks of its pool, through the death of the pool and of the proxy', async () => {
    const nonces: bigint[] = []
    const devnet = await startDevnet({
      graph: 'petersen',
      difficulty: 2_000_000n,
      port: 0,
      onSolved: ({ nonce }, addition) => {
        if (addition.status === 'added') nonces.push(nonce)
      },
    })
    onTestFinished(() => devnet.close())
    const [poolPort, proxyPort] = [await freePort(), await freePort()]
    const listen = (port: number) => ['--threads', '0', '--stratum-listen', `127.0.0.1:${port}`]
    const poolOf = () =>
      start([
        'mine',
        '--node',
        devnet.url,
        '--state',
        'off',
        ...ALONE,
        ...listen(poolPort),
        '--stratum-difficulty',
        '20k',
      ])
    let at = poolOf()
    await at.sees(/rigs: stratum\+tcp:/)
    const [above, below] = [await tap(poolPort), await tap(proxyPort)]
    const between = miner(above.port, 'farm', listen(proxyPort))
    await between.sees(/rigs: stratum\+tcp:\/\/127\.0\.0\.1:\d+, any user and password; the pool pays the user/)
    const rigs = ['left', 'right'].map((name) => miner(below.port, name, ['--threads', '1']))
    await expect.poll(() => below.open.map(({ accepted }) => accepted >= 10)).toEqual([true, true])
    await at.sees(/accepted {2}chain \d+ +height \d+ +rig:(left|right)/)
    const told = await summary(between)
    expect(told.rigs).toMatchObject({ sessions: 2, shares: { low: 0, duplicate: 0, malformed: 0 } })
    expect(told.rigs?.shares.accepted).toBeGreaterThanOrEqual(20)
    expect(told.devices.map(({ device }) => device).sort()).toEqual(['rig:left', 'rig:right'])
    expect(told.hashes).toBeGreaterThanOrEqual(20 * 20_000)
    expect((await summary(at)).rigs?.rigs.map(({ device, user }) => [device, user])).toEqual(
      expect.arrayContaining([
        ['rig:left', 'k:ab'],
        ['rig:right', 'k:ab'],
      ]),
    )

    // The pool dies. It had accepted every share that the proxy accepted.
    at.child.kill('SIGKILL')
    await between.sees(/pool stratum.*; trying again/)
    at = poolOf()
    const more = () => below.open.filter(({ accepted }) => accepted >= 3).length
    await expect.poll(() => below.sessions.length).toBeGreaterThanOrEqual(4)
    await expect.poll(more).toBe(2)

    // The proxy dies, and another replaces it.
    between.child.kill('SIGKILL')
    const again = miner(above.port, 'farm', listen(proxyPort))
    await expect.poll(() => below.sessions.length).toBeGreaterThanOrEqual(6)
    await expect.poll(more).toBe(2)
    await expect.poll(() => nonces.length).toBeGreaterThan(2)
    // The proxy goes first, then its rigs, and the pool is not stopped: a miner that has lost its last device exits
    // with another code.
    for (const { child, ended } of [again, ...rigs]) {
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
    }

    expect([...above.faults, ...below.faults]).toEqual([])
    const [passed, heard] = [above, below].map(({ shares }) => shares)
    expect(heard.filter(({ isGood }) => !isGood)).toEqual([])
    expect(new Set(heard.map(({ searched }) => searched)).size).toBe(heard.length)
    // The pool has accepted every share that the proxy accepted.
    const taken = new Set(passed.filter(({ answer }) => answer === true).map(({ searched }) => searched))
    const promised = heard.filter(({ answer }) => answer === true)
    expect(promised.length).toBeGreaterThan(30)
    expect(promised.filter(({ searched }) => !taken.has(searched))).toEqual([])
    // Every block is a share of a rig.
    const found = new Set(heard.map(({ nonce }) => nonce))
    expect(nonces.filter((nonce) => !found.has(nonce))).toEqual([])
  })

  it('rigs stay connected while the pool is away if they support a new nonce1, and resume', async () => {
    const devnet = await startDevnet({ graph: 'petersen', difficulty: 2_000_000n, port: 0 })
    onTestFinished(() => devnet.close())
    const [poolPort, proxyPort] = [await freePort(), await freePort()]
    const poolOf = () =>
      start([
        'mine',
        '--node',
        devnet.url,
        '--state',
        'off',
        '--threads',
        '0',
        '--gpu',
        'none',
        '--http',
        'off',
        '--stratum-listen',
        `127.0.0.1:${poolPort}`,
        '--stratum-difficulty',
        '1k',
      ])
    const at = poolOf()
    await at.sees(/rigs: stratum\+tcp:/)
    const above = await tap(poolPort)
    const between = miner(above.port, 'farm', ['--threads', '0', '--stratum-listen', `127.0.0.1:${proxyPort}`])
    await between.sees(/rigs: stratum\+tcp:/)
    const ka3 = await RawRig.login(proxyPort)
    onTestFinished(() => ka3.close())
    const promised: string[] = []
    const shares = async (count: number) => {
      for (let good = 0; good < count; ) {
        const { header, id } = ka3.jobs[ka3.jobs.length - 1]
        const nonce2 = ka3.nonce2()
        const searched = withNonce(header, BigInt(`0x${nonce2}${ka3.nonce1}`))
        const { result } = await ka3.ask('mining.submit', ['X.worker7', id, nonce2])
        if (result !== true) continue
        promised.push(Buffer.from(searched).toString('hex'))
        good++
      }
    }
    await shares(5)
    const { nonce1 } = ka3
    at.child.kill('SIGKILL')
    await at.ended
    await between.sees(/pool stratum.*; trying again/)
    const stale = await ka3.share()
    expect(stale).toMatchObject({ result: false, error: [21, 'the job is over', null] })
    await poolOf().sees(/rigs: stratum\+tcp:/)
    await until(() => ka3.told.includes('mining.set_extranonce') && ka3.told.at(-1) === 'mining.notify')
    expect(ka3.nonce1).not.toBe(nonce1)
    await shares(5)
    expect(ka3.isClosed).toBe(false)
    expect(above.faults).toEqual([])
    const taken = above.shares.filter(({ answer }) => answer === true).map(({ searched }) => searched)
    expect(taken).toEqual(expect.arrayContaining(promised))
    // No other shares reached the pool.
    expect(taken.length).toBe(promised.length)
  })
})
