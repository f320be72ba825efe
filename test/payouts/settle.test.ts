/** The conditions under which a payout order is settled. */
import { describe, expect, it } from 'vitest'
import { NodeRefusal } from '../../src/client/node/errors.ts'
import { UnreachableError } from '../../src/client/node/unreachable.ts'
import type { CommandStep } from '../../src/client/wallet/command-sender.ts'
import { decodeBase64Url, encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { encodeWork, type Header } from '../../src/ground/chain/header.ts'
import { payloadHashes } from '../../src/ground/chain/payload.ts'
import type { PayloadData, PayloadWithOutputs } from '../../src/ground/schema/bodies.ts'
import type { Payout } from '../../src/pool/payouts/ledger.ts'
import type { ResultLine } from '../../src/pool/payouts/payout-line.ts'
import { lookOnce, type SettleNode, type SettleOptions, settlePayouts } from '../../src/pool/payouts/settle.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { blockOf } from './memory-shares.ts'

const KEY = blockOf('k')
/** The depth at which results are final. */
const CONFIRMATIONS = 3

const COMMAND = { hash: KEY, sigs: [], cmd: '{"meta":{"creationTime":900}}' }
const FAILURE = { callStack: [], type: 'TxFailure', message: 'Insufficient funds', info: '' }
const encoder = new TextEncoder()
const text64 = (json: unknown) => encodeBase64Url(encoder.encode(JSON.stringify(json)))

type Status = 'success' | 'failure'

const resultOf = (status: Status) =>
  status === 'success' ? { status: 'success', data: 'ok' } : { status: 'failure', error: FAILURE }

interface WordBlock {
  readonly header: Header
  readonly payload: PayloadWithOutputs
}

/** A node with one chain; `timeOf` gives the creation time of each block, and block n has height n. */
class WordNode {
  head = 10
  /** The branch; blocks of different branches have different hashes. */
  branch = 'a'
  /** Height of the block that has the command, or null. */
  includedAt: number | null = null
  status: Status = 'success'
  /** Whether it has lost its results. */
  forgets = false
  /** Changes payloads and headers on their way. */
  payloadsSent = (payloads: PayloadData[]): PayloadData[] => payloads
  headersSent = (headers: Header[]): Header[] => headers
  /** Answers a command that is sent. */
  onSend: () => void = () => undefined
  isAway = false
  readonly sent: string[] = []
  /** A result that no block has. */
  lie: { readonly status: Status; readonly height: number } | null = null
  /** Runs before a poll is answered. */
  onPoll: () => void = () => undefined
  /** Creation time of a block, in seconds since 1970. */
  timeOf = (height: number) => 1000 + height

  #made: { readonly key: string; readonly blocks: WordBlock[] } = { key: '', blocks: [] }

  /** The chain, from genesis to the head. */
  get #blocks(): WordBlock[] {
    const { head, branch, includedAt, status } = this
    const key = JSON.stringify([head, branch, includedAt, status, this.timeOf(head)])
    if (key !== this.#made.key) this.#made = { key, blocks: this.#make(status) }
    return this.#made.blocks
  }

  #make(status: Status): WordBlock[] {
    const blocks: WordBlock[] = []
    for (let height = 0; height <= this.head; height++) {
      const output = { reqKey: KEY, result: resultOf(status) }
      const transactions = height === this.includedAt ? [[text64(COMMAND), text64(output)] as [string, string]] : []
      const payload = payloadOf({ minerData: text64({ height }), coinbase: text64({ height }), transactions })
      const work = {
        featureFlags: 0n,
        creationTime: BigInt(this.timeOf(height)) * 1_000_000n,
        adjacents: new Map(),
        chainId: 0,
        parent: blocks.at(-1)?.header.hash ?? new Uint8Array(32),
        target: 1n,
        weight: 1n,
        version: 1,
        epochStart: 0n,
        payloadHash: decodeBase64Url(payload.payloadHash),
        height: BigInt(height),
        nonce: BigInt(this.branch.charCodeAt(0)),
      }
      blocks.push({ header: { ...work, hash: blockHash(encodeWork(work)) }, payload })
    }
    return blocks
  }

  #payloads(hashes: readonly string[]): PayloadWithOutputs[] {
    return this.#blocks.map(({ payload }) => payload).filter(({ payloadHash }) => hashes.includes(payloadHash))
  }

  readonly calls = {
    cut: async () => {
      if (this.isAway) throw new UnreachableError('refused', 'nobody answers')
      return { hashes: { 0: { height: this.head, hash: encodeBase64Url(this.#blocks[this.head].header.hash) } } }
    },
    hashBranch: (_chain: number, _bounds: unknown, { minheight }: { minheight: number }) => {
      return { page: async () => ({ items: [encodeBase64Url(this.#blocks[minheight].header.hash)] }) }
    },
    header: async (_: number, hash: string) => {
      return this.#blocks.find(({ header }) => encodeBase64Url(header.hash) === hash)?.header
    },
    headerBranch: (_: number, { upper }: { upper: string[] }) => {
      const headers = this.#blocks.map(({ header }) => header)
      const at = headers.findIndex(({ hash }) => encodeBase64Url(hash) === upper[0])
      return this.headersSent(headers.slice(0, at + 1).reverse())
    },
    payloads: async (_: number, { hashes }: { hashes: string[] }) => {
      const plain = this.#payloads(hashes).map(({ coinbase: _coinbase, transactions, ...rest }) => {
        return { ...rest, transactions: transactions.map(([transaction]) => transaction) }
      })
      return this.payloadsSent(plain)
    },
    payloadOutputs: async (_: number, hash: string) => this.#payloads([hash])[0],
    poll: async (_: number, keys: string[]) => {
      this.onPoll()
      const at = this.lie?.height ?? this.includedAt
      if (at === null || this.forgets) return new Map()
      const result = resultOf(this.lie?.status ?? this.status)
      return new Map(keys.map((key) => [key, { reqKey: key, result, metaData: { blockHeight: at } }]))
    },
    send: async (_: number, [command]: { cmd: string }[]) => {
      this.sent.push(command.cmd)
      this.onSend()
      return [KEY]
    },
  } as unknown as SettleNode
}

function payloadOf(parts: Pick<PayloadWithOutputs, 'minerData' | 'coinbase' | 'transactions'>): PayloadWithOutputs {
  const { transactionsHash, outputsHash, payloadHash } = payloadHashes({
    minerData: decodeBase64Url(parts.minerData),
    coinbase: decodeBase64Url(parts.coinbase),
    transactions: parts.transactions.map(([transaction, output]) => {
      return { transaction: decodeBase64Url(transaction), output: decodeBase64Url(output) }
    }),
  })
  const hashes = { transactionsHash, outputsHash, payloadHash }
  const texts = Object.entries(hashes).map(([name, hash]) => [name, encodeBase64Url(hash)])
  return { ...parts, ...(Object.fromEntries(texts) as Record<keyof typeof hashes, string>) }
}

const clock = new VirtualClock()
const NOW = Math.floor(clock.wallMs() / 1000)

/** @param expires in seconds since 1970 */
const orderUntil = (expires: number): Payout => ({
  at: '2026-01-01T00:00:00.000Z',
  type: 'order',
  network: 'development',
  account: 'k:pool',
  chain: 0,
  requestKey: KEY,
  expires,
  command: COMMAND,
  pays: [],
  result: null,
})

function setup() {
  const node = new WordNode()
  const results: ResultLine[] = []
  const told: CommandStep[] = []
  const options: SettleOptions = {
    node: node.calls,
    confirmations: CONFIRMATIONS,
    clock,
    signal: new AbortController().signal,
    onStep: (step) => told.push(step),
    onResult: (result) => results.push(result),
  }
  return { node, results, told, options }
}

it('a success is final once it is deep enough, and not before', async () => {
  const { node, results, options } = setup()
  node.includedAt = 9
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toHaveLength(1)
  expect(results).toEqual([])
  expect(node.sent).toEqual([])
  node.head = 11
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toEqual([])
  expect(results).toMatchObject([{ type: 'result', requestKey: KEY, outcome: 'paid', height: 9, message: '' }])
})

it('progress of settling counts the blocks on each payout, up to the required depth', async () => {
  const { node, options } = setup()
  const seen: number[] = []
  const onProgress: SettleOptions['onProgress'] = (progress) => {
    expect(progress?.total).toBe(CONFIRMATIONS)
    seen.push(progress?.done ?? -1)
  }
  node.includedAt = 10
  const settled = settlePayouts([orderUntil(NOW + 600)], { ...options, onProgress })
  await clock.pass(5000)
  expect(seen.at(-1)).toBe(1)
  node.head = 11
  await clock.pass(5000)
  expect(seen.at(-1)).toBe(2)
  // Another branch has replaced its block.
  Object.assign(node, { branch: 'b', includedAt: null })
  await clock.pass(5000)
  expect(seen.at(-1)).toBe(0)
  Object.assign(node, { head: 20, includedAt: 13 })
  await clock.pass(30_000)
  await settled
  expect(seen.at(-1)).toBe(CONFIRMATIONS)
})

it('a failure is final at the same depth, and has its reason', async () => {
  const { node, results, options } = setup()
  node.includedAt = 8
  node.status = 'failure'
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toEqual([])
  expect(results).toMatchObject([{ outcome: 'failed', height: 8, message: 'Insufficient funds' }])
})

it('a command without a block is sent again, byte for byte, while blocks may take it', async () => {
  const { node, options } = setup()
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toHaveLength(1)
  expect(node.sent).toEqual([COMMAND.cmd])
  expect(await lookOnce([orderUntil(NOW)], options)).toHaveLength(1)
  expect(node.sent).toEqual([COMMAND.cmd])
})

it.each([
  ['made before it expires', 1009, false],
  ['made when it expires', 1008, true],
  ['made later', 1007, true],
])('an order without a block has expired once a deep block is %s', async (_, expires, isOver) => {
  const { results, options } = setup()
  // The block at depth 3 has height 8, made at 1008; the head is made at 1010.
  const open = await lookOnce([orderUntil(expires)], options)
  expect(open).toHaveLength(isOver ? 0 : 1)
  expect(results.map(({ outcome, height }) => [outcome, height])).toEqual(isOver ? [['expired', null]] : [])
})

it('nothing has expired while the branch changes', async () => {
  const { node, results, options } = setup()
  node.onPoll = () => {
    node.branch = 'b'
  }
  expect(await lookOnce([orderUntil(1000)], options)).toHaveLength(1)
  expect(results).toEqual([])
})

it('an order in a shallow block has not expired, whatever the time', async () => {
  const { node, results, options } = setup()
  node.includedAt = 10
  expect(await lookOnce([orderUntil(1000)], options)).toHaveLength(1)
  expect(results).toEqual([])
})

describe('a node that has lost its results', () => {
  it.each(['success', 'failure'] as const)(
    'a node that has lost its results does not hide a %s in a block',
    async (status) => {
      const { node, results, options } = setup()
      Object.assign(node, { forgets: true, includedAt: 7, status })
      expect(await lookOnce([orderUntil(1008)], options)).toEqual([])
      const [outcome, message] = status === 'success' ? ['paid', ''] : ['failed', 'Insufficient funds']
      expect(results).toMatchObject([{ requestKey: KEY, outcome, height: 7, message }])
    },
  )

  it('a node that has lost its results does not hide a transaction in the last block that could include it, or in the deep block', async () => {
    const { node, results, options } = setup()
    Object.assign(node, { forgets: true, includedAt: 8 })
    // The parent of block 8 is made at 1007.
    await lookOnce([orderUntil(1008)], options)
    expect(results).toMatchObject([{ outcome: 'paid', height: 8 }])
  })

  it('a node that has lost its results does not hide a transaction in a block that is older by its clock', async () => {
    const { node, results, options } = setup()
    Object.assign(node, {
      forgets: true,
      includedAt: 7,
      timeOf: (height: number) => (height < 8 ? 1000 : 2000) + height,
    })
    // Nodes take a transaction whose creation time is up to 95 s after that of the parent.
    const command = { ...COMMAND, cmd: '{"meta":{"creationTime":1101}}' }
    await lookOnce([{ ...orderUntil(2000), command }], options)
    expect(results).toMatchObject([{ outcome: 'paid', height: 7 }])
  })

  const [ABSENT, OTHER] = ['no payload', 'the payload of another block']
  it.each([ABSENT, OTHER, 'a header that is not that of its hash', 'no headers of old blocks'])(
    'a node that gives %s settles nothing, and a line says so once',
    async (lie) => {
      const { node, results, told, options } = setup()
      Object.assign(node, { forgets: true, includedAt: 7 })
      if (lie === ABSENT) node.payloadsSent = (payloads) => payloads.slice(1)
      else if (lie === OTHER) node.payloadsSent = ([first, ...rest]) => [...rest, ...rest.slice(0, first ? 1 : 0)]
      else if (lie.startsWith('a header')) node.headersSent = ([first, ...rest]) => [first, { ...rest[0], nonce: 9n }]
      else node.headersSent = (headers) => headers.slice(0, 2)
      const order = orderUntil(1008)
      expect(await lookOnce([order], options)).toEqual([order])
      expect(results).toEqual([])
      const message = expect.stringMatching(`^whether a block of chain 0 has ${KEY} cannot be read: chain 0: the `)
      expect(told).toMatchObject([{ type: 'trouble', error: { code: 'NODE_MISBEHAVED', message } }])
    },
  )

  it('a node settles nothing as expired after it said that the transaction is in a block', async () => {
    const { node, results, told, options } = setup()
    node.onSend = () => {
      throw new NodeRefusal({ url: 'u', status: 400, isFromNode: true, excerpt: 'Transaction already exists on chain' })
    }
    const claimed = new Set<string>()
    expect(await lookOnce([orderUntil(NOW + 60)], { ...options, claimed })).toHaveLength(1)
    expect([...claimed]).toEqual([KEY])
    expect(await lookOnce([orderUntil(1008)], { ...options, claimed })).toHaveLength(1)
    expect(results).toEqual([])
    expect(told.at(-1)).toMatchObject({ type: 'trouble', error: { message: expect.stringContaining('none of its') } })
    // As soon as a deep block has it, it is settled, long before it expires.
    Object.assign(node, { forgets: true, includedAt: 8 })
    expect(await lookOnce([orderUntil(NOW + 60)], { ...options, claimed })).toEqual([])
    expect(results).toMatchObject([{ outcome: 'paid', height: 8 }])
  })
})

describe('a node that gives a wrong result', () => {
  it.each([
    ['failure', 'success', 'paid'],
    ['success', 'failure', 'failed'],
  ] as const)(
    'a node that gives a wrong result of %s does not hide the %s in a block',
    async (lie, status, outcome) => {
      const { node, results, options } = setup()
      Object.assign(node, { lie: { status: lie, height: 7 }, status, includedAt: 7 })
      expect(await lookOnce([orderUntil(NOW + 60)], options)).toEqual([])
      expect(results).toMatchObject([{ outcome, height: 7 }])
    },
  )

  it.each([5, 10])(
    'a node that gives a wrong result at height %s is not believed, as no block has it, also when the order has expired',
    async (height) => {
      const { node, results, told, options } = setup()
      node.lie = { status: 'failure', height }
      for (const expires of [NOW + 60, 1008]) expect(await lookOnce([orderUntil(expires)], options)).toHaveLength(1)
      expect(results).toEqual([])
      expect(told.at(-1)).toMatchObject({ type: 'trouble', error: { message: expect.stringContaining('none of its') } })
      // Nothing is sent again, and nothing is concluded, until the node takes its word back.
      expect(node.sent).toEqual([])
      node.lie = null
      expect(await lookOnce([orderUntil(1008)], options)).toEqual([])
      expect(results).toMatchObject([{ outcome: 'expired' }])
    },
  )
})

it('a chain that is lower than the depth proves nothing', async () => {
  const { node, results, options } = setup()
  node.head = 1
  expect(await lookOnce([orderUntil(0)], options)).toHaveLength(1)
  expect(results).toEqual([])
})

it('a payment is followed over an outage and the loss of its block, until it is settled', async () => {
  const { node, results, told, options } = setup()
  let isOver = false
  const settled = settlePayouts([orderUntil(NOW + 600)], options).then(() => {
    isOver = true
  })
  await clock.pass(2000)
  node.isAway = true
  await clock.pass(30_000)
  expect(told.at(-1)).toMatchObject({ type: 'trouble' })
  node.isAway = false
  node.includedAt = 10
  await clock.pass(30_000)
  expect(told.at(-1)).toMatchObject({ type: 'included', height: 10, depth: 1, of: 3 })
  // On another branch the node's mempool may have lost the command.
  node.includedAt = null
  const before = node.sent.length
  await clock.pass(2000)
  expect(told.find((step) => step.type === 'pending' && step.wasIncluded)).toBeDefined()
  expect(node.sent.length).toBe(before + 1)
  node.includedAt = 11
  node.head = 13
  await clock.pass(3000)
  await settled
  expect(isOver).toBe(true)
  expect(results.map(({ outcome }) => outcome)).toEqual(['paid'])
})

it('a payment is given up when the chain has no proof long after it has expired', async () => {
  const { node, options, results } = setup()
  node.timeOf = () => 1
  const given = settlePayouts([orderUntil(Math.floor(clock.wallMs() / 1000) + 10)], options).catch(
    (error: unknown) => error,
  )
  await clock.pass(700_000)
  expect(await Promise.race([given, 'it waits'])).toBe('it waits')
  await clock.pass(200_000)
  expect(await given).toMatchObject({ code: 'NO_RESULT', message: expect.stringContaining(KEY) })
  expect(results).toEqual([])
})
