/** A source that lets blocks through at a pace, on virtual time. */
import { expect, it, onTestFinished } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { encodeWork } from '../../src/ground/chain/header.ts'
import type { FollowUp, Receipt } from '../../src/ground/chain/solution.ts'
import { MAX_TARGET, targetOfDifficulty } from '../../src/ground/chain/target.ts'
import { workFromBytes } from '../../src/ground/chain/work.ts'
import { Mailbox } from '../../src/mining/source/mailbox.ts'
import { constantPacer } from '../../src/mining/source/paced/constant.ts'
import { nextChain, OnDemandPacer } from '../../src/mining/source/paced/on-demand.ts'
import { PacedSource, type Pacer } from '../../src/mining/source/paced/paced-source.ts'
import type { ChainChoice, Job, Solution, Source, SourceEvents } from '../../src/mining/source/source.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { jobOf, solutionOf } from './job.ts'
import { madeWork } from './simulated-node.ts'

const silent: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }

/** A source that gives the jobs of the test, and answers all solutions as the test says. */
class GivenSource implements Source, ChainChoice {
  readonly waitReason = null
  readonly description = 'given'
  readonly workBytes = 286
  readonly connected = true
  readonly box = new Mailbox<Job | null>()
  readonly chosen: (readonly number[] | undefined)[] = []
  receipt: Receipt = { step: 'acknowledged' }
  /** Fates of the next solutions; the later ones are confirmed. */
  readonly fates: FollowUp[] = []
  forkVote = () => null
  validatorTime = () => null
  upstreams = () => []
  chains = () => []
  setChains = (chains: readonly number[] | undefined) => void this.chosen.push(chains)
  jobs = (signal: AbortSignal) => this.box.until(signal, () => this.box.close())
  submit = async () => this.receipt
  async *follow() {
    yield this.fates.shift() ?? ({ step: 'confirmed', depth: 1 } as const)
  }
}

/** A job on this chain, whose block takes this many hashes. */
function jobWith(chain: number, height: number, difficulty = 1n): Job {
  const { fields } = madeWork(chain, height - 1)
  return jobOf(workFromBytes(encodeWork({ ...fields, target: targetOfDifficulty(difficulty) })))
}

/** Runs a paced source. It solves each job at once if `solves`, and the node then gives another one. */
function running(
  pacer: Pacer,
  { solves = true, chains }: { readonly solves?: boolean; readonly chains?: number[] } = {},
) {
  const inner = new GivenSource()
  const source = new PacedSource({ source: inner, pacer, network: 'development', chains })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const jobs: (Job | null)[] = []
  const given: number[] = []
  let height = 1
  const give = () => inner.box.put(jobWith(inner.chosen.at(-1)?.[0] ?? 0, height++))
  const solve = async (solution: Solution) => {
    given.push(solution.job.work.fields.chainId)
    const { step } = await source.submit(solution)
    give()
    if (step === 'acknowledged') for await (const _ of source.follow(solution, stop.signal));
  }
  const ended = (async () => {
    for await (const job of source.jobs(stop.signal, silent)) {
      jobs.push(job)
      if (job !== null && solves) void solve(solutionOf(job))
    }
  })()
  ended.catch(() => undefined)
  return { inner, source, stop, jobs, given, give, solve, ended }
}

/** A pacer that leaves the blocks to the test. */
const byHand: Pacer = { run: () => undefined, waitReason: 'for the test' }

it('a paced source gives a job while a block is wanted, until its solution', async () => {
  const { inner, source, stop, jobs, solve } = running(byHand, { solves: false })
  const job = jobWith(0, 1)
  inner.box.put(job)
  await settle()
  expect(jobs).toEqual([null])
  expect(source.waitReason).toBe('for the test')
  const block = source.nextBlock(stop.signal)
  await settle()
  expect(jobs).toEqual([null, job])
  expect(source.waitReason).toBe(null)
  void solve(solutionOf(job))
  expect(await block).toMatchObject({ chain: 0, height: 1, hash: expect.stringMatching(/^[\w-]{43}$/) })
  expect(await (await block).isMade).toBe(true)
  await settle()
  expect(jobs).toEqual([null, job, null])
  expect(source.waitReason).toBe('for the test')
})

it('a paced source gives no job twice, even if no other follows', async () => {
  const { inner, source, stop, jobs } = running(byHand, { solves: false })
  const job = jobWith(0, 1)
  inner.box.put(job)
  const first = source.nextBlock(stop.signal)
  await settle()
  void source.submit(solutionOf(job))
  await first
  source.nextBlock(stop.signal).catch(() => undefined)
  await settle()
  expect(jobs.filter((each) => each !== null)).toEqual([job])
})

it('solutions of earlier runs use up no turn', async () => {
  const { inner, source, stop, jobs } = running(byHand, { solves: false })
  source.nextBlock(stop.signal).catch(() => undefined)
  await source.submit(solutionOf(jobWith(0, 1)))
  expect(source.waitReason).toBe(null)
  const job = jobWith(1, 1)
  inner.box.put(job)
  await settle()
  expect(jobs.at(-1)).toBe(job)
})

it('chains that the user chooses during a mining request take effect after it', () => {
  const { inner, source } = running(byHand, { chains: [0] })
  source.steer([3])
  source.setChains([1, 2])
  expect(inner.chosen).toEqual([[3]])
  source.steer(null)
  source.setChains(undefined)
  expect(inner.chosen).toEqual([[3], [1, 2], undefined])
})

it.each([
  ['a search', 1n << 20n, false],
  ['any nonce', (1n << 20n) + 1n, true],
])('a block gets %s if it takes %s hashes', async (_, difficulty, isAny) => {
  const { inner, source, stop, jobs } = running(byHand, { solves: false })
  const job = jobWith(0, 1, difficulty)
  inner.box.put(job)
  source.nextBlock(stop.signal).catch(() => undefined)
  await settle()
  expect(jobs.at(-1)?.target === MAX_TARGET).toBe(isAny)
  expect(jobs.at(-1)?.work).toBe(job.work)
})

it('a paced source ends if the node wants the proof of work of a block with any nonce', async () => {
  const { inner, source, stop, ended, solve, jobs } = running(byHand, { solves: false })
  inner.receipt = { step: 'rejected', reason: 'invalid-pow', message: 'Invalid POW hash' }
  inner.box.put(jobWith(0, 1, 1n << 40n))
  const block = source.nextBlock(stop.signal)
  await settle()
  void solve(solutionOf(jobs.at(-1)))
  await expect(ended).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: `\`pace\`: development checks proof of work, and a block takes ${1n << 40n} hashes`,
  })
  expect(await (await block).isMade).toBe(false)
})

it('a paced source goes on after the rejection of a block that was searched', async () => {
  const { inner, source, stop, solve, jobs, ended } = running(byHand, { solves: false })
  inner.receipt = { step: 'rejected', reason: 'invalid-pow', message: 'Invalid POW hash' }
  inner.box.put(jobWith(0, 1))
  const block = source.nextBlock(stop.signal)
  await settle()
  await solve(solutionOf(jobs.at(-1)))
  expect(await (await block).isMade).toBe(false)
  stop.abort()
  await ended
})

it('a constant pace makes a block of each chain in each interval', async () => {
  const clock = new VirtualClock()
  const { give, given } = running(constantPacer(clock, 1000, [0, 1, 2, 3]))
  give()
  await clock.pass(10_000)
  // One at the start, and one each 250 ms.
  expect(given).toHaveLength(41)
})

it('a constant pace counts the chosen chains only', async () => {
  const clock = new VirtualClock()
  const { give, given } = running(constantPacer(clock, 1000, [0, 1, 2, 3]), { chains: [1, 2] })
  give()
  await clock.pass(10_000)
  expect(given).toHaveLength(21)
})

it('a constant pace makes up for a second without work, and no more', async () => {
  const clock = new VirtualClock()
  const { give, given } = running(constantPacer(clock, 500, [0]))
  await clock.pass(10_000)
  expect(given).toEqual([])
  give()
  await clock.pass(0)
  // The one that waited, and those of the last second.
  expect(given).toHaveLength(3)
  await clock.pass(1000)
  expect(given).toHaveLength(5)
})

/** An on-demand pacer of a network of ten chains, whose node knows the blocks that were submitted. */
function onDemand() {
  const clock = new VirtualClock()
  const heights = new Map(Array.from({ length: 10 }, (_, chain) => [chain, 0]))
  const failures: NewcutError[] = []
  const pacer = new OnDemandPacer({
    clock,
    heights: async () => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return heights
    },
    graphHistory: [{ from: 0, graph: graphs.petersen }],
  })
  const paced = running(pacer)
  paced.inner.setChains = (chains) => {
    paced.inner.chosen.push(chains)
    if (chains !== undefined) paced.give()
  }
  return { clock, heights, failures, pacer, ...paced }
}

const never = new AbortController().signal

it('an order is repeated for a block that did not stay', async () => {
  const { pacer, inner, given } = onDemand()
  inner.fates.push({ step: 'orphaned' }, { step: 'stale' }, { step: 'unconfirmed', message: '' })
  expect(await pacer.make(new Map([[0, 1]]), never)).toMatchObject([{ chain: 0 }])
  expect(given).toEqual([0, 0, 0, 0])
})

it('an order waits for a node that does not answer', async () => {
  const { clock, pacer, failures } = onDemand()
  failures.push(new NewcutError('NODE_UNREACHABLE', 'gone'), new NewcutError('NODE_UNREACHABLE', 'gone'))
  const order = pacer.make(new Map([[0, 1]]), never)
  await clock.pass(2000)
  expect(await order).toMatchObject([{ chain: 0 }])
})

it('an order follows the chains while it waits for work', async () => {
  const { clock, heights, pacer, inner } = onDemand()
  const give = inner.setChains
  inner.setChains = (chains) => void inner.chosen.push(chains)
  const order = pacer.make(new Map([[0, 1]]), never)
  await settle()
  expect(inner.chosen).toEqual([[0]])
  // Another miner has made a block of chain 0, so that it waits for its neighbours.
  heights.set(0, 1)
  await clock.pass(1000)
  expect(inner.chosen).toEqual([[0], [2]])
  inner.setChains = give
  for (const chain of graphs.petersen.adjacents[0]) heights.set(chain, 1)
  await clock.pass(1000)
  expect((await order).at(-1)).toMatchObject({ chain: 0 })
})

it('an order ends with its client, and the next one follows', async () => {
  const { pacer, inner } = onDemand()
  const give = inner.setChains
  inner.setChains = () => undefined
  const gone = new AbortController()
  const first = pacer.make(new Map([[0, 1]]), gone.signal)
  await settle()
  inner.setChains = give
  gone.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  expect(await pacer.make(new Map([[1, 1]]), never)).toMatchObject([{ chain: 1 }])
})

it('an order ends with the miner', async () => {
  const { pacer, inner, stop } = onDemand()
  inner.setChains = () => undefined
  const order = pacer.make(new Map([[0, 1]]), never)
  await settle()
  stop.abort()
  await expect(order).rejects.toMatchObject({ code: 'NODE_UNREACHABLE', message: 'the miner stops' })
})

it.each([
  ['the lowest ordered chain', [4, 7], { 4: 1 }, 7],
  ['the neighbour that holds it up', [0], { 0: 1 }, graphs.petersen.adjacents[0][0]],
  ['the end of a row of chains that hold up each other', [0], { 0: 2, 2: 1, 3: 1, 5: 1 }, 4],
])('the next block is of %s', (_, ordered, raised, chain) => {
  const heights = new Map(Array.from({ length: 10 }, (_height, each) => [each, 0]))
  for (const [each, height] of Object.entries(raised)) heights.set(Number(each), height)
  const left = new Map(ordered.map((each) => [each, 1]))
  expect(nextChain(left, heights, [{ from: 0, graph: graphs.petersen }])).toBe(chain)
})
