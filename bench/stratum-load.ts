/** Load process of the suite `stratum`: many rigs, each a socket with prepared answers. */
import { connect, type Socket } from 'node:net'
import { requestLine } from '../src/mining/stratum/messages.ts'
import { sharedMs } from './shared-clock.ts'

/** Orders of the suite. */
export type LoadOrder =
  /** Let this many rigs log in and wait for their first job. */
  | { readonly type: 'connect'; readonly port: number; readonly sessions: number }
  /** Report when each rig, or every n-th rig, has its next job. The others read theirs afterwards. */
  | { readonly type: 'expect'; readonly oneIn: number }
  /** Let each rig submit this many shares of its newest job, with unused nonces. */
  | { readonly type: 'submit'; readonly shares: number }

export type LoadAnswer =
  | { readonly type: 'connected'; readonly tookMs: number }
  /** The load is waiting. */
  | { readonly type: 'expecting' }
  /** Times on the shared clock. */
  | { readonly type: 'arrived'; readonly atMs: readonly number[] }
  | { readonly type: 'answered'; readonly tookMs: number }

/** Concurrent connects. */
const AT_ONCE = 100
const NEWLINE = 0x0a
const NOTIFY = '"mining.notify","params":["'

interface LoadRig {
  readonly socket: Socket
  job: string
  nonce2: number
  /** Outstanding answers. */
  awaited: number
}

/** Receive buffer for all sockets: Node's streams would cost more than the rest of the load. */
const received = Buffer.alloc(2 ** 16)
const rigs: LoadRig[] = []
let onJob: (rig: LoadRig) => void = () => undefined
let onAnswers: () => void = () => undefined
const send = (answer: LoadAnswer) => process.send?.(answer)

process.on('message', async (order: LoadOrder) => {
  if (order.type === 'connect') send({ type: 'connected', tookMs: await connectAll(order.port, order.sessions) })
  else if (order.type === 'expect') {
    // Take as many rigs from the start of the write order as from its end.
    const others = rigs.filter((_, index) => index % order.oneIn !== 0)
    for (const { socket } of others) socket.pause()
    const arrived = jobOfEach(rigs.length - others.length)
    send({ type: 'expecting' })
    const atMs = await arrived
    if (others.length > 0) {
      const rest = jobOfEach(others.length)
      for (const { socket } of others) socket.resume()
      await rest
    }
    send({ type: 'arrived', atMs })
  } else send({ type: 'answered', tookMs: await submitAll(order.shares) })
})
process.on('disconnect', () => process.exit(0))

/** Resolves with the arrival times when this many rigs have a job. */
function jobOfEach(count: number): Promise<number[]> {
  const atMs: number[] = []
  return new Promise((resolve) => {
    onJob = () => {
      if (atMs.push(sharedMs()) === count) resolve(atMs)
    }
  })
}

async function connectAll(port: number, sessions: number): Promise<number> {
  const startMs = performance.now()
  const jobs = jobOfEach(sessions)
  for (let first = 0; first < sessions; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, sessions - first)
    await Promise.all(Array.from({ length: count }, (_, index) => connectOne(port, first + index)))
  }
  await jobs
  return performance.now() - startMs
}

function connectOne(port: number, index: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const callback = (length: number) => {
      read(rig, received.subarray(0, length))
      return true
    }
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread: { buffer: received, callback } })
    const rig: LoadRig = { socket, job: '', nonce2: 0, awaited: 0 }
    rigs.push(rig)
    socket.once('error', reject)
    socket.on('close', () => process.exit(1))
    socket.once('connect', () => {
      socket.write(requestLine(1, 'mining.subscribe', ['load/1', null]))
      socket.write(requestLine(2, 'mining.authorize', [`k:abc.${index}`, 'x']))
      resolve()
    })
  })
}

/** A job arrives in one piece, because its line is shorter than a loopback segment. */
function read(rig: LoadRig, bytes: Buffer): void {
  const at = bytes.indexOf(NOTIFY)
  if (at >= 0) {
    rig.job = bytes.toString('latin1', at + NOTIFY.length, bytes.indexOf('"', at + NOTIFY.length))
    onJob(rig)
    if (rig.awaited === 0) return
    // Answers may arrive in the same piece.
    const lines = bytes.toString('latin1').split('\n').slice(0, -1)
    rig.awaited -= lines.filter((line) => !line.includes('"method"')).length
    if (rig.awaited === 0) onAnswers()
    return
  }
  if (rig.awaited === 0) return
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) rig.awaited--
  if (rig.awaited === 0) onAnswers()
}

async function submitAll(shares: number): Promise<number> {
  const texts = rigs.map((rig) => {
    const lines: string[] = []
    for (let i = 0; i < shares; i++) {
      const nonce2 = (rig.nonce2++).toString(16).padStart(12, '0')
      lines.push(requestLine(i, 'mining.submit', ['k:abc.load', rig.job, nonce2]))
    }
    return lines.join('')
  })
  const startMs = performance.now()
  let waiting = rigs.length
  const answered = new Promise<void>((resolve) => {
    onAnswers = () => {
      if (--waiting === 0) resolve()
    }
  })
  for (const [index, rig] of rigs.entries()) {
    rig.awaited = shares
    rig.socket.write(texts[index])
  }
  await answered
  return performance.now() - startMs
}
