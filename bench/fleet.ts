/**
 * A fleet on a real nats-server: the leader's engine in this process, and 1,000 rigs in two other processes, each with
 * a connection and a real rig's source. Measures jobs, reports, solutions, and the cost for leader and server.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { encodeBase64Url } from '../src/ground/base/bytes.ts'
import { blockHash } from '../src/ground/chain/block-hash.ts'
import { withNonce } from '../src/ground/chain/header.ts'
import { MAX_TARGET } from '../src/ground/chain/target.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { descriptorLimit } from '../src/ground/platform/descriptors.ts'
import type { Candidate } from '../src/mining/engine/engine.ts'
import { FleetEngine } from '../src/mining/engine/fleet/fleet.ts'
import { readNatsAddress } from '../src/mining/fleet/address.ts'
import { FleetLink } from '../src/mining/fleet/link.ts'
import type { FleetAnswer, FleetOrder } from './fleet-load.ts'
import { nextAnswer } from './load-child.ts'
import { type NatsServer, startNats } from './nats-server.ts'
import { percentile, type Row } from './report.ts'
import { sharedMs } from './shared-clock.ts'
import { type Effort, MAX_WAIT_MS, pause } from './suite.ts'
import { usedBytes } from './used-bytes.ts'
import { engineWork, freshWork } from './work.ts'

const SUITE = 'fleet'
const FLEET = 'bench'
/** Timeout of the whole suite. */
const MAX_MS = 240_000
/** Load processes: one per core of the smallest machine, because real rigs parse their jobs in parallel. */
const LOADS = 2
/** File descriptors reserved for other uses. */
const SPARE_DESCRIPTORS = 400

interface Size {
  readonly rigs: number
  readonly listeners: number
  readonly jobs: number
  readonly restMs: number
  readonly reportMs: number
  /** Solutions one by one, and all at once. */
  readonly paced: number
  readonly burst: number
}
const FULL: Size = {
  rigs: 1_000,
  listeners: 10_000,
  jobs: 40,
  restMs: 10_000,
  reportMs: 5_000,
  paced: 500,
  burst: 20_000,
}
const QUICK: Size = {
  rigs: 20,
  listeners: 20,
  jobs: 3,
  restMs: 1_200,
  reportMs: 200,
  paced: 20,
  burst: 200,
}
/** Pause between two jobs, and between two single solutions. */
const JOB_PAUSE_MS = 250
const SOLUTION_PAUSE_MS = 10
/** Solutions in flight. */
const AT_ONCE = 256

export async function fleet({ rounds, isQuick }: Effort, tell: (line: string) => void): Promise<Row[] | string> {
  const size = isQuick ? QUICK : FULL
  const server = await startNats()
  if (typeof server === 'string') return server
  const loads = Array.from({ length: LOADS }, () => fork(fileURLToPath(new URL('./fleet-load.js', import.meta.url))))
  const guard = setTimeout(() => loads.map((load) => load.kill('SIGKILL')), MAX_MS)
  const leader = new Leader()
  try {
    await leader.start(server.port)
    const rows = await measure(server, loads, leader, { ...size, rounds }, tell)
    const troubled = await Promise.all(loads.map((load) => ask(load, { type: 'troubles' }, 'troubled')))
    const times = troubled.reduce((sum, each) => sum + each.times, 0)
    if (times > 0) tell(`the machine is too busy: ${times} times a rig had no answer for 3 s`)
    if (leader.problem !== null) throw new Error(`the leader: ${leader.problem}`)
    return rows
  } finally {
    clearTimeout(guard)
    await Promise.all(loads.map(end))
    await leader.stop()
    await server.stop()
  }
}

async function end(load: ChildProcess): Promise<void> {
  const isGone = load.exitCode !== null || load.signalCode !== null
  const exited = isGone ? null : once(load, 'exit')
  load.kill()
  await exited
}

async function measure(
  server: NatsServer,
  loads: readonly ChildProcess[],
  leader: Leader,
  size: Size & { readonly rounds: number },
  tell: (line: string) => void,
): Promise<Row[]> {
  const { rigs } = size
  const isQuick = size.listeners === QUICK.listeners
  const join = { type: 'join', fleet: FLEET, port: server.port, server: server.pid } as const
  const before = await usedBytes()
  await Promise.all(
    loads.map((load, i) => {
      const first = Math.floor((rigs * i) / loads.length)
      return ask(load, { ...join, first, rigs: Math.floor((rigs * (i + 1)) / loads.length) - first }, 'joined')
    }),
  )
  const perRig = ((await usedBytes()) - before) / rigs
  const rows: Row[] = []
  // With few rigs, other allocations dominate.
  if (!isQuick) rows.push(row('memory of the leader, a rig', 'B', [perRig], `${rigs} rigs`))
  const rest = await atRest(server, leader, size.restMs)
  rows.push(...rest.rows, ...(await jobs(server, loads, leader, size.jobs, rest.processorShare)))
  rows.push(...(await reports(loads, leader, size)))
  rows.push(...(await solutions(loads[0], leader, size)))
  const room = (descriptorLimit() ?? size.listeners) - rigs - SPARE_DESCRIPTORS
  const listeners = Math.min(size.listeners, room)
  if (listeners < size.listeners)
    tell(`${listeners} listeners instead of ${size.listeners}: more files may not be open`)
  if (listeners > 0) rows.push(...(await measureListeners(server, loads, leader, { ...size, listeners })))
  return rows
}

/** Measures rigs that only report once a second. */
async function atRest(server: NatsServer, leader: Leader, forMs: number) {
  await pause(500)
  const [startMs, used, mine, answers] = [sharedMs(), server.usage(), process.cpuUsage(), leader.said]
  await pause(forMs)
  const [tookMs, now] = [sharedMs() - startMs, server.usage()]
  const { user, system } = process.cpuUsage(mine)
  const reports = leader.said - answers
  const rows = [
    row('reports at rest', '1/s', [(reports * 1000) / tookMs]),
    row('leader at rest', '%', [(user + system) / 10 / tookMs], 'of one processor'),
  ]
  if (used === null || now === null) return { rows, processorShare: null }
  const processorShare = (now.processorMs - used.processorMs) / tookMs
  const bytes = now.readBytes + now.writtenBytes - used.readBytes - used.writtenBytes
  rows.push(
    row('nats-server at rest', '%', [100 * processorShare], 'of one processor'),
    row('bytes of a report', 'B', [bytes / reports], 'in and out of the server, both ways'),
  )
  return { rows, processorShare }
}

/**
 * Measures new jobs until 50 %, 99 % and all rigs would search them, and the cost of a job for the server without
 * reports.
 */
async function jobs(
  server: NatsServer,
  loads: readonly ChildProcess[],
  leader: Leader,
  count: number,
  atRest: number | null,
): Promise<Row[]> {
  const times: number[][] = []
  const readersMs: number[] = []
  for (let i = 0; i < count; i++) {
    const { rigsMs, processorMs } = await job(loads, leader, JOB_PAUSE_MS)
    times.push(rigsMs)
    readersMs.push(processorMs)
  }
  // Sequential jobs keep the part of reports small.
  const [startMs, before] = [sharedMs(), server.usage()]
  for (let i = 0; i < count; i++) await job(loads, leader, 0)
  const [tookMs, after] = [sharedMs() - startMs, server.usage()]
  const at = (fraction: number) => times.map((tookMs) => percentile(tookMs, fraction))
  const rows = [
    row('job to half of all rigs', 'ms', at(0.5)),
    row('job to 99 %', 'ms', at(0.99)),
    row('job to all', 'ms', at(1)),
    row('reading a job, all rigs', 'ms', readersMs, 'of a processor; rigs elsewhere have their own'),
  ]
  if (before === null || after === null || atRest === null) return rows
  const cost = (after.processorMs - before.processorMs - atRest * tookMs) / count
  return [...rows, ...aboveNoise(row('nats-server, a job to all rigs', 'ms', [cost], 'of a processor'))]
}

/** Measures the delivery time of a new job to each rig and listener. */
async function job(loads: readonly ChildProcess[], leader: Leader, pauseMs: number) {
  await Promise.all(loads.map((load) => ask(load, { type: 'expect' }, 'expecting')))
  await pause(pauseMs)
  const arrived = Promise.all(loads.map((load) => answer(load, 'arrived')))
  const startMs = sharedMs()
  if (!(await leader.give())) throw new Error('new work was not taken')
  const parts = await arrived
  const since = (atMs: number) => atMs - startMs
  return {
    rigsMs: parts.flatMap(({ rigsMs }) => rigsMs.map(since)),
    listenersMs: parts.flatMap(({ listenersMs }) => listenersMs.map(since)),
    bytes: Math.max(...parts.map(({ bytes }) => bytes)),
    processorMs: parts.reduce((sum, { processorMs }) => sum + processorMs, 0),
  }
}

/** All rigs send the next report as soon as the last is answered. */
async function reports(
  loads: readonly ChildProcess[],
  leader: Leader,
  { rounds, reportMs }: Size & { rounds: number },
) {
  const [wall, processor]: [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    const [mine, said] = [process.cpuUsage(), leader.said]
    const order = { type: 'report', forMs: reportMs / rounds } as const
    const parts = await Promise.all(loads.map((load) => ask(load, order, 'reported')))
    const answers = parts.reduce((sum, part) => sum + part.answers, 0)
    const tookMs = Math.max(...parts.map((part) => part.tookMs))
    const { user, system } = process.cpuUsage(mine)
    const count = leader.said - said
    if (count < answers) throw new Error(`${answers} reports were answered, and the leader knows of ${count}`)
    if (round < 0) continue
    wall.push((count * 1000) / tookMs)
    processor.push((count * 1e6) / (user + system))
  }
  return [row('reports answered', '1/s', wall), row('reports a second of processor', '1/s', processor, 'of the leader')]
}

/** Measures single solutions, and many at once. */
async function solutions(child: ChildProcess, leader: Leader, { paced, burst, rounds }: Size & { rounds: number }) {
  const slow = { type: 'solve', solutions: paced, atOnce: AT_ONCE, everyMs: SOLUTION_PAUSE_MS } as const
  const each = await submitSolutions(child, leader, slow)
  const [wall, processor]: [number[], number[]] = [[], []]
  for (let round = -1; round < Math.min(rounds, 5); round++) {
    const fast = { type: 'solve', solutions: Math.ceil(burst / rounds), atOnce: AT_ONCE, everyMs: 0 } as const
    const mine = process.cpuUsage()
    const { tookMs } = await submitSolutions(child, leader, fast)
    const { user, system } = process.cpuUsage(mine)
    if (round < 0) continue
    wall.push((fast.solutions * 1000) / tookMs)
    processor.push((fast.solutions * 1e6) / (user + system))
  }
  const at = (times: readonly number[], fraction: number) => [percentile(times, fraction)]
  const note = `${paced} of them, ${SOLUTION_PAUSE_MS} ms apart`
  return [
    row('solution to the leader, half', 'ms', at(each.toLeaderMs, 0.5), note),
    row('solution to the leader, 99 %', 'ms', at(each.toLeaderMs, 0.99)),
    row('solution kept by JetStream, half', 'ms', at(each.toStoreMs, 0.5)),
    row('solution kept by JetStream, 99 %', 'ms', at(each.toStoreMs, 0.99)),
    row('solutions at once', '1/s', wall, `${AT_ONCE} on their way`),
    row('solutions a second of processor', '1/s', processor, 'of the leader'),
  ]
}

/** Submits solutions and waits until the leader has them all. */
async function submitSolutions(child: ChildProcess, leader: Leader, order: Extract<FleetOrder, { type: 'solve' }>) {
  leader.takenMs.clear()
  const startMs = sharedMs()
  const { solutions: sent } = await ask(child, order, 'solved')
  for (const endMs = sharedMs() + MAX_WAIT_MS; leader.takenMs.size < sent.length && sharedMs() < endMs; ) await pause(1)
  const takenMs = sent.map(([nonce]) => leader.takenMs.get(nonce))
  const missing = takenMs.filter((atMs) => atMs === undefined).length
  if (missing > 0) throw new Error(`${missing} of ${sent.length} solutions did not come to the leader`)
  const toLeaderMs = sent.map(([, handedMs], i) => (takenMs[i] ?? 0) - handedMs)
  const toStoreMs = sent.map(([, handedMs, keptMs]) => keptMs - handedMs)
  return { toLeaderMs, toStoreMs, tookMs: Math.max(...leader.takenMs.values()) - startMs }
}

/** Measures new jobs to many bare connections: the limit of the server itself, on an idle machine. */
async function measureListeners(
  server: NatsServer,
  loads: readonly ChildProcess[],
  leader: Leader,
  { listeners, jobs: most }: Size,
) {
  const before = server.usage()
  const listen = { type: 'listen', fleet: FLEET, port: server.port } as const
  const each = Math.floor(listeners / loads.length)
  await Promise.all(loads.map((load) => ask(load, { ...listen, listeners: each }, 'listening')))
  const connected = server.usage()
  const [half, most99, all, bytes]: number[][] = [[], [], [], []]
  const readersMs: number[] = []
  const [startMs, jobsCount] = [sharedMs(), Math.ceil(most / 2)]
  for (let i = 0; i < jobsCount; i++) {
    const { listenersMs, bytes: size, processorMs } = await job(loads, leader, JOB_PAUSE_MS)
    half.push(percentile(listenersMs, 0.5))
    most99.push(percentile(listenersMs, 0.99))
    all.push(Math.max(...listenersMs))
    bytes.push(size)
    readersMs.push(processorMs)
  }
  const after = server.usage()
  const rows = [
    row('bytes of a job', 'B', bytes, 'to one rig, as NATS frames it'),
    row('job to half of all listeners', 'ms', half, `${listeners} bare connections besides`),
    row('job to 99 % of them', 'ms', most99),
    row('job to all of them', 'ms', all),
    row('reading a job, all of them', 'ms', readersMs, 'of a processor'),
  ]
  if (before === null || connected === null || after === null) return rows
  const cost = (after.processorMs - connected.processorMs) / jobsCount
  const memory = (connected.memoryBytes - before.memoryBytes) / listeners
  const seconds = (sharedMs() - startMs) / 1000 / jobsCount
  return [
    ...rows,
    row('nats-server, a job to them', 'ms', [cost], `of a processor, with ${seconds.toFixed(2)} s of reports`),
    ...aboveNoise(row('memory of nats-server, a connection', 'B', [memory])),
  ]
}

const row = (name: string, unit: Row['unit'], samples: readonly number[], note?: string): Row => {
  return { suite: SUITE, name, unit, samples, ...(note !== undefined && { note }) }
}

/** Drops a difference that is lost in noise. */
const aboveNoise = (of: Row): Row[] => (of.samples.every((sample) => sample > 0) ? [of] : [])

/**
 * The leader, with work of this difficulty (default: any hash solves it) and a node that accepts each solution at once.
 */
export class Leader {
  readonly #fleet: string
  readonly #difficulty: bigint
  /** Nonce -> arrival time of its solution. */
  readonly takenMs = new Map<string, number>()
  readonly #works = new Map<number, Uint8Array>()
  #link: FleetLink | null = null
  #engine: FleetEngine | null = null
  #sequence = 0
  #problem: string | null = null

  constructor(fleet = FLEET, difficulty = 1n) {
    this.#fleet = fleet
    this.#difficulty = difficulty
  }

  async start(port: number): Promise<void> {
    const about = { clock: systemClock, random: Math.random }
    const addresses = [readNatsAddress(`nats://127.0.0.1:${port}`)]
    const link = await FleetLink.open(
      { addresses, trust: {}, fleet: this.#fleet, agent: SUITE, ...about },
      null,
      new AbortController().signal,
    )
    this.#link = link
    const engine = new FleetEngine({ link, name: SUITE, version: 'bench', session: SUITE, ...about })
    this.#engine = engine
    const fail = (problem: string) => {
      this.#problem ??= problem
    }
    const adopt = () => fail('a solution of a job that it did not give')
    engine.attach({
      network: SUITE,
      account: 'k:bench',
      unfinished: [],
      adopt,
      onLeader: () => undefined,
      silentMs: () => 0,
    })
    await engine.start(286, { onCandidate: (candidate) => this.#take(candidate), onWarning: fail })
    await this.give()
    for (const endMs = sharedMs() + MAX_WAIT_MS; engine.status().isLeading === false; await pause(10)) {
      if (sharedMs() > endMs) throw new Error('the leader was not elected')
    }
    // The server knows its subscriptions before a rig reports.
    await link.connection.flush()
  }

  /** The first problem, or null. */
  get problem(): string | null {
    return this.#problem
  }

  /** Number of sent messages. */
  get said(): number {
    return this.#link?.connection.stats().outMsgs ?? 0
  }

  async give(): Promise<boolean> {
    const [sequence, bytes] = [++this.#sequence, freshWork(this.#difficulty)]
    this.#works.set(sequence, bytes)
    return (await this.#engine?.setWork(engineWork(sequence, bytes, MAX_TARGET / this.#difficulty))) ?? false
  }

  async stop(): Promise<void> {
    await this.#engine?.stop()
    await this.#link?.close()
  }

  /** Does what the miner does: verifies the solution, submits it, and reports the steps of its life. */
  #take({ sequence, nonce }: Candidate): void {
    this.takenMs.set(String(nonce), sharedMs())
    const work = this.#works.get(sequence)
    if (work === undefined) throw new Error(`work ${sequence} was never given`)
    const hash = encodeBase64Url(blockHash(withNonce(work, nonce)))
    for (const step of ['found', 'acknowledged'] as const) this.#engine?.recordStep({ hash, step })
  }
}

function ask<T extends FleetAnswer['type']>(child: ChildProcess, order: FleetOrder, type: T) {
  const next = answer(child, type)
  child.send(order)
  return next
}

const answer = <T extends FleetAnswer['type']>(child: ChildProcess, type: T) => nextAnswer<FleetAnswer, T>(child, type)
