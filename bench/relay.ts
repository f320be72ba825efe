/**
 * Two relays of a fleet with real rigs: the leader in this process, a real nats-server, and separate processes for each
 * relay and its rigs. Measures job delivery, judged and stored shares per second, and memory.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { descriptorLimit } from '../src/ground/platform/descriptors.ts'
import { Leader } from './fleet.ts'
import { nextAnswer } from './load-child.ts'
import { startNats } from './nats-server.ts'
import type { RelayAnswer, RelayOrder } from './relay-child.ts'
import { percentile, type Row } from './report.ts'
import { sharedMs } from './shared-clock.ts'
import type { LoadAnswer, LoadOrder } from './stratum-load.ts'
import { type Effort, pause } from './suite.ts'
import { UNREACHABLE } from './work.ts'

const SUITE = 'relay'
const RELAYS = 2
/** Rigs per relay. */
const RIGS = 5_000
const QUICK_RIGS = 25
/** Timeout of the whole suite. */
const MAX_MS = 110_000
const SPARE_DESCRIPTORS = 200
const JOB_PAUSE_MS = 100
/** Shares per relay for JetStream, and the number in flight. */
const KEPT = 20_000
const QUICK_KEPT = 200
const AT_ONCE = 500

interface Relay {
  readonly relay: ChildProcess
  readonly rigs: ChildProcess
}

export async function relay({ rounds, isQuick }: Effort): Promise<Row[] | string> {
  const server = await startNats()
  if (typeof server === 'string') return server
  const start = (file: string) => fork(fileURLToPath(new URL(file, import.meta.url)))
  const relays = Array.from({ length: RELAYS }, () => ({
    relay: start('./relay-child.js'),
    rigs: start('./stratum-load.js'),
  }))
  const children = relays.flatMap((each) => [each.relay, each.rigs])
  const guard = setTimeout(() => children.map((child) => child.kill('SIGKILL')), MAX_MS)
  const leader = new Leader(SUITE, UNREACHABLE)
  try {
    await leader.start(server.port)
    const sessions = Math.min(isQuick ? QUICK_RIGS : RIGS, (descriptorLimit() ?? RIGS) - SPARE_DESCRIPTORS)
    const rows = await measureConnections(relays, server.port, sessions)
    rows.push(...(await jobs(relays, leader, Math.min(rounds, 5), sessions)))
    rows.push(...(await shares(relays, Math.min(rounds, 2), sessions)))
    rows.push(...(await measureStorage(relays, Math.min(rounds, 3), isQuick ? QUICK_KEPT : KEPT)))
    if (leader.problem !== null) throw new Error(`the leader: ${leader.problem}`)
    // With few sessions, other allocations dominate.
    return isQuick ? rows.filter(({ unit }) => unit !== 'B') : rows
  } finally {
    clearTimeout(guard)
    await Promise.all(children.map(endProcess))
    await leader.stop()
    await server.stop()
  }
}

const row = (name: string, unit: Row['unit'], samples: readonly number[], note?: string): Row => {
  return { suite: SUITE, name, unit, samples, ...(note !== undefined && { note }) }
}

async function endProcess(child: ChildProcess): Promise<void> {
  const isGone = child.exitCode !== null || child.signalCode !== null
  const exited = isGone ? null : once(child, 'exit')
  child.kill()
  await exited
}

async function measureConnections(relays: readonly Relay[], natsPort: number, sessions: number): Promise<Row[]> {
  const ports = await Promise.all(
    relays.map(({ relay: child }, i) => {
      return askRelay(child, { type: 'join', fleet: SUITE, port: natsPort, rig: `relay-${i}` }, 'listening')
    }),
  )
  const before = await readCounters(relays)
  const startMs = sharedMs()
  await Promise.all(
    relays.map(({ rigs }, i) => askRigs(rigs, { type: 'connect', port: ports[i].port, sessions }, 'connected')),
  )
  const tookMs = sharedMs() - startMs
  const after = await readCounters(relays)
  const total = relays.length * sessions
  return [
    row('sessions that log in', '1/s', [(total * 1000) / tookMs], `${relays.length} relays with ${sessions} each`),
    row('memory of a session', 'B', [(after.bytes - before.bytes) / total], 'of its relay'),
  ]
}

/** Measures new work from the leader until 99 % and all rigs have read it. */
async function jobs(relays: readonly Relay[], leader: Leader, rounds: number, sessions: number): Promise<Row[]> {
  const [half, most, all]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    await Promise.all(relays.map(({ rigs }) => askRigs(rigs, { type: 'expect', oneIn: 1 }, 'expecting')))
    await pause(JOB_PAUSE_MS)
    const arrived = Promise.all(relays.map(({ rigs }) => nextAnswer<LoadAnswer, 'arrived'>(rigs, 'arrived')))
    const startMs = sharedMs()
    if (!(await leader.give())) throw new Error('new work was not taken')
    const tookMs = (await arrived).flatMap(({ atMs }) => atMs.map((each) => each - startMs))
    half.push(percentile(tookMs, 0.5))
    most.push(percentile(tookMs, 0.99))
    all.push(Math.max(...tookMs))
  }
  return [
    row('job to half of all rigs', 'ms', half, `${relays.length * sessions} in all`),
    row('job to 99 %', 'ms', most),
    row('job to the last rig', 'ms', all),
  ]
}

/** Submits two shares per rig at once; all must count. After eight shares of a rig its difficulty would rise. */
async function shares(relays: readonly Relay[], rounds: number, sessions: number): Promise<Row[]> {
  const each = 2
  const rates: number[] = []
  let { accepted } = await readCounters(relays)
  for (let round = -1; round < rounds; round++) {
    const startMs = sharedMs()
    await Promise.all(relays.map(({ rigs }) => askRigs(rigs, { type: 'submit', shares: each }, 'answered')))
    const tookMs = sharedMs() - startMs
    const count = relays.length * sessions * each
    accepted += count
    const counted = (await readCounters(relays)).accepted
    if (counted !== accepted) throw new Error(`${counted} shares were accepted, expected ${accepted}`)
    if (round >= 0) rates.push((count * 1000) / tookMs)
  }
  return [row('shares judged and answered', '1/s', rates, 'all relays together')]
}

/** Measures shares that both relays write to JetStream concurrently. */
async function measureStorage(relays: readonly Relay[], rounds: number, count: number): Promise<Row[]> {
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startMs = sharedMs()
    const order = { type: 'keep', shares: count, each: AT_ONCE } as const
    await Promise.all(relays.map(({ relay: child }) => askRelay(child, order, 'kept')))
    rates.push((relays.length * count * 1000) / (sharedMs() - startMs))
  }
  return [row('shares kept by JetStream', '1/s', rates, 'all relays together')]
}

async function readCounters(relays: readonly Relay[]): Promise<{ readonly bytes: number; readonly accepted: number }> {
  const parts = await Promise.all(relays.map(({ relay: child }) => askRelay(child, { type: 'measure' }, 'measured')))
  const sum = (of: (part: (typeof parts)[number]) => number) => parts.reduce((total, part) => total + of(part), 0)
  return { bytes: sum(({ bytes }) => bytes), accepted: sum(({ accepted }) => accepted) }
}

function askRelay<T extends RelayAnswer['type']>(child: ChildProcess, order: RelayOrder, type: T) {
  const answer = nextAnswer<RelayAnswer, T>(child, type)
  child.send(order)
  return answer
}

function askRigs<T extends LoadAnswer['type']>(child: ChildProcess, order: LoadOrder, type: T) {
  const answer = nextAnswer<LoadAnswer, T>(child, type)
  child.send(order)
  return answer
}
