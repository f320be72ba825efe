/**
 * Clients and miners accept /info in every form that nodes have used from release 2.20, in a future form, and with
 * optional parts missing or wrong. They require the network's name, chains and graphs.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NodeClient } from '../../src/client/node/public.ts'
import { LyingProxy } from '../attack/proxy.ts'
import { altersJson } from '../attack/responders.ts'
import { run } from '../cli/run.ts'
import { type Devnet, startDevnet } from '../devnet/whole-node.ts'
import { rotating } from '../rotation.ts'
import { failureOf } from './fake-node.ts'

type Info = Readonly<Record<string, unknown>>
type Change = (info: Info) => Info

const without =
  (...names: readonly string[]): Change =>
  (info) =>
    Object.fromEntries(Object.entries(info).filter(([name]) => !names.includes(name)))
const withParts =
  (parts: Info): Change =>
  (info) => ({ ...info, ...parts })
const combine =
  (...changes: readonly Change[]): Change =>
  (info) =>
    changes.reduce((value, change) => change(value), info)

const SINCE_2_24 = ['nodePackageVersion', 'nodeGenesisHeights', 'nodeHistoricalChains', 'nodeBlockDelay']
const OPTIONAL = [...SINCE_2_24, 'nodeApiVersion', 'nodeNumberOfChains', 'nodeLatestBehaviorHeight', 'nodeServiceDate']
const withService = withParts({ nodeServiceDate: '2026-01-07T00:00:00Z' })

const forms: readonly (readonly [string, Change])[] = [
  [
    'of 2.20 to 2.24',
    combine(without(...SINCE_2_24, 'nodeServiceDate'), withParts({ nodeLatestBehaviorHeight: 4_819_247 })),
  ],
  ['of 2.24.1', combine(withService, withParts({ nodePackageVersion: '2.24.1' }))],
  ['of 2.25 to 3.0.1', combine(withService, withParts({ nodePackageVersion: '3.0.1', nodeServiceDate: null }))],
  ['of 2.32, 3.1 and 3.2', combine(without('nodeServiceDate'), withParts({ nodePackageVersion: '3.2' }))],
  ['of a next release, by fork number', withParts({ nodeLatestBehaviorHeight: { forkNumber: 1 }, nodeForkNumber: 1 })],
  ['of a next release, by height', withParts({ nodeLatestBehaviorHeight: { blockHeight: 701 } })],
  ['of a next release, from genesis on', withParts({ nodeLatestBehaviorHeight: 'genesis' })],
  ['of a next release, for no change', withParts({ nodeLatestBehaviorHeight: 'never' })],
  ['with what is needed alone', without(...OPTIONAL)],
  ['with keys that nobody knows', withParts({ nodeMood: { good: [true, null] } })],
  ['with null for all that is not needed', withParts(Object.fromEntries(OPTIONAL.map((name) => [name, null])))],
  [
    'with another type for what is not needed',
    withParts({ nodeApiVersion: 1, nodePackageVersion: [3], nodeServiceDate: 7 }),
  ],
  ['with a behavior height in words', withParts({ nodeLatestBehaviorHeight: 'soon', nodeForkNumber: '1' })],
  ['with genesis heights that are none', withParts({ nodeGenesisHeights: 0, nodeHistoricalChains: 'twenty' })],
]

const refused: readonly (readonly [string, Change, RegExp])[] = [
  ['the network', without('nodeVersion'), /nodeVersion/],
  ['the chains', withParts({ nodeChains: null }), /nodeChains/],
  ['the graphs', withParts({ nodeGraphHistory: 'petersen' }), /nodeGraphHistory/],
]

let devnet: Devnet
let proxy: LyingProxy

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'pair', difficulty: 50n })
  proxy = await LyingProxy.start(devnet.url)
})

afterAll(async () => {
  await proxy.close()
  await devnet.close()
})

/** Sets the /info of the node that the proxy leads to. */
function describedBy(change: Change): void {
  const tell = altersJson<Info>(change)
  proxy.begin((exchange) => (exchange.endpoint === 'info' ? tell(exchange) : null))
}

const KEY = 'ab'.repeat(32)
const mining = ['--threads', '1', '--gpu', 'none', '--http', 'off', '--state', 'off', '--public-key', KEY]

it.each(forms)('a client accepts a description %s, and keeps known and unknown fields', async (_, change) => {
  describedBy(change)
  const client = await NodeClient.connect({ url: proxy.url })
  try {
    expect(client.info).toMatchObject({ nodeVersion: 'development', nodeChains: ['0', '1'] })
    const { nodeBlockDelay, nodeMood } = client.info as typeof client.info & Info
    expect(client.blockDelayMs).toBe((nodeBlockDelay ?? 30_000_000) / 1000)
    expect(nodeMood).toEqual(change({}).nodeMood)
    expect(await client.headers(0, { verify: { checkTargets: false } }).all()).not.toEqual([])
  } finally {
    await client.close()
  }
})

it.each(rotating(forms, 4))('a description %s is enough to mine and to look at an account', async (_, change) => {
  describedBy(change)
  const { code, out, err } = await run(['mine', '--node', proxy.url, '--blocks', '1', ...mining])
  expect(code).toBe(0)
  expect(err).toBe('')
  expect(out).toMatch(
    /^network: development, 2 chains, (block delay 30 s|unknown block delay, assumed to be 30 s,) at /m,
  )
  expect((await run(['balance', `k:${KEY}`, '--node', proxy.url])).code).toBe(0)
})

it.each(refused)('a description without %s is refused, and the error names it', async (_, change, message) => {
  describedBy(change)
  expect(await failureOf(NodeClient.connect({ url: proxy.url }))).toMatchObject({
    message: expect.stringMatching(message),
  })
})

it('a block delay of 30,000 years is refused, not waited for', async () => {
  describedBy(withParts({ nodeBlockDelay: 1e21 }))
  expect(await failureOf(NodeClient.connect({ url: proxy.url }))).toMatchObject({
    message: expect.stringMatching(/nodeBlockDelay is .*, expected 1 to \d+ microseconds/),
  })
})
