/**
 * The whole miner against the embedded node at 0, 20 and 100 ms round trip. Measures the share of useful hashing, of
 * all hashing and of the possible maximum. First the miner's chain advances every 1.5 s, with other chains in between.
 * Then blocks come at the rate of a live network of 20 chains with 30 s a block, each on a random minable chain. The
 * node accepts any nonce, so the benchmark can extend chains at will, and the miner's target is unreachable. Finally
 * the miner finds blocks, which measures the time from a candidate to the write of its solution to the socket.
 */
import { channel } from 'node:diagnostics_channel'
import { availableParallelism } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setEnvironmentData } from 'node:worker_threads'
import { NodeClient } from '../src/client/node/client.ts'
import { FREE_NONCE } from '../src/ground/chain/nonce.ts'
import type { MinerAccount } from '../src/ground/chain/payload.ts'
import type { LifeStep } from '../src/ground/chain/solution.ts'
import { type Work, workFromBytes } from '../src/ground/chain/work.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { CpuEngine, type CpuEngineOptions } from '../src/mining/engine/cpu/cpu.ts'
import type { Candidate, EngineEvents, EngineWork } from '../src/mining/engine/engine.ts'
import { nonceRanges } from '../src/mining/engine/range.ts'
import { Miner } from '../src/mining/mine/miner.ts'
import { miningNodeOf } from '../src/mining/source/node/mining-node.ts'
import { NodeSource } from '../src/mining/source/node/node-source.ts'
import type { Job } from '../src/mining/source/source.ts'
import { percentile, type Row } from './report.ts'
import { SearchUse } from './search-use.ts'
import { type BlockMessage, startServer } from './server.ts'
import { sharedMs } from './shared-clock.ts'
import { SLICES, SliceLog } from './slices.ts'
import { type Effort, MAX_WAIT_MS, pause } from './suite.ts'
import { UNREACHABLE } from './work.ts'

const SUITE = 'pipeline'

interface Size {
  readonly latenciesMs: readonly number[]
  readonly cutEveryMs: number
  readonly submissions: number
  /** Submitted solutions: many in quick succession, then a few. */
  readonly solutions: { readonly many: number; readonly few: number }
}
const FULL: Size = {
  latenciesMs: [0, 20, 100],
  cutEveryMs: 1500,
  submissions: 5,
  solutions: { many: 1_500, few: 600 },
}
const QUICK: Size = { latenciesMs: [20], cutEveryMs: 300, submissions: 1, solutions: { many: 3, few: 3 } }

/** Number of early solutions that are also reported separately. */
const FIRST = 200
/** Polling interval of the slice rings, short enough that they never overflow. */
const TAKE_SLICES_MS = 250
/** Search threads that record their slices. */
const MODULE = new URL('./slices-thread.js', import.meta.url)
/** A difficulty with some blocks per second, far fewer than the node can take. */
const EASY = 4_000_000n
/** Yields a fifth of the blocks. */
const LESS_EASY = 5n * EASY
const account: MinerAccount = { account: 'k:bench', predicate: 'keys-all', publicKeys: [] }
const other: MinerAccount = { ...account, account: 'k:other' }

export async function pipeline({ rounds, isQuick }: Effort): Promise<Row[]> {
  const rows: Row[] = []
  const size = isQuick ? QUICK : FULL
  const counts = isQuick ? { cuts: 1, blocks: 1 } : { cuts: rounds, blocks: 2 * rounds }
  for (const latencyMs of size.latenciesMs) rows.push(...(await atLatency(latencyMs, { ...size, ...counts })))
  return [...rows, ...(await solutionsOnTheWire(size.solutions))]
}

/** Measures `cuts` of the miner's own chain, then `blocks` on random chains. */
async function atLatency(latencyMs: number, size: Size & { cuts: number; blocks: number }): Promise<Row[]> {
  const bed = await startTestBed(latencyMs)
  try {
    const row = (name: string, unit: Row['unit'], samples: number[]): Row => {
      return { suite: SUITE, name: `${name}, ${latencyMs} ms away`, unit, samples }
    }
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const own = await measure(bed, () => ownCuts(bed, size))
    delay.disable()
    const any = await measure(bed, () => randomCuts(bed, size))
    const submitMs = await measureSubmissions(bed, size.submissions)
    return [
      row('useful hashes', '%', [own.usefulOfAll]),
      row('useful of the possible', '%', [own.usefulOfPossible]),
      // With a single cut, its news may precede the measurement.
      ...(own.lostMs.length > 0 ? [row('new cut to new work', 'ms', own.lostMs)] : []),
      row('live pace: useful hashes', '%', [any.usefulOfAll]),
      row('live pace: useful of the possible', '%', [any.usefulOfPossible]),
      row('submit and confirm', 'ms', submitMs),
      row('event loop delay p99', 'ms', [delay.percentile(99) / 1e6]),
      row('memory', 'MiB', [process.memoryUsage().rss / 2 ** 20]),
    ]
  } finally {
    await bed.stop()
  }
}

interface TestBed {
  /** Client without latency; the miner's own client has the measured latency. */
  readonly near: NodeClient
  readonly far: NodeClient
  readonly source: NodeSource
  readonly use: SearchUse
  /** Reads all slices that the threads have recorded. */
  readonly collectSlices: () => void
  readonly stop: () => Promise<void>
}

interface BedOptions {
  readonly difficulty?: bigint
  /** Called with each candidate, before the miner sees it. */
  readonly onCandidate?: (candidate: Candidate) => void
  /** Whether the node yields CPU time to the miner, like a node on another machine. */
  readonly givesWay?: boolean | undefined
}

async function startTestBed(latencyMs: number, bedOptions: BedOptions = {}): Promise<TestBed> {
  const { difficulty = UNREACHABLE, onCandidate = () => undefined, givesWay } = bedOptions
  // A byte takes half of the round trip.
  const use = new SearchUse(latencyMs / 2)
  const onBlock = ({ chain, height, atMs }: BlockMessage) => use.cut(chain, height, atMs)
  const server = await startServer({ difficulty }, { latencyMs, onBlock, givesWay })
  const near = await NodeClient.connect({ url: server.url })
  const far = await NodeClient.connect({ url: server.farUrl })
  const node = miningNodeOf({ client: far, account, clock: systemClock, stallMs: 0 })
  const source = new NodeSource({ node, clock: systemClock, random: Math.random })
  const ranges = nonceRanges(availableParallelism(), Math.random)
  const log = new SliceLog(ranges.length)
  setEnvironmentData(SLICES, log.buffer)
  const look = () => use.addSlices(log.take())
  const looks = setInterval(look, TAKE_SLICES_MS)
  const engine = new WatchedEngine(
    { ranges, kernel: 'auto', priority: 'low', clock: systemClock, module: MODULE },
    use,
    onCandidate,
  )
  const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent: () => undefined })
  const stopping = new AbortController()
  const ended = miner.run(stopping.signal)
  while (use.chain === null || !source.connected) await pause(5)
  // Wait until there is stand-by work too.
  await pause(6 * latencyMs + 200)
  const stop = async () => {
    stopping.abort()
    const { hashes } = await ended
    clearInterval(looks)
    await Promise.all([near.close(), far.close()])
    await server.stop()
    if (hashes === 0) throw new Error('pipeline: nothing was hashed')
  }
  return { near, far, source, use, collectSlices: look, stop }
}

/** Reports its work, and candidates on arrival. */
class WatchedEngine extends CpuEngine {
  readonly #use: SearchUse
  readonly #onCandidate: (candidate: Candidate) => void

  constructor(options: CpuEngineOptions, use: SearchUse, onCandidate: (candidate: Candidate) => void) {
    super(options)
    this.#use = use
    this.#onCandidate = onCandidate
  }

  override setWork(work: EngineWork): Promise<boolean> {
    const taken = super.setWork(work)
    if (work.bytes === null) return taken
    const { chainId, height } = workFromBytes(work.bytes).fields
    this.#use.give(work.sequence, chainId, Number(height))
    return taken
  }

  override start(workBytes: number, events: EngineEvents): Promise<void> {
    const onCandidate = (candidate: Candidate) => {
      this.#onCandidate(candidate)
      events.onCandidate(candidate)
    }
    return super.start(workBytes, { ...events, onCandidate })
  }
}

/** Measures the usefulness of the hashing during `run`. */
async function measure({ use, collectSlices: look }: TestBed, run: () => Promise<void>) {
  use.start(sharedMs())
  const startMs = performance.now()
  await run()
  for (;;) {
    const endMs = sharedMs()
    // Running slices are recorded at their end.
    await pause(TAKE_SLICES_MS)
    look()
    // On a busy machine, low-priority threads wait.
    if (use.hasHashed(endMs) || performance.now() - startMs > MAX_WAIT_MS) return use.end(endMs)
  }
}

/** Extends the miner's chain repeatedly. Hashing is lost from then until new work is searched. */
async function ownCuts({ near, use }: TestBed, { cutEveryMs, cuts }: Size & { cuts: number }): Promise<void> {
  const startMs = performance.now()
  let made = 0
  for (let cut = 0; cut < cuts; cut++) {
    await pause(Math.max(0, startMs + cut * cutEveryMs - performance.now()))
    const { chain } = use
    const { work } = await near.work(other, chain ?? 0)
    // The chain is blocked until its neighbours advance.
    if (work.fields.chainId !== chain) continue
    await near.solved(work.bytes)
    made++
    // Extend other chains too: otherwise all would wait for the miner's chain, and stand-by work would be missing.
    await pause(cutEveryMs / 2)
    for (let others = 0; others < 2; others++) {
      const beside = await near.work(other)
      if (beside.work.fields.chainId !== use.chain) await near.solved(beside.work.bytes)
    }
  }
  await pause(Math.max(0, startMs + cuts * cutEveryMs - performance.now()))
  if (made === 0) throw new Error('pipeline: no cut was measured')
}

/** Extends minable chains at exponentially distributed intervals, as on a live network. The node picks the chain. */
async function randomCuts({ near }: TestBed, { cutEveryMs, blocks }: Size & { blocks: number }): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await pause(-Math.log(1 - Math.random()) * cutEveryMs)
    await near.solved((await near.work(other)).work.bytes)
  }
  await pause(cutEveryMs / 2)
}

/** Message of undici's diagnostics channels before and after a request is written. */
interface RequestMessage {
  readonly request: { readonly path: string }
}

/**
 * Time of solutions to the wire: first many in quick succession, while V8 compiles, then some after idle periods, as on
 * a live network.
 */
async function solutionsOnTheWire({ many, few }: Size['solutions']): Promise<Row[]> {
  const first = await measureWrites(EASY, many)
  const later = await measureWrites(LESS_EASY, few)
  const rowsOf = (name: string, samples: number[]): Row[] => [
    { suite: SUITE, name, unit: 'ms', samples },
    { suite: SUITE, name: `${name} p99`, unit: 'ms', samples: [percentile(samples, 0.99)] },
  ]
  return [
    ...rowsOf(`candidate to the write, first ${FIRST}`, first.givenMs.slice(0, FIRST)),
    ...rowsOf('candidate to the write', later.givenMs),
    ...rowsOf('candidate to socket', later.wireMs),
  ]
}

/**
 * Time from a candidate to the start and to the end of the system call that writes its solution. The engine continues
 * to search.
 */
async function measureWrites(difficulty: bigint, solutions: number) {
  const givenMs: number[] = []
  const wireMs: number[] = []
  let foundAtMs: number | null = null
  let newest = 0
  const [given, sent] = [channel('undici:client:sendHeaders'), channel('undici:request:bodySent')]
  const isSolution = (message: unknown) => (message as RequestMessage).request.path.endsWith('/mining/solved')
  const onGiven = (message: unknown) => {
    if (foundAtMs !== null && isSolution(message)) givenMs.push(performance.now() - foundAtMs)
  }
  const onSent = (message: unknown) => {
    if (foundAtMs === null || !isSolution(message)) return
    wireMs.push(performance.now() - foundAtMs)
    foundAtMs = null
  }
  const onCandidate = ({ sequence }: Candidate) => {
    // A second candidate for the same work is not submitted.
    if (sequence <= newest) return
    newest = sequence
    foundAtMs = performance.now()
  }
  const bed = await startTestBed(0, { difficulty, onCandidate, givesWay: true })
  try {
    given.subscribe(onGiven)
    sent.subscribe(onSent)
    for (let last = 0, waited = 0; wireMs.length < solutions && waited < 2 * MAX_WAIT_MS; waited += 50) {
      if (wireMs.length > last) waited = 0
      last = wireMs.length
      await pause(50)
    }
  } finally {
    given.unsubscribe(onGiven)
    sent.unsubscribe(onSent)
    await bed.stop()
  }
  if (wireMs.length < solutions) throw new Error(`pipeline: ${wireMs.length} of ${solutions} solutions were submitted`)
  return { givenMs, wireMs }
}

async function measureSubmissions({ far, source }: TestBed, submissions: number): Promise<number[]> {
  const submitMs: number[] = []
  for (let i = 0; i < submissions; i++) {
    const { work } = await far.work(account)
    const sentAtMs = performance.now()
    const { step } = await submit(source, work)
    if (step !== 'confirmed') throw new Error(`pipeline: a submission was ${step}`)
    submitMs.push(performance.now() - sentAtMs)
  }
  return submitMs
}

/** Submits work, which is a valid solution without proof of work. Resolves with the last step of its life. */
async function submit(source: NodeSource, work: Work): Promise<LifeStep> {
  const fixed = { issuer: source.description, fixedNonce: FREE_NONCE, manySolutions: false }
  const { target } = work.fields
  const job: Job = { id: 'bench', work, target, reason: 'start', noticedAtMs: 0, ...fixed }
  const solution = { job, bytes: work.bytes }
  let last: LifeStep = await source.submit(solution)
  if (last.step !== 'acknowledged') return last
  for await (const step of source.follow(solution, new AbortController().signal)) last = step
  return last
}
