/** `newcut rigs` and `newcut fleet` for the rigs of a relay: real processes, over a real NATS server. */
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import type { WorkerTable } from '../../src/mining/accounts/rig-rows.ts'
import { run, start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { natsUrl } from './nats.ts'

afterEach(stopAll)

const KEY = 'ab'.repeat(32)
const http = ['--http', '127.0.0.1:0']

describeWith(lackOf('nats-server'), 'the rigs of a relay', () => {
  it('the rigs of a relay are listed there; the fleet lists the relay; leader and other rigs name the relay to ask', async () => {
    const nats = await natsUrl()
    const devnet = await startDevnet({ port: 0, difficulty: 1_000_000n, blockDelayMs: 2000 })
    onTestFinished(() => devnet.close())
    const leader = start(['lead', '--nats', nats, '--node', devnet.url, ...http, '--state', 'off'])
    await leader.sees(/this process is the leader/)
    const own = ['--threads', '0', '--gpu', 'none', '--state', 'off', '--stratum-listen', '127.0.0.1:0', ...http]
    const relay = start(['mine', '--fleet', nats, '--rig', 'hall-2', ...own])
    const [, port] = await relay.sees(/stratum\+tcp:\/\/127\.0\.0\.1:(\d+)/)
    const [, url] = await relay.sees(/dashboard: (http:\/\/\S+)\//)
    // Its headers arrive some seconds later.
    const list = async () => (await run(['fleet', '--nats', nats])).out
    await expect.poll(list).toMatch(/^hall-2 .* relay of 0 rigs, 0 H\/s$/m)
    const pool = ['--pool', `stratum+tcp://k:${KEY}.shelf@127.0.0.1:${port}`, '--threads', '1', '--gpu', 'none']
    start(['mine', ...pool, '--http', 'off'])
    const table = async () => JSON.parse((await run(['rigs', url, '--json'])).out) as WorkerTable
    await expect.poll(async () => (await table()).rigs.at(0)?.accepted).toBeGreaterThan(0)
    expect((await table()).rigs).toMatchObject([{ user: `k:${KEY}`, worker: 'shelf', connections: 1, refused: {} }])
    expect((await run(['rigs', url])).out).toMatch(/^1 worker, 1 connected; /m)
    await expect.poll(list).toMatch(/^hall-2 .* relay of 1 rig/m)

    const [, leaderUrl] = await leader.sees(/dashboard: (http:\/\/\S+)\//)
    const asked = await run(['rigs', leaderUrl])
    expect(asked.code).toBe(21)
    expect(asked.err).toMatch(
      /this is the leader of a fleet, and its relays let rigs in \(newcut fleet lists .*\[NODE_REFUSED\]/,
    )
    const plain = start(['mine', '--fleet', nats, '--rig', 'plain', '--threads', '1', '--gpu', 'none', ...http])
    const [, plainUrl] = await plain.sees(/dashboard: (http:\/\/\S+)\//)
    const none = await run(['rigs', plainUrl])
    expect(none.err).toMatch(/this miner lets no rigs in \(.*--stratum-listen HOST:PORT\) \[NODE_REFUSED\]/)
  })
})
