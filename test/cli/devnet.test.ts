import { afterEach, describe, expect, it } from 'vitest'
import { autoMineMode } from '../../src/faces/cli/block-modes.ts'
import { Peer } from '../devnet/request.ts'
import { paceSearch } from '../pace.ts'
import { run, startHere, stopAll } from './run.ts'

afterEach(stopAll)
paceSearch()

const URL_LINE = / at (http:\/\/127\.0\.0\.1:\d+)\n/
const BLOCK_LINE = /block {5}chain \d+ +height \d+/

function devnet(...args: string[]) {
  return startHere(['devnet', '--port', '0', ...args])
}

describe('newcut devnet --mine', () => {
  it('newcut devnet --mine mines its own network with proof of work, and prints events of miner and node', async () => {
    const node = devnet('--mine', '--threads', '1', '--kernel', 'js', '--difficulty', '200', '--graph', 'pair')
    const [, url] = await node.sees(URL_LINE)
    expect(node.out()).toMatch(/difficulty 200 at/)
    await node.sees(/^mine: this process mines$/m)
    await node.sees(/^paid: k:[0-9a-f]{64}, the built-in key of development networks/m)
    await node.sees(/ready {5}cpu: js/)
    await node.sees(/accepted {2}chain \d/)
    await node.sees(BLOCK_LINE)
    const cut = (await (await fetch(`${url}/chainweb/0.0/development/cut`)).json()) as { height: number }
    expect(cut.height).toBeGreaterThan(0)
    const { code, out, err } = await node.stop()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/summary {3}\d+ accepted( {2}\d+ unconfirmed)?( {2}\d+ stale)?\n/)
  })

  it('newcut devnet --mine mines for the only key that may mine', async () => {
    const key = 'ab'.repeat(32)
    const node = devnet('--mine', '--threads', '1', '--kernel', 'js', '--difficulty', '10', '--mining-public-key', key)
    const [, url] = await node.sees(URL_LINE)
    await node.sees(new RegExp(`^paid: k:${key} \\(keys-all\\)$`, 'm'))
    await node.sees(/accepted {2}chain \d/)
    // Any other account is refused.
    const body = JSON.stringify({ account: 'k:other', predicate: 'keys-all', 'public-keys': ['other'] })
    const headers = { 'content-type': 'application/json' }
    const peer = new Peer(url)
    expect((await peer.request('GET', '/chainweb/0.0/development/mining/work', { headers, body })).status).toBe(403)
    peer.close()
  })
})

describe('newcut devnet --auto-mine', () => {
  it.each([
    ['constant:50ms', /^auto-mine: a block on every chain each 50 ms$/m],
    ['simulated:1MH/s', /^auto-mine: blocks as 1\.00 MH\/s would find them$/m],
  ])('newcut devnet --auto-mine %s makes blocks without proof of work', async (mode, line) => {
    const node = devnet('--auto-mine', mode, '--graph', 'petersen', '--difficulty', '1k')
    await node.sees(line)
    await node.sees(BLOCK_LINE)
    expect(node.out()).toContain('10 chains, block delay 30 s, no proof of work at http')
    expect(await node.stop()).toMatchObject({ code: 0, err: '' })
  })

  it('newcut devnet --auto-mine on-demand makes blocks by POST /make-blocks, and prints them', async () => {
    const node = devnet('--auto-mine', 'on-demand')
    const [, url] = await node.sees(URL_LINE)
    await node.sees(/^auto-mine: blocks by POST \/make-blocks$/m)
    const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"3":1}' }
    const answer = await fetch(`${url}/make-blocks`, order)
    expect([answer.status, await answer.json()]).toMatchObject([200, { made: { 3: 1 } }])
    await node.sees(/block {5}chain 3 {2}height 1/)
    expect(node.out().match(new RegExp(BLOCK_LINE, 'g'))).toHaveLength(1)
  })

  it.each([
    ['on-demand', { kind: 'on-demand' }],
    ['constant:2s', { kind: 'constant', blockTimeMs: 2000 }],
    ['constant:1.5m', { kind: 'constant', blockTimeMs: 90_000 }],
    ['simulated:100MH/s', { kind: 'simulated', hashesPerSecond: 1e8 }],
    ['simulated:2.5 kH/s', { kind: 'simulated', hashesPerSecond: 2500 }],
    ['simulated:7H/s', { kind: 'simulated', hashesPerSecond: 7 }],
    ['simulated:5000EH/s', { kind: 'simulated', hashesPerSecond: 5e21 }],
  ] as const)('newcut devnet --auto-mine reads %s, and formats it so that it reads back the same', (text, value) => {
    expect(autoMineMode.parse(text)).toEqual(value)
    expect(autoMineMode.parse(autoMineMode.format(value))).toEqual(value)
  })

  it.each([
    'on',
    'constant',
    'constant:',
    'constant:2',
    'constant:0s',
    'constant:-1s',
    'simulated:100',
    'simulated:0MH/s',
    'simulated:0.5H/s',
    'simulated:MH/s',
    'simulated:1e3H/s',
    'simulated:100mh/s',
    'random:2s',
    '',
    7,
    null,
  ])('newcut devnet --auto-mine refuses %j as a mode', (raw) => {
    expect(autoMineMode.parse(raw)).toBeUndefined()
  })
})

describe('newcut devnet refuses modes that exclude each other', () => {
  it.each([
    [['--mine', '--no-pow'], /--mine needs proof of work, which --no-pow turns off \(--auto-mine/],
    [['--mine', '--auto-mine', 'on-demand'], /--mine and --auto-mine exclude each other/],
    [
      ['--auto-mine', 'constant:2'],
      /--auto-mine constant:2: expected on-arrival or on-arrival:BLOCKS \(0 to 100\), on-demand, constant:TIME such as constant:2s/,
    ],
    [['--threads', '2'], /--threads has no effect: it is for --mine \(add --mine\)/],
    [['--mine', '--threads', '0'], /--threads 0: nothing would search/],
  ])('newcut devnet refuses modes that exclude each other: %j', async (args, pattern) => {
    const { code, out, err } = await run(['devnet', '--port', '0', ...args])
    expect(err).toMatch(pattern)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(err).toContain('[BAD_OPTION]')
    expect(code).toBe(2)
    if (!args.includes('0')) expect(out).toBe('')
  })
})
