/** The load of the suite `stratum`, in a process of its own: many rigs, each a socket, that know the answers by heart. */
import { connect, type Socket } from 'node:net'
import { requestLine } from '../src/stratum/messages.ts'
import { sharedMs } from './shared-clock.ts'

/** The load that the suite orders. */
export type LoadOrder =
  /** So many rigs subscribe and authorize, and wait for their first job. */
  | { readonly type: 'connect'; readonly port: number; readonly sessions: number }
  /** Tell when each rig, or one in so many, has got its next job. The others read theirs only after that. */
  | { readonly type: 'expect'; readonly oneIn: number }
  /** Each rig hands in so many shares of its newest job, with nonces that it has not used before. */
  | { readonly type: 'submit'; readonly shares: number }

export type LoadAnswer =
  | { readonly type: 'connected'; readonly tookMs: number }
  /** It waits from now on. */
  | { readonly type: 'expecting' }
  /** Times on the clock that all processes share. */
  | { readonly type: 'arrived'; readonly atMs: readonly number[] }
  | { readonly type: 'answered'; readonly tookMs: number }

/** Rigs that are connecting at the same time. */
const AT_ONCE = 100
const NEWLINE = 0x0a
const NOTIFY = '"mining.notify","params":["'

interface LoadRig {
  readonly socket: Socket
  job: string
  nonce2: number
  /** Answers that are still to come. */
  awaited: number
}

/** What a socket has received, for all of them: streams of their own would take longer than the rest of the load. */
const received = Buffer.alloc(2 ** 16)
const rigs: LoadRig[] = []
let onJob: (rig: LoadRig) => void = () => undefined
let onAnswers: () => void = () => undefined
const send = (answer: LoadAnswer) => process.send?.(answer)

process.on('message', async (order: LoadOrder) => {
  if (order.type === 'connect') send({ type: 'connected', tookMs: await connectAll(order.port, order.sessions) })
  else if (order.type === 'expect') {
    // As many from the first that are written to as from the last.
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

/** Resolves with the times, when so many rigs have got a job. */
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
  const all = jobOfEach(sessions)
  for (let first = 0; first < sessions; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, sessions - first)
    await Promise.all(Array.from({ length: count }, (_, index) => connectOne(port, first + index)))
  }
  await all
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

/** A job comes in one piece: its line is shorter than a segment of loopback. */
function read(rig: LoadRig, bytes: Buffer): void {
  const at = bytes.indexOf(NOTIFY)
  if (at >= 0) {
    rig.job = bytes.toString('latin1', at + NOTIFY.length, bytes.indexOf('"', at + NOTIFY.length))
    onJob(rig)
    if (rig.awaited === 0) return
    // Answers may come in the same piece.
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
