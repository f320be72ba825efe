/** Waiting for results and proofs, on virtual time. */
import { describe, expect, it } from 'vitest'
import { NodeMisbehaved, NodeRefusal } from '../../src/client/node/errors.ts'
import { UnreachableError } from '../../src/client/node/unreachable.ts'
import { type WaitNode, type WaitProgress, waitForProof, waitForResult } from '../../src/client/node/wait-for.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import type { CommandResult } from '../../src/ground/schema/command-bodies.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

const KEY = 'K'.repeat(43)
const HASH = 'H'.repeat(43)
const place = { chain: 2, requestKey: KEY }

/** A result in the block of this height, or without a block if null. */
function resultAt(blockHeight: number | null): CommandResult {
  const metaData = blockHeight === null ? null : { blockHeight, blockTime: 0, blockHash: HASH, prevBlockHash: HASH }
  return { gas: 1, result: { status: 'success', data: true }, reqKey: KEY, metaData }
}

/**
 * The state of the node at one request: the height of the command's block (null if none) and of the head, or an error.
 */
type Moment = readonly [block: number | null, head: number] | Error

/** A node that goes through these moments, one per request, and stays at the last. */
function nodeOf(moments: readonly Moment[]) {
  let asked = -1
  let times: number[] = []
  const clock = new VirtualClock()
  const startMs = clock.monotonicMs()
  const now = () => {
    const moment = moments[Math.min(asked, moments.length - 1)]
    if (moment instanceof Error) throw moment
    return moment
  }
  const node: WaitNode = {
    poll: async (_chain, [key], { confirmationDepth = 0 }) => {
      if (confirmationDepth === 0) {
        asked++
        times = [...times, clock.monotonicMs() - startMs]
      }
      const [block, head] = now()
      const isDeep = block !== null && head - block >= confirmationDepth
      return new Map(isDeep ? [[key, resultAt(block)]] : [])
    },
    cut: async () => ({ hashes: { 2: { height: now()[1] } } }),
    spv: async () => {
      asked++
      const [block] = now()
      if (block === null)
        throw refusal('SPV target not reachable: target chain not reachable. Chainweb instance is too young')
      return 'proof'
    },
  }
  return { node, clock, times: () => times, countPolls: () => asked + 1 }
}

/** The outcome after an hour. */
async function later<T>(clock: VirtualClock, waiting: Promise<T>): Promise<T> {
  await clock.pass(3_600_000)
  return waiting
}

const details = { url: 'http://node/x', excerpt: '', operation: 'poll' }
const refusal = (excerpt: string) => new NodeRefusal({ ...details, status: 400, excerpt, isFromNode: true })
const away = new UnreachableError('refused', 'http://node: connection refused')
const proxy = new NodeRefusal({ ...details, status: 404, isFromNode: false })
const page = new NodeMisbehaved('http://node answered with a page', { ...details, isFromNode: false })

async function wait(
  { node, clock }: ReturnType<typeof nodeOf>,
  options: Parameters<typeof waitForResult>[2] = {},
): Promise<{ readonly outcome: CommandResult | Error; readonly progress: WaitProgress[] }> {
  const progress: WaitProgress[] = []
  const all = { ...options, onProgress: (each: WaitProgress) => void progress.push(each) }
  const waiting = waitForResult(node, place, all, { clock, random: () => 0.5 }).catch((error: Error) => error)
  return { outcome: await later(clock, waiting), progress }
}

describe('waiting for a result', () => {
  it('waitForResult polls until the command is in a block, and reports every change once', async () => {
    const node = nodeOf([
      [null, 5],
      [null, 6],
      [7, 7],
    ])
    const { outcome, progress } = await wait(node)
    expect(outcome).toEqual(resultAt(7))
    expect(progress).toEqual([
      { type: 'pending', wasIncluded: false },
      { type: 'included', height: 7, depth: 0, of: 0 },
    ])
    expect(node.times()).toEqual([0, 50, 150])
  })

  it('waitForResult counts the blocks on top of the command', async () => {
    const { outcome, progress } = await wait(
      nodeOf([
        [7, 7],
        [7, 8],
        [7, 8],
        [7, 10],
      ]),
      { depth: 2 },
    )
    expect(outcome).toEqual(resultAt(7))
    expect(progress).toEqual([0, 1, 2].map((depth) => ({ type: 'included', height: 7, depth, of: 2 })))
  })

  it('waitForResult reports that another branch took the block away, and continues', async () => {
    const { outcome, progress } = await wait(
      nodeOf([
        [7, 7],
        [null, 8],
        [9, 9],
        [9, 12],
      ]),
      { depth: 3 },
    )
    expect(outcome).toEqual(resultAt(9))
    expect(progress.map((each) => (each.type === 'included' ? each.height : each))).toEqual([
      7,
      { type: 'pending', wasIncluded: true },
      9,
      9,
    ])
  })

  it('waitForResult returns a result without a block at once: the node has dropped the command', async () => {
    const { node, clock } = nodeOf([[0, 0]])
    const dropped = { ...node, poll: async () => new Map([[KEY, resultAt(null)]]) }
    expect(await waitForResult(dropped, place, { depth: 3 }, { clock, random: () => 0 })).toEqual(resultAt(null))
  })

  it.each([
    ['no answer', away],
    ["a proxy's answer", proxy],
    ["a proxy's page", page],
  ])('waitForResult survives %s, and backs off', async (_name, error) => {
    const node = nodeOf([error, error, error, error, error, error, [3, 3]])
    const { outcome, progress } = await wait(node)
    expect(outcome).toEqual(resultAt(3))
    expect(progress).toEqual([
      { type: 'trouble', error, retryInMs: 1000 },
      { type: 'included', height: 3, depth: 0, of: 0 },
    ])
    expect(node.times()).toEqual([0, 1000, 3000, 7000, 15_000, 30_000, 45_000])
  })

  it.each([
    ['what the node itself refuses', refusal('Request Key has incorrect hash')],
    ['a wrong body of the node itself', new NodeMisbehaved('wrong', { ...details, isFromNode: true })],
    ['any other error', new TypeError('x')],
  ])('waitForResult ends with %s', async (_name, error) => {
    expect((await wait(nodeOf([error]))).outcome).toBe(error)
  })

  it('waitForResult ends after its limit', async () => {
    const node = nodeOf([[null, 1]])
    const { outcome } = await wait(node, { limitMs: 10_500 })
    expect(outcome).toBeInstanceOf(NewcutError)
    expect(outcome).toMatchObject({ code: 'NO_RESULT', message: `no result of ${KEY} on chain 2 after 10.5 s` })
    // At 0, 50, 150, 350, 750 and 1,550 ms, then each second.
    expect(node.countPolls()).toBe(15)
    expect(node.times().at(-1)).toBe(10_500)
  })

  it('waitForResult restarts its limit for every new block', async () => {
    const blocks = Array.from({ length: 40 }, (_, i) => [1, 1 + Math.floor(i / 8)] as const)
    expect((await wait(nodeOf(blocks), { depth: 4, limitMs: 9000 })).outcome).toEqual(resultAt(1))
    expect((await wait(nodeOf(blocks), { depth: 4, limitMs: 6000 })).outcome).toMatchObject({ code: 'NO_RESULT' })
  })

  it('waitForResult ends with the reason of its signal, also between two polls', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const node = nodeOf([[null, 1]])
    node.clock.after(2500, () => controller.abort(reason))
    const { outcome } = await wait(node, { signal: controller.signal })
    expect(outcome).toEqual(reason)
    expect(node.countPolls()).toBe(6)
  })

  it('waitForResult spreads its polls over time', async () => {
    const { node, clock, times } = nodeOf([
      [null, 1],
      [null, 1],
      [null, 1],
      [1, 1],
    ])
    const chances = [0, 1, 0.25]
    const waiting = waitForResult(node, place, { pollMs: 400 }, { clock, random: () => chances.shift() ?? 0 })
    await later(clock, waiting)
    expect(times()).toEqual([0, 200, 800, 1100])
  })
})

describe('waiting for a proof', () => {
  const proofOf = async (moments: readonly Moment[]) => {
    const { node, clock } = nodeOf(moments)
    const waiting = waitForProof(node, { ...place, targetChain: 3 }, { limitMs: 5000 }, { clock, random: () => 0.5 })
    return later(
      clock,
      waiting.catch((error: Error) => error),
    )
  }

  it('waitForProof polls until the target chain knows the block', async () => {
    expect(await proofOf([[null, 0], away, [null, 0], [1, 1]])).toBe('proof')
  })

  it('waitForProof ends with the error if the node refuses for another reason', async () => {
    const error = refusal('Transaction hash not found: "x"')
    expect(await proofOf([error])).toBe(error)
  })

  it('waitForProof ends after its limit', async () => {
    const message = `no proof of ${KEY} on chain 2 for chain 3 after 5 s`
    expect(await proofOf([[null, 0]])).toMatchObject({ code: 'NO_RESULT', message })
  })
})
