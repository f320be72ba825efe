/**
 * The server for rigs under load from another process: sessions, new work to all of them, shares, memory. Every share is
 * judged in full, and the suite fails unless all of them count.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { MAX_TARGET } from '../src/core/target.ts'
import type { RigLimits } from '../src/engine/stratum/limits.ts'
import { StratumEngine } from '../src/engine/stratum/stratum.ts'
import { systemClock } from '../src/platform/clock.ts'
import { descriptorLimit } from '../src/platform/descriptors.ts'
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
/** Descriptors that are left for all else. */
const SPARE_DESCRIPTORS = 200
/** No client is slowed down or refused, since the load is one address that does all at once. */
const LIMITS: Partial<RigLimits> = {
  sessionsPerAddress: 65_536,
  requestsPerSecond: 1e9,
  requestsPerSecondOfAddress: 1e9,
  sharesPerJob: 1e9,
  unsentBytes: 2 ** 24,
}
/** Of a rig at once: as one message, as a rig may send them that was cut off for a moment, and one alone. */
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
    // Few sessions weigh less than what the process allocates meanwhile.
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

/** New work, until half, 99 % and all of the rigs have read it, and what that costs. */
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
    // The system counts its own share in ticks: a few rigs take none.
    ...(system.some((ms) => ms > 0) ? [row('system time of a job', 'ms', [meanOf(system)], SYSTEM_NOTE)] : []),
  ]
}

/** The same where reading takes the server's cores from it for one rig in ten only: others have processors of their own. */
async function jobsElsewhere(child: ChildProcess, give: () => Promise<boolean>, rounds: number): Promise<Row[]> {
  const most: number[] = []
  for (let round = 0; round < rounds; round++) most.push(percentile((await job(child, give, 10)).tookMs, 0.99))
  return [row('job to 99 %, one rig in ten reads at once', 'ms', most, 'the others afterwards')]
}

/** How long new work takes to all rigs, or to one in so many, and what it costs to give it to all. */
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

/** Shares from all rigs at once, `each` of a rig; and how many of them a processor judges that does nothing else. */
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

/** Gives work of which every hash is a share and solves it, under the next sequence. */
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
