/**
 * The whole miner against the embedded node: the share of its hashing that is useful while its chain moves on every
 * 1.5 s, with the node 0, 20 and 100 ms away. The node accepts any nonce, so the benchmark can extend chains at will. The
 * miner searches for a target that it never meets.
 */

import { availableParallelism } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startDevnet } from '../src/compose/devnet.ts'
import { FREE_NONCE } from '../src/core/nonce.ts'
import type { MinerAccount } from '../src/core/payload.ts'
import type { Work } from '../src/core/work.ts'
import { CpuEngine } from '../src/engine/cpu/cpu.ts'
import { nonceRanges } from '../src/engine/range.ts'
import type { MinerEvent } from '../src/mine/events.ts'
import { Miner } from '../src/mine/miner.ts'
import { NodeClient } from '../src/node/client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { miningNodeOf } from '../src/source/node/mining-node.ts'
import { NodeSource } from '../src/source/node/node-source.ts'
import type { Job, LifeStep } from '../src/source/source.ts'
import { startDelayProxy } from './delay-proxy.ts'
import type { Row } from './report.ts'
import { type Effort, pause } from './suite.ts'
import { UNREACHABLE } from './work.ts'

const SUITE = 'pipeline'
const LATENCIES_MS = [0, 20, 100]
const CUT_EVERY_MS = 1500
const SUBMISSIONS = 5
const account: MinerAccount = { account: 'k:bench', predicate: 'keys-all', publicKeys: [] }
const other: MinerAccount = { ...account, account: 'k:other' }

export async function pipeline({ rounds, isQuick }: Effort): Promise<Row[]> {
  const rows: Row[] = []
  const cuts = isQuick ? 1 : rounds
  for (const latencyMs of LATENCIES_MS) rows.push(...(await atLatency(latencyMs, cuts)))
  return rows
}

async function atLatency(latencyMs: number, cuts: number): Promise<Row[]> {
  const bed = await startTestBed(latencyMs)
  try {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const { lostMs, totalMs } = await measureCuts(bed, cuts)
    delay.disable()
    const submitMs = await measureSubmissions(bed)
    const lost = lostMs.reduce((sum, ms) => sum + ms, 0)
    const row = (name: string, unit: Row['unit'], samples: number[]): Row => {
      return { suite: SUITE, name: `${name}, ${latencyMs} ms away`, unit, samples }
    }
    return [
      row('useful hashes', '%', [100 * (1 - lost / totalMs)]),
      row('new cut to new work', 'ms', lostMs),
      row('submit and confirm', 'ms', submitMs),
      row('event loop delay p99', 'ms', [delay.percentile(99) / 1e6]),
      row('memory', 'MiB', [process.memoryUsage().rss / 2 ** 20]),
    ]
  } finally {
    await bed.stop()
  }
}

interface TestBed {
  /** Next to the node; the miner's own client is as far away as is measured. */
  readonly near: NodeClient
  readonly far: NodeClient
  readonly source: NodeSource
  /** The chain that is worked on, and how often and when last work was taken up by all threads. */
  readonly seen: { chain: number; works: number; atMs: number }
  readonly stop: () => Promise<void>
}

async function startTestBed(latencyMs: number): Promise<TestBed> {
  const devnet = await startDevnet({ port: 0, pow: false, difficulty: UNREACHABLE })
  const proxy = await startDelayProxy(Number(new URL(devnet.url).port), latencyMs)
  const near = await NodeClient.connect({ url: devnet.url })
  const far = await NodeClient.connect({ url: proxy.url })
  const node = miningNodeOf({ client: far, account, clock: systemClock, stallMs: 0 })
  const source = new NodeSource({ node, clock: systemClock, random: Math.random })
  const ranges = nonceRanges(availableParallelism(), Math.random)
  const engine = new CpuEngine({ ranges, kernel: 'auto', priority: 'low' })
  const seen = { chain: -1, works: 0, atMs: 0 }
  const onEvent = (event: MinerEvent) => {
    if (event.type !== 'work') return
    seen.chain = event.chain
    seen.works++
    seen.atMs = performance.now()
  }
  const miner = new Miner({ source, engines: [engine], clock: systemClock, onEvent })
  const stopping = new AbortController()
  const ended = miner.run(stopping.signal)
  while (seen.works === 0 || !source.connected) await pause(5)
  // Wait until there is stand-by work too.
  await pause(6 * latencyMs + 200)
  const stop = async () => {
    stopping.abort()
    const { hashes } = await ended
    await Promise.all([near.close(), far.close()])
    await proxy.close()
    await devnet.close()
    if (hashes === 0) throw new Error('pipeline: nothing was hashed')
  }
  return { near, far, source, seen, stop }
}

/** Extends the miner's chain again and again. From then until new work is searched, hashing is lost. */
async function measureCuts({ near, seen }: TestBed, cuts: number) {
  const lostMs: number[] = []
  const startMs = performance.now()
  for (let cut = 0; cut < cuts; cut++) {
    await pause(Math.max(0, startMs + cut * CUT_EVERY_MS - performance.now()))
    const { work } = await near.work(other, seen.chain)
    // Blocked: this chain cannot move before its neighbours do.
    if (work.fields.chainId !== seen.chain) continue
    const { works } = seen
    const cutAtMs = performance.now()
    await near.solved(work.bytes)
    while (seen.works === works) await pause(0.2)
    lostMs.push(seen.atMs - cutAtMs)
  }
  await pause(Math.max(0, startMs + cuts * CUT_EVERY_MS - performance.now()))
  if (lostMs.length === 0) throw new Error('pipeline: no cut was measured')
  return { lostMs, totalMs: performance.now() - startMs }
}

async function measureSubmissions({ far, source }: TestBed): Promise<number[]> {
  const submitMs: number[] = []
  for (let i = 0; i < SUBMISSIONS; i++) {
    const { work } = await far.work(account)
    const sentAtMs = performance.now()
    const { step } = await submit(source, work)
    if (step !== 'confirmed') throw new Error(`pipeline: a submission was ${step}`)
    submitMs.push(performance.now() - sentAtMs)
  }
  return submitMs
}

/** Hands in work, which without proof of work is a solution as it is. Resolves with the last step of its life. */
async function submit(source: NodeSource, work: Work): Promise<LifeStep> {
  const fixed = { issuer: source.description, fixedNonce: FREE_NONCE, manySolutions: false }
  const { target } = work.fields
  const job: Job = { id: 'bench', work, target, reason: 'start', noticedAtMs: 0, ...fixed }
  const solution = { job, bytes: work.bytes }
  let last: LifeStep = await source.handIn(solution)
  if (last.step !== 'acknowledged') return last
  for await (const step of source.follow(solution, new AbortController().signal)) last = step
  return last
}
