/**
 * The whole miner against the embedded node: how much of its hashing is of use when the chain it works on moves on every
 * 1.5 s, with a node next door and 20 or 100 ms away. The node accepts any nonce, so that the benchmark can extend
 * chains at will; the miner searches for a target that it never meets.
 */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startDevnet } from '../src/compose/devnet.ts'
import type { MinerAccount } from '../src/core/payload.ts'
import { CpuEngine } from '../src/engine/cpu/cpu.ts'
import { nonceRanges } from '../src/engine/range.ts'
import type { MinerEvent } from '../src/mine/events.ts'
import { Miner } from '../src/mine/miner.ts'
import { NodeClient } from '../src/node/client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { NodeSource } from '../src/source/node.ts'
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
  const source = new NodeSource({ client: far, account, clock: systemClock, random: Math.random, stallMs: 0 })
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
  // Until the standby stands as well.
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

/** Extends the chain that is worked on, again and again; hashing is lost from then until new work is taken up. */
async function measureCuts({ near, seen }: TestBed, cuts: number) {
  const lostMs: number[] = []
  const startMs = performance.now()
  for (let cut = 0; cut < cuts; cut++) {
    await pause(Math.max(0, startMs + cut * CUT_EVERY_MS - performance.now()))
    const { work } = await near.work(other, seen.chain)
    // Blocked: that chain cannot move on before its neighbours do.
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
    const verdict = await source.submit(work.bytes)
    if (verdict.kind !== 'accepted') throw new Error(`pipeline: a submission was ${verdict.kind}`)
    submitMs.push(performance.now() - sentAtMs)
  }
  return submitMs
}

/** A TCP proxy on loopback that holds back every byte, in either direction, for half of `latencyMs`. */
async function startDelayProxy(port: number, latencyMs: number) {
  const sockets = new Set<Socket>()
  const forward = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), latencyMs / 2))
    from.on('close', () => setTimeout(() => to.destroy(), latencyMs / 2))
    from.on('error', () => to.destroy())
  }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    forward(client, upstream)
    forward(upstream, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
