/** The conditions under which a payout order is settled. */
import { expect, it } from 'vitest'
import { UnreachableError } from '../../src/node/unreachable.ts'
import type { PayoutOrder } from '../../src/payouts/ledger.ts'
import type { ResultLine } from '../../src/payouts/payout-line.ts'
import { lookOnce, type OrderNode, type SettleOptions, settle } from '../../src/payouts/settle.ts'
import type { CommandStep } from '../../src/wallet/command-sender.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { blockOf } from './memory-shares.ts'

const KEY = blockOf('k')
/** The depth at which results are final. */
const CONFIRMATIONS = 3

/** A node with one chain; `timeOf` gives the creation time of each block, and block n has height n. */
class WordNode {
  head = 10
  /** The branch; it is part of the names of its blocks. */
  branch = 'a'
  /** Height of the block that has the command, or null. */
  includedAt: number | null = null
  status: 'success' | 'failure' = 'success'
  isAway = false
  readonly sent: string[] = []
  /** Runs before a poll is answered. */
  onPoll: () => void = () => undefined
  /** Creation time of a block, in seconds since 1970. */
  timeOf = (height: number) => 1000 + height

  readonly calls = {
    cut: async () => {
      if (this.isAway) throw new UnreachableError('refused', 'nobody answers')
      return { hashes: { 0: { height: this.head, hash: `${this.branch}${this.head}` } } }
    },
    hashBranch: (_: number, { upper }: { upper: string[] }, { minheight }: { minheight: number }) => {
      return { page: async () => ({ items: [`${upper[0][0]}${minheight}`] }) }
    },
    header: async (_: number, hash: string) => ({ creationTime: this.timeOf(Number(hash.slice(1))) * 1_000_000 }),
    poll: async (_: number, keys: string[], { confirmationDepth = 0 } = {}) => {
      this.onPoll()
      const at = this.includedAt
      if (at === null || this.head - at < confirmationDepth) return new Map()
      const error = { callStack: [], type: 'TxFailure', message: 'Insufficient funds', info: '' }
      const result = this.status === 'success' ? { status: 'success', data: 'ok' } : { status: 'failure', error }
      return new Map(keys.map((key) => [key, { reqKey: key, result, metaData: { blockHeight: at } }]))
    },
    send: async (_: number, [command]: { cmd: string }[]) => {
      this.sent.push(command.cmd)
      return [KEY]
    },
  } as unknown as OrderNode
}

const clock = new VirtualClock()
const NOW = Math.floor(clock.wallMs() / 1000)

/** @param expires in seconds since 1970 */
const orderUntil = (expires: number): PayoutOrder => ({
  ...{ at: '2026-01-01T00:00:00.000Z', type: 'order', network: 'development', account: 'k:pool', chain: 0 },
  ...{ requestKey: KEY, expires, command: { hash: KEY, sigs: [], cmd: 'the command' }, pays: [], result: null },
})

function setup() {
  const node = new WordNode()
  const results: ResultLine[] = []
  const told: CommandStep[] = []
  const options: SettleOptions = {
    ...{ node: node.calls, confirmations: CONFIRMATIONS, clock, signal: new AbortController().signal },
    onStep: (step) => told.push(step),
    onResult: (result) => results.push(result),
  }
  return { node, results, told, options }
}

it('a success is final once it is deep enough, and not before', async () => {
  const { node, results, options } = setup()
  node.includedAt = 9
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toHaveLength(1)
  expect([results, node.sent]).toEqual([[], []])
  node.head = 11
  expect(await lookOnce([orderUntil(NOW + 60)], options)).toEqual([])
  expect(results).toMatchObject([{ type: 'result', requestKey: KEY, outcome: 'paid', height: 9, message: '' }])
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
  expect(node.sent).toEqual(['the command'])
  expect(await lookOnce([orderUntil(NOW)], options)).toHaveLength(1)
  expect(node.sent).toEqual(['the command'])
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

it('a chain that is lower than the depth proves nothing', async () => {
  const { node, results, options } = setup()
  node.head = 1
  expect(await lookOnce([orderUntil(0)], options)).toHaveLength(1)
  expect(results).toEqual([])
})

it('follows an order over an outage and the loss of its block, until it is settled', async () => {
  const { node, results, told, options } = setup()
  let isOver = false
  const settled = settle([orderUntil(NOW + 600)], options).then(() => {
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
  expect([isOver, results.map(({ outcome }) => outcome)]).toEqual([true, ['paid']])
})

it('gives up when the chain has no proof long after the order has expired', async () => {
  const { node, options, results } = setup()
  node.timeOf = () => 1
  const given = settle([orderUntil(Math.floor(clock.wallMs() / 1000) + 10)], options).catch((error: unknown) => error)
  await clock.pass(700_000)
  expect(await Promise.race([given, 'it waits'])).toBe('it waits')
  await clock.pass(200_000)
  expect(await given).toMatchObject({ code: 'NO_RESULT', message: expect.stringContaining(KEY) })
  expect(results).toEqual([])
})
