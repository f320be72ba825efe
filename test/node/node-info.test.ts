/** /info of a node: the client accepts only plausible answers, and makes their texts printable. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeInfo, WrongAnswer } from '../../src/client/node/node-info.ts'
import { NodeClient, type NodeInfo } from '../../src/client/node/public.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { FakeNode, failureOf, json, pairInfo, startFakeNode, text } from './fake-node.ts'

type Adjacents = readonly (readonly number[])[]
const listOf = (adjacents: Adjacents) => adjacents.map((others, chain) => [chain, others])
const infoOf = (adjacents: Adjacents) => ({
  ...pairInfo,
  nodeChains: adjacents.map((_, chain) => String(chain)),
  nodeNumberOfChains: adjacents.length,
  nodeGraphHistory: [[0, listOf(adjacents)]],
})
const withHistory = (...nodeGraphHistory: unknown[]) => ({ ...pairInfo, nodeGraphHistory })
const pair = pairInfo.nodeGraphHistory[0][1]
/** Every chain is adjacent to every other. */
const complete = (chains: number) =>
  Array.from({ length: chains }, (_, chain) => [...Array(chains).keys()].filter((other) => other !== chain))
/** A ring of chains. */
const circle = (chains: number) =>
  Array.from({ length: chains }, (_, chain) => [(chain + chains - 1) % chains, (chain + 1) % chains])

const lies: readonly (readonly [string, unknown, RegExp])[] = [
  ['no graph', withHistory(), /nodeGraphHistory has 0 graphs, expected 1 to 64/],
  ['65 graphs', withHistory(...Array.from({ length: 65 }, (_, i) => [i, pair])), /has 65 graphs, expected 1 to 64/],
  ['two graphs from one height', withHistory([0, pair], [0, pair]), /two graphs from height 0, expected one/],
  ['a graph from a negative height', withHistory([-1, pair]), /from height -1, expected a whole number/],
  ['a graph without chains', withHistory([0, []]), /has 0 chains, expected 1 to 256/],
  ['257 chains', infoOf(circle(257)), /has 257 chains, expected 1 to 256/],
  ['10 adjacent chains', infoOf(complete(11)), /with 10 adjacent chains, expected at most 9/],
  ['a chain beyond the others', withHistory([0, [[5, []]]]), /does not have chain 0, expected chains 0 to 0/],
  [
    'a chain of a billion',
    withHistory([
      0,
      [
        [0, []],
        [1e9, []],
      ],
    ]),
    /does not have chain 1, expected chains 0 to 1/,
  ],
  [
    'a chain twice',
    withHistory([
      0,
      [
        [0, []],
        [0, []],
      ],
    ]),
    /does not have chain 1/,
  ],
  [
    'a negative chain',
    withHistory([
      0,
      [
        [0, [-1]],
        [-1, [0]],
      ],
    ]),
    /does not have chain 1/,
  ],
  [
    'different degrees',
    withHistory([
      0,
      [
        [0, [1]],
        [1, []],
      ],
    ]),
    /has 0 chains adjacent to chain 1, expected 1/,
  ],
  ['a chain adjacent to itself', withHistory([0, [[0, [0]]]]), /has chain 0 adjacent to chain 0, expected/],
  [
    'one adjacent chain twice',
    withHistory([
      0,
      [
        [0, [1, 1]],
        [1, [0, 0]],
      ],
    ]),
    /has chain 1 adjacent to chain 0/,
  ],
  [
    'an adjacent chain that is not there',
    withHistory([
      0,
      [
        [0, [7]],
        [1, [0]],
      ],
    ]),
    /has chain 7 adjacent to chain 0/,
  ],
  ['one-way adjacency', infoOf([[1], [2], [0]]), /has chain 1 adjacent to chain 0, expected .* each to the other/],
  ['more chains than its graph', { ...pairInfo, nodeChains: ['0', '2'] }, /nodeChains has "2", expected .* 0 to 1/],
  ['a chain named twice', { ...pairInfo, nodeChains: ['1', '1'] }, /nodeChains has "1", expected different chains/],
  ['a chain with leading zeros', { ...pairInfo, nodeChains: ['00', '1'] }, /nodeChains has "00"/],
  ['a chain of many digits', { ...pairInfo, nodeChains: ['0', '9'.repeat(1_000)] }, /nodeChains has "9{99}…"/],
  ['another number of chains', { ...pairInfo, nodeNumberOfChains: 3 }, /nodeNumberOfChains is 3, expected 2/],
  ['a delay of ten years', { ...pairInfo, nodeBlockDelay: 3e14 }, /nodeBlockDelay is 300000000000000, expected 1 to/],
  ['a name that commands a terminal', { ...pairInfo, nodeVersion: '\x1b[2Jdevelopment' }, /nodeVersion is "\[2Jdev/],
  ['a name with slashes', { ...pairInfo, nodeVersion: '../mainnet01' }, /nodeVersion is "..\/mainnet01", expected/],
  ['a name of kilobytes', { ...pairInfo, nodeVersion: 'x'.repeat(5_000) }, /nodeVersion is "x{99}…", expected/],
]

describe('an impossible description', () => {
  it.each(lies)(
    'the client refuses a node that reports %s, and the error says what is right',
    async (_name, info, message) => {
      const node = await FakeNode.start(info)
      const error = await failureOf(NodeClient.connect({ url: node.url }))
      expect(error).toMatchObject({
        name: 'NodeMisbehaved',
        operation: 'nodeInfo',
        message: expect.stringMatching(message),
        url: `${node.url}/info`,
      })
      expect(error.message).not.toMatch(/\p{C}/u)
      expect(error.message.length).toBeLessThanOrEqual(600)
    },
  )
})

it('judgeInfo accepts any description of the right shape, or refuses it with a sentence, never with another error', () => {
  const small = fc.integer({ min: -2, max: 12 })
  const graph = fc.array(fc.tuple(small, fc.array(small, { maxLength: 4 })), { maxLength: 6 })
  const anyGraph = fc.oneof(graph, fc.constantFrom(...Object.values(graphs).map(({ adjacents }) => listOf(adjacents))))
  const anyInfo = fc.record({
    nodeVersion: fc.oneof(fc.string({ minLength: 1 }), fc.constant('development')),
    nodeApiVersion: fc.string({ unit: 'binary' }),
    nodeChains: fc.array(fc.nat({ max: 25 }).map(String), { minLength: 1, maxLength: 25 }),
    nodeNumberOfChains: fc.integer({ min: 1, max: 25 }),
    nodeGraphHistory: fc.array(fc.tuple(fc.integer(), anyGraph), { maxLength: 4 }),
    nodeBlockDelay: fc.integer({ min: 1 }),
  }) as fc.Arbitrary<NodeInfo>
  fc.assert(
    fc.property(anyInfo, fc.boolean(), (info, isConsistent) => {
      const [chains] = info.nodeGraphHistory.map(([, list]) => list.length).sort((a, b) => b - a)
      const nodeChains = isConsistent ? [...Array(chains ?? 1).keys()].map(String) : info.nodeChains
      try {
        const judged = judgeInfo({ ...info, nodeChains, nodeNumberOfChains: nodeChains.length })
        expect(judged.graphHistory.length).toBeGreaterThan(0)
        for (const { graph } of judged.graphHistory) expect(graph.adjacents[0]).toHaveLength(graph.degree)
      } catch (error) {
        expect(error).toBeInstanceOf(WrongAnswer)
      }
    }),
  )
})

it.each([
  ['no chains', { ...pairInfo, nodeChains: [] }],
  ['chains that are not numbers', { ...pairInfo, nodeChains: ['zero', '1'] }],
  ['heights beyond 2^53', withHistory([2 ** 60, pair])],
  ['a delay of 0', { ...pairInfo, nodeBlockDelay: 0 }],
  ['adjacents that are not a list', withHistory([0, [[0, 'all']]])],
])('%s are not a description of a node', async (_name, info) => {
  const node = await FakeNode.start(info)
  expect(await failureOf(NodeClient.connect({ url: node.url }))).toMatchObject({
    name: 'NotRecognised',
    code: 'NODE_NOT_RECOGNISED',
    retryable: false,
    hint: expect.stringContaining(':1848'),
  })
})

it('the client accepts every known graph, and an unknown one', async () => {
  for (const graph of Object.values(graphs)) {
    const { client } = await startFakeNode(infoOf(graph.adjacents))
    expect(client.graphHistory).toEqual([{ from: 0, graph }])
  }
  for (const adjacents of [circle(256), complete(10)]) {
    const { client } = await startFakeNode(infoOf(adjacents))
    expect(client.graphHistory[0].graph).toMatchObject({ name: 'other', degree: adjacents[0].length })
  }
})

it('the client returns graphs by ascending height, whatever the order of the node', async () => {
  const { client } = await startFakeNode({
    ...infoOf(graphs.twenty.adjacents),
    nodeGraphHistory: [
      [852_054, listOf(graphs.twenty.adjacents)],
      [0, listOf(graphs.petersen.adjacents)],
    ],
  })
  expect(client.graphHistory).toEqual([
    { from: 0, graph: graphs.petersen },
    { from: 852_054, graph: graphs.twenty },
  ])
})

it('the client makes the texts of a node printable, and cuts them at 100 characters', async () => {
  const evil = `\x1b]0;owned\x07\u202Etxt\r\n${'x'.repeat(10_000)}`
  const info = { ...pairInfo, nodeApiVersion: evil, nodePackageVersion: evil, nodeServiceDate: evil }
  const { client } = await startFakeNode(info)
  for (const said of [client.info, await client.nodeInfo()]) {
    for (const value of [said.nodeApiVersion, said.nodePackageVersion, said.nodeServiceDate]) {
      expect(value).toMatch(/^\]0;owned txt x{86}…$/)
    }
  }
})

it('the client refuses a description that has become wrong since it connected', async () => {
  const { node, client } = await startFakeNode()
  node.on('GET', '/info', () => json(withHistory()))
  expect(await failureOf(client.nodeInfo())).toMatchObject({ name: 'NodeMisbehaved', operation: 'nodeInfo' })
})

describe('a wrong server in place of a node', () => {
  it.each([
    ['404', { status: 404 }],
    ['a redirection', { status: 302, headers: { location: 'http://login.example/' } }],
    ['500', text('oops', 500)],
    ['a page', { headers: { 'content-type': 'text/html' }, body: '<html>We are back soon.' }],
  ])('the client does not recognise a node that answers /info with %s', async (_name, reply) => {
    const node = await FakeNode.start()
    node.on('GET', '/info', () => ({ ...reply, isProxy: true }))
    expect(await failureOf(NodeClient.connect({ url: node.url }))).toMatchObject({
      code: 'NODE_NOT_RECOGNISED',
      retryable: true,
    })
    node.on('GET', '/info', () => reply)
    expect(await failureOf(NodeClient.connect({ url: node.url }))).toMatchObject({
      code: 'NODE_NOT_RECOGNISED',
      retryable: false,
    })
  })
})
