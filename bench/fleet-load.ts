/**
 * Load process of the suite `fleet`: rigs with a connection and a real rig's source each but no engine, and bare
 * listeners that receive jobs without parsing them.
 */
import { connect, type Socket } from 'node:net'
import { withNonce } from '../src/ground/chain/header.ts'
import { systemClock } from '../src/ground/platform/clock.ts'
import { readNatsAddress } from '../src/mining/fleet/address.ts'
import { FleetLink } from '../src/mining/fleet/link.ts'
import { type MemberReport, MemberReportAnswer } from '../src/mining/fleet/messages.ts'
import { FleetSource, type MemberFigures } from '../src/mining/source/fleet/fleet-source.ts'
import type { Job } from '../src/mining/source/source.ts'
import { sharedMs } from './shared-clock.ts'

/** The load that the suite orders. */
export type FleetOrder =
  /** Report how often a rig lost contact with its leader. */
  | { readonly type: 'troubles' }
  /** Let this many rigs join and wait for their first job. The child stops the server if the suite dies. */
  | {
      readonly type: 'join'
      readonly fleet: string
      readonly port: number
      readonly server: number
      readonly rigs: number
      /** Index of the first rig. */
      readonly first: number
    }
  /** Add this many listeners. */
  | { readonly type: 'listen'; readonly fleet: string; readonly port: number; readonly listeners: number }
  /** Report when each has its next job. */
  | { readonly type: 'expect' }
  /** Let each rig send the next report as soon as the last is answered, for this time. */
  | { readonly type: 'report'; readonly forMs: number }
  /** Submit this many solutions of the newest job, rig by rig: `atOnce` in flight, or one every `everyMs`. */
  | { readonly type: 'solve'; readonly solutions: number; readonly atOnce: number; readonly everyMs: number }

export type FleetAnswer =
  | { readonly type: 'joined'; readonly tookMs: number }
  | { readonly type: 'troubled'; readonly times: number }
  | { readonly type: 'listening' }
  /** The load is waiting. */
  | { readonly type: 'expecting' }
  /** Arrival times on the shared clock; for listeners, of the first byte. */
  | {
      readonly type: 'arrived'
      readonly rigsMs: readonly number[]
      readonly listenersMs: readonly number[]
      readonly bytes: number
      /** CPU time of this process from the first arrival to the last. */
      readonly processorMs: number
    }
  | { readonly type: 'reported'; readonly answers: number; readonly tookMs: number }
  /** Nonce, submission time, and time of the JetStream acknowledgement, each. */
  | {
      readonly type: 'solved'
      readonly solutions: readonly (readonly [string, number, number])[]
      readonly tookMs: number
    }

/** Concurrent connects. */
const AT_ONCE = 50
const ANSWER_MS = 10_000
const SAID = { hashes: 0, rate: 1e7, state: 'searching', reason: null, accepted: 0, refused: 0 } as const
const FIGURES: MemberFigures = SAID

interface LoadRig {
  readonly link: FleetLink
  readonly name: string
  readonly session: string
  readonly source: FleetSource
  job: Job | null
}

const rigs: LoadRig[] = []
const listeners: Socket[] = []
let onJob: () => void = () => undefined
let onHeard: (socket: Socket, bytes: Buffer) => void = answerPing
let server = 0
let troubles = 0
let nonces = 0n
const random = Math.random
const send = (answer: FleetAnswer) => process.send?.(answer)

process.on('message', (order: FleetOrder) => void obey(order))
process.on('disconnect', () => {
  // The suite died without stopping its server.
  if (server !== 0) process.kill(server)
  process.exit(0)
})

async function obey(order: FleetOrder): Promise<void> {
  switch (order.type) {
    case 'join':
      server = order.server
      return void send({ type: 'joined', tookMs: await joinAll(order) })
    case 'troubles':
      return void send({ type: 'troubled', times: troubles })
    case 'listen':
      await listenAll(order)
      return void send({ type: 'listening' })
    case 'expect': {
      const arrived = jobOfEach()
      send({ type: 'expecting' })
      return void send({ type: 'arrived', ...(await arrived) })
    }
    case 'report':
      return void send({ type: 'reported', ...(await reportAll(order.forMs)) })
    case 'solve':
      send({ type: 'solved', ...(await solveAll(order)) })
  }
}

/** Runs `task` for 0 to count - 1 with limited concurrency. */
async function each(count: number, atOnce: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const run = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, run))
}

async function joinAll({ port, fleet, rigs: count, first }: Extract<FleetOrder, { type: 'join' }>): Promise<number> {
  const startMs = performance.now()
  const addresses = [readNatsAddress(`nats://127.0.0.1:${port}`)]
  const options = { addresses, trust: {}, fleet, agent: 'load', clock: systemClock, random }
  await each(count, AT_ONCE, async (index) => {
    const { signal } = new AbortController()
    const link = await FleetLink.open(options, null, signal)
    const [name, session] = [`rig-${first + index}`, `session-of-rig-${first + index}`]
    const about = { rig: name, session, fleet, version: 'load', clock: systemClock, random }
    const source = await FleetSource.join({ link, ...about }, () => undefined, signal)
    source.attach({ figures: () => FIGURES, hashes: () => 0, hold: () => undefined })
    const rig: LoadRig = { link, name, session, source, job: null }
    rigs.push(rig)
    void follow(rig, signal)
  })
  return performance.now() - startMs
}

/** Takes jobs as a rig's miner does. */
async function follow(rig: LoadRig, signal: AbortSignal): Promise<void> {
  const events = { onTrouble: () => troubles++, onRecovered: () => undefined }
  for await (const job of rig.source.jobs(signal, events)) {
    // After a solution there is no job until the next; the load keeps using the same one.
    if (job === null) continue
    rig.job = job
    onJob()
  }
}

function fail(message: string): void {
  process.stderr.write(`a rig of the load: ${message}\n`)
  process.exit(1)
}

async function listenAll({ port, fleet, listeners: count }: Extract<FleetOrder, { type: 'listen' }>): Promise<void> {
  await each(count, AT_ONCE, async () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    listeners.push(socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      let text = ''
      const onData = (bytes: Buffer) => {
        text += bytes.toString('latin1')
        if (!text.includes('PONG\r\n')) return
        socket.off('data', onData).on('data', (later) => onHeard(socket, later))
        resolve()
      }
      socket.on('data', onData)
      socket.write(`CONNECT {"verbose":false}\r\nSUB newcut.${fleet}.job 1\r\nPING\r\n`)
    })
    socket.on('close', () => fail('the server closed the connection of a listener'))
  })
}

/** Resolves when all rigs and listeners have a job. */
function jobOfEach(): Promise<Omit<Extract<FleetAnswer, { type: 'arrived' }>, 'type'>> {
  const rigsMs: number[] = []
  const heardMs = new Map<Socket, number>()
  let bytes = 0
  let first: NodeJS.CpuUsage | undefined
  return new Promise((resolve) => {
    const look = () => {
      if (rigsMs.length < rigs.length || heardMs.size < listeners.length) return
      onJob = () => undefined
      onHeard = answerPing
      const { user, system } = process.cpuUsage(first)
      resolve({ rigsMs, listenersMs: [...heardMs.values()], bytes, processorMs: (user + system) / 1000 })
    }
    onJob = () => {
      first ??= process.cpuUsage()
      rigsMs.push(sharedMs())
      look()
    }
    onHeard = (socket, heard) => {
      if (!heard.includes('MSG ')) return answerPing(socket, heard)
      first ??= process.cpuUsage()
      if (socket === listeners[0]) bytes = heard.length
      heardMs.set(socket, sharedMs())
      look()
    }
  })
}

/** Answers the server's liveness pings. */
function answerPing(socket: Socket, bytes: Buffer): void {
  if (bytes.includes('PING\r\n')) socket.write('PONG\r\n')
}

async function reportAll(forMs: number) {
  const startMs = performance.now()
  let answers = 0
  await Promise.all(
    rigs.map(async ({ link, name, session }) => {
      const report: MemberReport = { session, rig: name, version: 'load', lease: null, seen: null, ...SAID }
      while (performance.now() - startMs < forMs) {
        const { lease } = await link.request(link.subjects.report, report, MemberReportAnswer, ANSWER_MS)
        if (lease === null) fail('it has no lease')
        answers++
      }
    }),
  )
  return { answers, tookMs: performance.now() - startMs }
}

async function solveAll({ solutions: count, atOnce, everyMs }: Extract<FleetOrder, { type: 'solve' }>) {
  const startMs = sharedMs()
  const solutions: (readonly [string, number, number])[] = []
  await each(count, atOnce, async (index) => {
    const waitMs = startMs + index * everyMs - sharedMs()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const { source, job } = rigs[index % rigs.length]
    if (job === null) return fail('it has no job')
    const nonce = (++nonces << BigInt(job.fixedNonce.bits)) | BigInt(job.fixedNonce.value)
    const bytes = withNonce(job.work.bytes, nonce)
    const handedMs = sharedMs()
    const { step } = await source.submit({ job, bytes })
    if (step !== 'acknowledged') fail(`a solution was ${step}`)
    solutions.push([String(nonce), handedMs, sharedMs()])
  })
  return { solutions, tookMs: sharedMs() - startMs }
}
