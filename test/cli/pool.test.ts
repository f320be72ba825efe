/** `newcut mine --pool`: the compiled command against a pool that judges every share. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { type PoolScript, TestPool } from '../source/pool/pool.ts'
import { freshWork } from '../support/work.ts'
import { run, startHere, stopAll } from './run.ts'

const PLAIN = ['--threads', '1', '--gpu', 'none', '--http', '127.0.0.1:0']
afterEach(stopAll)

async function pool(script: PoolScript = {}): Promise<TestPool> {
  const test = await new TestPool({ difficulty: 1_000_000n, ...script }).listen()
  onTestFinished(() => test.close())
  return test
}

describe('newcut mine --pool', () => {
  it('newcut mine --pool mines shares, and prints payee and pool without the password', async () => {
    const test = await pool()
    const miner = startHere(['mine', '--pool', test.url('k%3Aab.rig:secret'), ...PLAIN])
    await miner.sees(/ accepted .*\(3\/0\/0\)/)
    expect(miner.out()).toMatch(new RegExp(`^pool: stratum\\+tcp://127\\.0\\.0\\.1:${test.port}$`, 'm'))
    expect(miner.out()).toMatch(/^paid: k:ab\.rig, by the pool$/m)
    expect(miner.out()).not.toMatch(/journal:/)
    const [, url] = await miner.sees(/metrics\W+(http:\/\/127\.0\.0\.1:\d+)/)
    const summary = (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
    expect(summary.nodes).toMatchObject([{ url: `stratum+tcp://127.0.0.1:${test.port}`, up: true, active: true }])
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toMatch(/newcut_blocks_total\{state="credited"\} ([3-9]|\d\d)/)
    const xmrig = (await (await fetch(`${url}/2/summary`)).json()) as { connection: { pool: string; accepted: number } }
    expect(xmrig.connection.pool).toBe(`127.0.0.1:${test.port}`)
    expect(xmrig.connection.accepted).toBeGreaterThanOrEqual(3)
    expect((await fetch(`${url}/`)).status).toBe(200)
    const { code, out, err } = await miner.stop()
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(/summary .*accepted/)
    expect(out + JSON.stringify(summary) + metrics).not.toContain('secret')
    expect(test.shares.every(({ user, verdict }) => user === 'k:ab.rig' && verdict === 'accepted')).toBe(true)
  })

  it('newcut mine --pool reports which shares are blocks, and counts accepted shares', async () => {
    const test = await pool()
    // The work is as hard as the shares, so every share is a block.
    test.notify(freshWork(1_000_000n))
    const miner = startHere(['mine', '--pool', test.url(), ...PLAIN])
    await miner.sees(/ accepted .*\(2\/0\/0\) {2}a block$/m)
    const [, url] = await miner.sees(/metrics\W+(http:\/\/127\.0\.0\.1:\d+)/)
    const { poolBlocks, solutions } = (await (await fetch(`${url}/api/summary`)).json()) as Snapshot
    expect(poolBlocks).toBe(solutions.accepted)
    expect(poolBlocks).toBeGreaterThanOrEqual(2)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(Number(/^newcut_pool_blocks_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(poolBlocks)
    expect((await miner.stop()).out).toMatch(/^[\d:]+ +\d+ shares are blocks of the pool$/m)
  })

  it('newcut mine --pool reads the password from the first colon to the last @, and never prints it', async () => {
    const test = await pool()
    const secret = 'hunter2,d=1024@home'
    const addresses = `${test.url(`a:${secret}`)},${test.url('b')}`
    const miner = startHere(['mine', ...PLAIN], { NEWCUT_POOL: addresses })
    await expect.poll(() => test.passwords.toSorted()).toEqual(['', secret])
    await miner.sees(/^paid: a, b, by the pool$/m)
    const [, url] = await miner.sees(/metrics\W+(http:\/\/127\.0\.0\.1:\d+)/)
    const summary = await (await fetch(`${url}/api/summary`)).text()
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const { out, err } = await miner.stop()
    expect(summary).toContain('shares for a at')
    expect(out + err + summary + metrics).not.toMatch(/hunter2|1024@|home/)
    const unread = await run(['mine', '--pool', `stratum+tcp://a:${secret}@pool`, ...PLAIN])
    expect(unread.out + unread.err).not.toContain('hunter2')
    expect(unread.code).toBe(2)
  })

  it('newcut mine --pool fails over to the next pool, and waits for one to come back', async () => {
    const [first, second] = [await pool(), await pool()]
    const miner = startHere(['mine', '--pool', first.url(), '--pool', second.url(), ...PLAIN])
    await miner.sees(/ accepted /)
    await expect.poll(() => first.connections + second.connections).toBe(2)
    const active = first.shares.length > 0 ? first : second
    const other = active === first ? second : first
    await active.close()
    await expect.poll(() => other.shares.length).toBeGreaterThan(0)
    await other.close()
    await miner.sees(/trying again/)
    expect((await fetch(`${(await miner.sees(/metrics\W+(http:\/\/127\.0\.0\.1:\d+)/))[1]}/healthz`)).status).toBe(503)
  })

  it('newcut mine --pool checks the pool with --dry-run', async () => {
    const test = await pool()
    const { code, out } = await run(['mine', '--pool', test.url(), ...PLAIN, '--dry-run'])
    expect(code).toBe(0)
    expect(out).toMatch(
      /pool: shares for k:ab\.rig at stratum\+tcp:\/\/127\.0\.0\.1:\d+\npaid: k:ab\.rig, by the pool\ndevices: cpu\n/,
    )
    expect(test.shares).toEqual([])
  })

  it('newcut mine --pool trusts a certificate by its fingerprint', async () => {
    const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')
    const test = await pool({ tls: { key: fixture('tls-test-key.pem'), cert: fixture('tls-test-cert.pem') } })
    const miner = startHere(['mine', '--pool', test.url(), '--insecure', ...PLAIN])
    await miner.sees(/ accepted /)
    const pinned = await run(['mine', '--pool', test.url(), '--fingerprint', 'ab'.repeat(32), '--fail-fast', ...PLAIN])
    expect(pinned.code).toBe(20)
    expect(pinned.err).toMatch(/its certificate has the fingerprint [0-9a-f]{64}, not the one expected/)
  })

  it.each<[readonly string[], RegExp]>([
    [['--pool', 'pool.example:1'], /the address of a pool cannot be read \(expected stratum\+tcp:/],
    [['--pool', 'stratum+tcp://pool.example:1'], /the user is missing, so nobody would be paid/],
    [
      ['--pool', 'stratum+tcp://a@pool.example:1', '--node', 'http://127.0.0.1:1848'],
      /--node has no effect: with --pool/,
    ],
    [
      ['--pool', 'stratum+tcp://a@pool.example:1', '--public-key', 'ab'.repeat(32)],
      /--public-key .* a pool gives the work/,
    ],
    [
      ['--pool', 'stratum+tcp://a@pool.example:1', '--stratum-listen', '127.0.0.1:0', '--stratum-difficulty', '1k'],
      /--stratum-difficulty .* with --pool the pools give the work/,
    ],
    [['--pool', 'stratum+tcp://a@pool.example:1', '--pool-sessions', '9'], /--pool-sessions .* no rigs can connect/],
    [['--stratum-listen', '127.0.0.1:0', '--pool-sessions', '9'], /--pool-sessions .* rigs behind a pool/],
    [
      ['--pool', 'stratum+tcp://a@pool.example:1', '--insecure'],
      /--insecure has no effect: no address of these pools uses TLS/,
    ],
    [['--pool', 'stratum+tcp://a@pool.example:1', '--failback', '5s'], /--failback .*there is only one --pool/],
  ])('newcut mine --pool refuses options that do not fit together: %j', async (args, complaint) => {
    const { code, err } = await run(['mine', ...args, ...PLAIN])
    expect(err).toMatch(complaint)
    expect(code).toBe(2)
  })

  it('newcut mine --pool reports at once that there is no pool, with --fail-fast', async () => {
    const { code, err } = await run(['mine', '--pool', 'stratum+tcp://a:secret@127.0.0.1:9', '--fail-fast', ...PLAIN])
    expect(code).toBe(20)
    expect(err).toMatch(/pool stratum\+tcp:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/)
    expect(err).not.toContain('secret')
  })
})
