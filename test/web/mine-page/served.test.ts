/** Where the page is served, and where it is not. */

import { afterEach, describe, expect, it } from 'vitest'
import { isPageOn, type PageMode } from '../../../src/compose/mine-page.ts'
import { type MinerStart, runMiner } from '../../../src/compose/miner.ts'
import type { MinerSetup } from '../../../src/compose/setup.ts'
import { run, startHere, stopAll } from '../../cli/run.ts'
import { FakeNode, pairInfo } from '../../node/fake-node.ts'
import { paceSearch } from '../../pace.ts'

afterEach(stopAll)
paceSearch()

const PAGE_LINE = /^mine in a browser: (http:\/\/127\.0\.0\.1:\d+\/mine)$/m
const statusOf = async (url: string) => (await fetch(url)).status

describe('newcut devnet', () => {
  it('newcut devnet serves the mining page on its own port, and prints the address', async () => {
    const node = startHere(['devnet', '--port', '0'])
    const [, url] = await node.sees(PAGE_LINE)
    await node.sees(/^control it/m)
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toBe('text/html;charset=utf-8')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'self'; .*frame-ancestors 'none'$/)
    expect(await (await fetch(`${url}/about`)).json()).toMatchObject({ network: 'development', chains: 20 })
    expect(await node.stop()).toMatchObject({ code: 0, err: '' })
  })

  it('newcut devnet lets the mining page pay the first key that may mine', async () => {
    const key = 'ab'.repeat(32)
    const node = startHere(['devnet', '--port', '0', '--mining-public-key', key])
    const [, url] = await node.sees(PAGE_LINE)
    expect(await (await fetch(`${url}/about`)).json()).toMatchObject({ account: { account: `k:${key}` } })
  })

  it('newcut devnet does not serve the mining page with --mine-page off', async () => {
    const node = startHere(['devnet', '--port', '0', '--mine-page', 'off'])
    const [, url] = await node.sees(/^control it: (\S+)\/devnet\/status$/m)
    expect(await statusOf(`${url}/mine`)).toBe(404)
    expect(await statusOf(`${url}/mine/about`)).toBe(404)
    expect(node.out()).not.toMatch(PAGE_LINE)
  })
})

describe('newcut mine', () => {
  const quick = ['--difficulty', '1T', '--threads', '1', '--kernel', 'js', '--gpu', 'none', '--http', '127.0.0.1:0']

  it('newcut mine serves the mining page beside its metrics, and lists it', async () => {
    const miner = startHere(['mine', ...quick])
    const [, url] = await miner.sees(PAGE_LINE)
    expect(await statusOf(url)).toBe(200)
    const missing = await fetch(url.replace('/mine', '/nothing'))
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { endpoints: expect.arrayContaining(['/mine']) },
    ])
  })

  it('newcut mine does not serve the mining page with --mine-page off', async () => {
    const miner = startHere(['mine', ...quick, '--mine-page', 'off'])
    const [, url] = await miner.sees(/^metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics/m)
    expect(await statusOf(`${url}/mine`)).toBe(404)
    expect(miner.out()).not.toMatch(PAGE_LINE)
  })

  it('newcut mine refuses --mine-page if nothing is served', async () => {
    const { code, err } = await run(['mine', '--http', 'off', '--mine-page', 'on'])
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('--mine-page has no effect: with --http off'),
    })
  })

  it.each([
    ['auto', 'development', true],
    ['auto', 'recap-development', true],
    ['auto', 'mainnet01', false],
    ['auto', 'testnet04', false],
    ['on', 'mainnet01', true],
    ['off', 'development', false],
  ] as const)('newcut mine with %s on %s: %s', (mode, network, isOn) => {
    expect(isPageOn(mode, network)).toBe(isOn)
  })

  it.each([
    ['auto', 404, null],
    ['on', 200, '/mine'],
  ] as const)('newcut mine for a node of another network, with %s, answers %i', async (page, status, path) => {
    const node = await FakeNode.start({ ...pairInfo, nodeVersion: 'testnet04' })
    const stop = new AbortController()
    const started = await new Promise<MinerStart>((resolve, reject) => {
      const ports = { onEvent: () => undefined, onStart: resolve, stopped: stop.signal }
      runMiner(setupFor(node.url, page), ports).catch(reject)
    })
    const { api, pageUrl } = started
    expect(pageUrl).toBe(path && `${api?.url}${path}`)
    expect(await statusOf(`${api?.url}/mine`)).toBe(status)
    stop.abort()
  })
})

function setupFor(url: string, page: PageMode): MinerSetup {
  return {
    source: {
      ...{ kind: 'nodes', urls: [url], trust: { insecure: false }, failFast: true, page },
      payee: { account: null, predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] },
    },
    search: { kind: 'own', threads: 1, kernel: 'js', priority: 'normal', gpu: null },
    http: { host: '127.0.0.1', port: 0, isRequired: true },
    limits: {},
  }
}
