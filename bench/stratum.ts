/**
 * The stratum server under load from another process: sessions, new work, shares, memory. The server judges every share
 * in full, and the suite fails unless all count.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MAX_TARGET } from '../src/ground/chain/target.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { descriptorLimit } from '../src/ground/platform/descriptors.ts'
import type { RigLimits } from '../src/mining/engine/stratum/limits.ts'
import { StratumEngine } from '../src/mining/engine/stratum/stratum.ts'
import { nextAnswer as answerOf } from './load-child.ts'
import { percentile, type Row } from './report.ts'
import { sharedMs } from './shared-clock.ts'
import type { LoadAnswer, LoadOrder } from './stratum-load.ts'
import { type Effort, pause } from './suite.ts'
import { usedBytes } from './used-bytes.ts'
import { engineWork, freshWork } from './work.ts'

const SUITE = 'stratum'
const SESSIONS = 10_000
const QUICK_SESSIONS = 50
/** File descriptors reserved for other uses. */
const SPARE_DESCRIPTORS = 200
/** No rate limits, because the load is a single address. */
const LIMITS: Partial<RigLimits> = {
  sessionsPerAddress: 65_536,
  requestsPerSecond: 1e9,
  requestsPerSecondOfAddress: 1e9,
  sharesPerJob: 1e9,
  unsentBytes: 2 ** 24,
}
/** Shares per rig in one message, as after a short outage, and a single one. */
const SHARES = [20, 1] as const

export async function stratum({ rounds, isQuick }: Effort): Promise<Row[]> {
  const sessions = Math.min(isQuick ? QUICK_SESSIONS : SESSIONS, (descriptorLimit() ?? SESSIONS) - SPARE_DESCRIPTORS)
  const server = { host: '127.0.0.1', port: 0, tls: null, difficulty: 1, limits: LIMITS }
  const engine = new StratumEngine({ ...server, clock: systemClock, random: Math.random })
  let candidates = 0
  await engine.start(286, { onCandidate: () => candidates++, onWarning: (text) => process.stderr.write(`${text}\n`) })
  const { port } = await engine.listen()
  const child = fork(fileURLToPath(new URL('./stratum-load.js', import.meta.url)))
  try {
    const give = giver(engine)
    await give()
    const before = await usedBytes()
    const connected = await ask(child, { type: 'connect', port, sessions }, 'connected')
    const perSession = ((await usedBytes()) - before) / sessions
    const rows: Row[] = [
      row('sessions that log in', '1/s', [(sessions * 1000) / connected.tookMs], `${sessions} in all`),
    ]
    // With few sessions, other allocations dominate.
    if (!isQuick) rows.push(row('memory of a session', 'B', [perSession]))
    rows.push(...(await jobs(child, give, { sessions, rounds: 2 * rounds })))
    rows.push(...(await jobsElsewhere(child, give, 2 * rounds)))
    for (const each of SHARES) rows.push(...(await shares(child, engine, { sessions, rounds, each })))
    if (candidates !== engine.status().shares.accepted) throw new Error('a share that solves the work was not reported')
    return rows
  } finally {
    const exited = once(child, 'exit')
    child.kill()
    await exited
    await engine.stop()
  }
}

const row = (name: string, unit: Row['unit'], samples: readonly number[], note?: string): Row => {
  return { suite: SUITE, name, unit, samples, ...(note !== undefined && { note }) }
}

/** Measures new work until 50 %, 99 % and all rigs have read it, and its cost. */
async function jobs(
  child: ChildProcess,
  give: () => Promise<boolean>,
  { sessions, rounds }: { readonly sessions: number; readonly rounds: number },
): Promise<Row[]> {
  const [half, most, all]: [number[], number[], number[]] = [[], [], []]
  const [used, system]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const { tookMs, usage } = await job(child, give, 1)
    used.push((usage.user + usage.system) / 1000)
    system.push(usage.system / 1000)
    half.push(percentile(tookMs, 0.5))
    most.push(percentile(tookMs, 0.99))
    all.push(Math.max(...tookMs))
  }
  return [
    row('job to half of all rigs', 'ms', half, `${sessions} in all`),
    row('job to 99 %', 'ms', most),
    row('job to all', 'ms', all),
    row('processor time of a job', 'ms', used, 'of the program, with what the system does for it'),
    // The system counts its own time in ticks, and few rigs take none.
    ...(system.some((ms) => ms > 0) ? [row('system time of a job', 'ms', [meanOf(system)], SYSTEM_NOTE)] : []),
  ]
}

/**
 * Like `jobs`, but only one rig in ten reads at once and competes for the server's cores. Real rigs have their own
 * CPUs.
 */
async function jobsElsewhere(child: ChildProcess, give: () => Promise<boolean>, rounds: number): Promise<Row[]> {
  const most: number[] = []
  for (let round = 0; round < rounds; round++) most.push(percentile((await job(child, give, 10)).tookMs, 0.99))
  return [row('job to 99 %, one rig in ten reads at once', 'ms', most, 'the others afterwards')]
}

/** Measures delivery of new work to all rigs or to every n-th, and its cost. */
async function job(child: ChildProcess, give: () => Promise<boolean>, oneIn: number) {
  await ask(child, { type: 'expect', oneIn }, 'expecting')
  await pause(20)
  const arrived = nextAnswer(child, 'arrived')
  const before = process.cpuUsage()
  const startMs = sharedMs()
  if (!(await give())) throw new Error('new work was not taken')
  const usage = process.cpuUsage(before)
  return { usage, tookMs: (await arrived).atMs.map((atMs) => atMs - startMs) }
}

/** Measures concurrent shares, `each` per rig, and the rate that one dedicated CPU could judge. */
async function shares(
  child: ChildProcess,
  engine: StratumEngine,
  { sessions, rounds, each }: { readonly sessions: number; readonly rounds: number; readonly each: number },
): Promise<Row[]> {
  const [wall, processor]: [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    const before = engine.status().shares.accepted
    const usageBefore = process.cpuUsage()
    const { tookMs } = await ask(child, { type: 'submit', shares: each }, 'answered')
    const { user, system } = process.cpuUsage(usageBefore)
    const accepted = engine.status().shares.accepted - before
    if (accepted !== each * sessions) throw new Error(`${accepted} of ${each * sessions} shares were accepted`)
    if (round < 0) continue
    wall.push((accepted * 1000) / tookMs)
    processor.push((accepted * 1e6) / (user + system))
  }
  const kind = each === 1 ? 'single shares' : 'shares'
  return [row(`${kind} judged`, '1/s', wall), row(`${kind} a second of processor`, '1/s', processor)]
}

/** Gives work whose every hash is a share, under the next sequence. */
function giver(engine: StratumEngine): () => Promise<boolean> {
  let sequence = 0
  return () => engine.setWork(engineWork(++sequence, freshWork(1n), MAX_TARGET))
}

function ask<T extends LoadAnswer['type']>(child: ChildProcess, order: LoadOrder, type: T) {
  const answer = nextAnswer(child, type)
  child.send(order)
  return answer
}

const nextAnswer = <T extends LoadAnswer['type']>(child: ChildProcess, type: T) => answerOf<LoadAnswer, T>(child, type)

const SYSTEM_NOTE = 'of its writes, which the system does; mean'
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
