/** Scripted servers for the rig check, on virtual time: a good one, and the differences of others. */
import type { Socket } from 'node:net'
import { memorySockets } from '../../../bench/rigs/memory-socket.ts'
import { encodeHex } from '../../../src/ground/base/bytes.ts'
import { withCreationTime, withNonce } from '../../../src/ground/chain/header.ts'
import { targetOfShares, targetText } from '../../../src/mining/stratum/targets.ts'
import { judge, type ManufacturerReport } from '../../../src/pool/stratum-check/judge.ts'
import type { MakerName } from '../../../src/pool/stratum-check/maker-rigs.ts'
import { type Manufacturer, makers } from '../../../src/pool/stratum-check/makers.ts'
import { recordTranscript } from '../../../src/pool/stratum-check/recorder.ts'
import type { Transcript } from '../../../src/pool/stratum-check/transcript.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import { freshWork } from '../../support/work.ts'

export interface Asked {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Actions of a scripted server on a request. */
export interface Server {
  /** Sends a raw line or a message. */
  readonly say: (message: object | string) => void
  readonly answer: (asked: Asked, result: unknown, error?: unknown) => void
  readonly notify: (method: string, ...params: readonly unknown[]) => void
  readonly close: () => void
  readonly after: (milliseconds: number, run: () => void) => void
  readonly state: { isSubscribed: boolean; isAuthorized: boolean; jobs: number }
}

export type Script = Readonly<Record<string, (asked: Asked, server: Server) => void>>

export const work = withNonce(freshWork(2n ** 100n), 0n)
/** The work with a creation time this many microseconds later, as hex. */
export const header = (microseconds = 0, of = work) => encodeHex(withCreationTime(of, BigInt(microseconds)))
export const target = targetText(targetOfShares(2 ** 48))

/** Sends target and job once the rig has subscribed and authorized. */
export function begin(server: Server): void {
  const { isSubscribed, isAuthorized, jobs } = server.state
  if (!isSubscribed || !isAuthorized || jobs > 0) return
  server.notify('mining.set_target', target)
  server.notify('mining.notify', (++server.state.jobs).toString(16), header(), true)
}

/** A correct server. `other` handles every unknown method. */
export const good: Script = {
  'mining.subscribe': (asked, server) => {
    server.answer(asked, [null, '09e8', 6])
    server.state.isSubscribed = true
    begin(server)
  },
  'mining.authorize': (asked, server) => {
    server.answer(asked, true)
    server.state.isAuthorized = true
    begin(server)
  },
  other: (asked, { answer }) => {
    if (asked.id !== null) answer(asked, false, [-32601, 'no such method', null])
  },
}

/** Serves one connection. */
export function serve(socket: Socket, clock: VirtualClock, script: Script): void {
  let rest = ''
  let isClosed = false
  const say = (message: object | string) => {
    if (!isClosed && !socket.destroyed)
      socket.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`)
  }
  const server: Server = {
    say,
    answer: ({ id }, result, error = null) => say({ id, result, error }),
    notify: (method, ...params) => say({ id: null, method, params }),
    close: () => {
      isClosed = true
      socket.end()
    },
    after: (milliseconds, run) => void clock.after(milliseconds, run),
    state: { isSubscribed: false, isAuthorized: false, jobs: 0 },
  }
  socket.on('error', () => undefined)
  socket.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const asked: Asked = JSON.parse(line)
      const handler = script[asked.method] ?? script.other
      handler(asked, server)
    }
  })
}

export const makerOf = (name: MakerName): Manufacturer => makers.find((each) => each.name === name) as Manufacturer
export const account = { user: 'k:abc.check', password: 'x' }

export interface Times {
  readonly timeoutMs?: number
  readonly listenMs?: number
  readonly isTls?: boolean
}

/** The transcript of a log-in by a rig of this maker. */
export async function transcriptOf(name: MakerName, script: Script, times: Times = {}): Promise<Transcript> {
  const { timeoutMs = 30_000, listenMs = 0 } = times
  const clock = new VirtualClock()
  const { rig, server } = memorySockets()
  serve(server, clock, script)
  const stopped = new AbortController().signal
  const said = recordTranscript(makerOf(name), { socket: rig, clock, account, timeoutMs, listenMs, stopped })
  await clock.pass(5 * timeoutMs + listenMs)
  return said
}

/** The report on that transcript. */
export async function reportOf(name: MakerName, script: Script, times: Times = {}): Promise<ManufacturerReport> {
  const { timeoutMs = 30_000, listenMs = 0, isTls = false } = times
  const transcript = await transcriptOf(name, script, times)
  return judge(makerOf(name), account, transcript, { isTls, timeoutMs, isMeasured: listenMs > 0 })
}
