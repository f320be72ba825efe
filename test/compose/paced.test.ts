/** A miner that paces its blocks at a node without proof of work, over HTTP. */
import { expect, it, onTestFinished } from 'vitest'
import { type Devnet, type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { type MinerStart, runMiner } from '../../src/compose/miner.ts'
import type { NodesSetup } from '../../src/compose/setup.ts'
import { connectNodeSource } from '../../src/compose/source/nodes.ts'
import type { BlockPace } from '../../src/ground/schema/devnet-modes.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { FakeNode, pairInfo } from '../node/fake-node.ts'
import { until } from '../wait.ts'

/** Far more hashes than a test can do. */
const HARD = 1n << 60n
const ON_DEMAND: BlockPace = { kind: 'on-demand' }

function sourceAt(url: string, pace: BlockPace, changes: Partial<NodesSetup> = {}): NodesSetup {
  const payee = { account: null, predicate: 'keys-all', publicKeys: null }
  return { kind: 'nodes', urls: [url], trust: { insecure: false }, failFast: true, payee, pace, ...changes }
}

interface Paced {
  readonly devnet: Devnet
  readonly url: string
  readonly miner: MinerStart['miner']
  readonly events: readonly MinerEvent[]
  readonly ended: Promise<Snapshot>
  readonly order: (body: string, headers?: Record<string, string>) => Promise<readonly [number, unknown]>
  /** Chain -> height. */
  readonly heights: () => Promise<Record<string, number>>
}

interface PacedOptions {
  readonly node?: DevnetOptions
  readonly source?: Partial<NodesSetup>
  readonly token?: string
  readonly blocks?: number
}

/** Starts a node and a miner, which end with the test. */
async function startPaced(pace: BlockPace, { node = {}, source, token, blocks }: PacedOptions = {}): Promise<Paced> {
  const devnet = await startDevnet({ port: 0, graph: 'petersen', pow: false, difficulty: 1n, ...node })
  onTestFinished(() => devnet.close())
  const stop = new AbortController()
  const events: MinerEvent[] = []
  let ended: Promise<Snapshot> = Promise.reject(new Error('it has not started'))
  ended.catch(() => undefined)
  const { api, miner } = await new Promise<MinerStart>((resolve, reject) => {
    ended = runMiner(
      {
        source: sourceAt(devnet.url, pace, source),
        search: { kind: 'own', threads: 1, kernel: 'js', priority: 'normal', gpu: null },
        http: { host: '127.0.0.1', port: 0, isRequired: true, token },
        limits: { blocks },
      },
      { onEvent: (event) => void events.push(event), onStart: resolve, stopped: stop.signal },
    )
    ended.catch(reject)
  })
  onTestFinished(async () => {
    stop.abort()
    await ended.catch(() => undefined)
  })
  const url = api?.url ?? ''
  return {
    devnet,
    url,
    miner,
    events,
    ended,
    order: async (body, headers = {}) => {
      const answer = await fetch(`${url}/make-blocks`, { method: 'POST', body, headers })
      return [answer.status, await answer.json()]
    },
    heights: async () => {
      const { hashes } = (await (await fetch(`${devnet.url}/chainweb/0.0/development/cut`)).json()) as {
        readonly hashes: Record<string, { readonly height: number }>
      }
      return Object.fromEntries(Object.entries(hashes).map(([chain, { height }]) => [chain, height]))
    },
  }
}

const sum = (heights: Record<string, number>) => Object.values(heights).reduce((total, height) => total + height, 0)

it.each([
  ['easy', 1n],
  ['impossible', HARD],
])(
  'a miner with a constant pace makes blocks at a node without proof of work whose target is %s',
  async (_, difficulty) => {
    const { ended, events } = await startPaced(
      { kind: 'constant', blockTimeMs: 10 },
      { node: { difficulty }, blocks: 25 },
    )
    expect((await ended).solutions).toMatchObject({ accepted: 25, rejected: 0 })
    expect(events.filter(({ type }) => type === 'idle' || type === 'trouble')).toEqual([])
  },
)

it('a miner on demand makes nothing until it is ordered, and says that it waits', async () => {
  const { url, heights, order, miner } = await startPaced(ON_DEMAND)
  await until(() => miner.snapshot().connected)
  expect(miner.snapshot()).toMatchObject({ work: null, waitReason: 'for POST /make-blocks' })
  const health = await fetch(`${url}/healthz`)
  expect(health.status).toBe(200)
  expect(await health.json()).toEqual({ status: 'waits for POST /make-blocks', connected: true })
  expect(sum(await heights())).toBe(0)
  expect(await order('{"3":1}')).toEqual([
    200,
    {
      made: { 3: 1 },
      blocks: { 3: [{ height: 1, hash: expect.stringMatching(/^[\w-]{43}$/) }] },
      heights: expect.objectContaining({ 3: 1 }),
    },
  ])
  expect(sum(await heights())).toBe(1)
  expect(miner.snapshot().solutions).toMatchObject({ accepted: 1 })
})

it('a miner on demand makes only the requested blocks and the blocks of other chains that they wait for', async () => {
  const { heights, order } = await startPaced(ON_DEMAND)
  const [status, answer] = await order('{"0":3}')
  expect(status).toBe(200)
  const now = await heights()
  // Three neighbours reach height 2, and the six chains that wait for them height 1.
  expect(Object.values(now).sort()).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 3])
  expect(answer).toMatchObject({
    made: Object.fromEntries(Object.entries(now).map(([chain, height]) => [chain, height])),
  })
})

it('a miner on demand makes blocks at one of several nodes', async () => {
  const devnet = await startDevnet({ port: 0, graph: 'pair', pow: false, difficulty: 1n })
  onTestFinished(() => devnet.close())
  // Two addresses of one node.
  const urls = [devnet.url, devnet.url.replace('127.0.0.1', 'localhost')] as const
  const { order } = await startPaced(ON_DEMAND, { source: { urls } })
  expect(await order('{"0":2,"1":1}')).toMatchObject([200, { made: { 0: 2, 1: 1 }, heights: { 0: 2, 1: 1 } }])
})

it('a miner on demand handles mining requests one after the other', async () => {
  const { heights, order } = await startPaced(ON_DEMAND, { node: { graph: 'singleton' } })
  const answers = await Promise.all([order('{"0":2}'), order('{"0":1}'), order('{"0":0}')])
  expect(answers.map(([status, body]) => [status, body])).toMatchObject([
    [200, { made: { 0: 2 } }],
    [200, { made: { 0: 1 } }],
    [200, { made: {} }],
  ])
  expect(await heights()).toEqual({ 0: 3 })
})

it.each([
  [
    'text',
    'one block',
    400,
    'the body does not name blocks: it is not a JSON object (for example {"0":1} for a block of chain 0)',
  ],
  ['no chain', '{}', 400, expect.stringContaining('the body does not name blocks: ')],
  ['half a block', '{"0":0.5}', 400, expect.stringContaining('/0 must be integer')],
  ['a chain that is not there', '{"10":1}', 400, 'there is no chain 10 (chains are 0 to 9)'],
])('a miner on demand refuses an order of %s', async (_, body, status, error) => {
  const { order } = await startPaced(ON_DEMAND)
  expect(await order(body)).toEqual([status, { error }])
})

it('a miner on demand refuses orders of other pages, and of clients without its token', async () => {
  const { order } = await startPaced(ON_DEMAND, { token: 'a-secret-of-tests' })
  const error = 'blocks are for programs, not for pages of http://evil.example'
  expect(await order('{"0":1}', { origin: 'http://evil.example' })).toEqual([403, { error }])
  expect(await order('{"0":1}')).toMatchObject([401, {}])
  expect(await order('{"0":1}', { authorization: 'Bearer a-secret-of-tests' })).toMatchObject([200, { made: { 0: 1 } }])
})

it('a miner on demand refuses mining requests while it is paused', async () => {
  const { order, miner } = await startPaced(ON_DEMAND)
  miner.pause()
  expect(await order('{"0":1}')).toEqual([
    409,
    { error: 'the miner is paused, so it makes no blocks (resume it first)' },
  ])
  miner.resume()
  expect(await order('{"0":1}')).toMatchObject([200, { made: { 0: 1 } }])
})

it('a miner on demand refuses an order that needs a block of a chain that --chains leaves out', async () => {
  const { order, heights } = await startPaced(ON_DEMAND, { source: { chains: [0, 1] } })
  expect(await order('{"0":1,"1":1}')).toMatchObject([200, { made: { 0: 1, 1: 1 } }])
  const error =
    'chain 2 has to grow, and `chains` leaves it out (chains that hold up others grow too: add it to `chains`)'
  expect(await order('{"0":1}')).toEqual([409, { error }])
  expect(sum(await heights())).toBe(2)
})

it('a miner with a constant pace makes blocks of the chosen chains only', async () => {
  const { ended, heights } = await startPaced(
    { kind: 'constant', blockTimeMs: 10 },
    { source: { chains: [4, 6] }, blocks: 2 },
  )
  await ended
  const now = await heights()
  expect(now[4] + now[6]).toBe(2)
  expect(sum(now)).toBe(2)
})

it('a miner with a pace refuses a node that checks proof of work of many hashes', async () => {
  // The node searches this block itself: more than a million hashes.
  const devnet = await startDevnet({ port: 0, graph: 'singleton', difficulty: 1_050_000n })
  onTestFinished(() => devnet.close())
  await devnet.mine({ 0: 1 })
  await expect(reached(devnet.url, ON_DEMAND)).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: '`pace`: development checks proof of work, and a block takes 1050000 hashes',
    hint: expect.stringContaining('without proof of work'),
  })
})

const reached = (url: string, pace: BlockPace) =>
  connectNodeSource(
    sourceAt(url, pace, { payee: { account: null, predicate: 'keys-all', publicKeys: ['ab'.repeat(32)] } }),
    () => undefined,
    new AbortController().signal,
  )

it.each([
  ['mainnet01', 'a public network', 'leave out `pace`'],
  ['testnet06', 'a public network', 'leave out `pace`'],
  ['evm-testnet', 'a public network', 'leave out `pace`'],
  [
    'my-net',
    'a network that newcut does not know',
    'if it is yours, describe it with `network-file: FILE` and public: false',
  ],
])('a miner with a pace refuses %s', async (nodeVersion, what, hint) => {
  const node = await FakeNode.start({ ...pairInfo, nodeVersion })
  await expect(reached(node.url, ON_DEMAND)).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: `\`pace\`: ${nodeVersion} is ${what}, and pacing is for development networks`,
    hint,
  })
})
