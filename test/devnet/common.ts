/** Shared parts of the tests of the embedded node's HTTP interface. */
import { afterAll, expect, onTestFinished } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import type { Addition } from '../../src/devnet/rules/chains.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import type { WorkFields } from '../../src/ground/chain/header.ts'
import { nodeReleases } from '../../src/ground/schema/devnet-modes.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'
import { type Answer, Peer, type RequestOptions } from './request.ts'
import { type Devnet, type DevnetOptions, startDevnet } from './whole-node.ts'

export const PREFIX = '/chainweb/0.0/development'
export const TEXT = 'text/plain;charset=utf-8'
export const JSON_TYPE = 'application/json;charset=utf-8'
export const OBJECTS = 'application/json;blockheader-encoding=object'
export const BINARY = 'application/octet-stream'

const START_MS = Date.now()
const MAX_SET_BACK_S = 60
/** A machine adjusts its clock in small steps; a step back may cross a second. */
const STEP_S = 1

/** Checks the headers that every response carries, whatever its status. `sentMs` is a time before it was sent. */
export function expectCommonHeaders(
  { headers, from }: Pick<Answer, 'headers' | 'from'>,
  product = 'chainweb',
  sentMs = START_MS,
): void {
  expect(headers['x-peer-addr']).toBe(from)
  expect(nodeReleases).toContain(headers[`x-${product}-node-version`])
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['x-server-timestamp']).toMatch(/^\d{10}$/)
  const seconds = Number(headers['x-server-timestamp'])
  expect(seconds).toBeGreaterThanOrEqual(Math.floor(sentMs / 1000) - STEP_S)
  // A node keeps its time if the machine's clock is set back.
  expect(seconds).toBeLessThanOrEqual(Date.now() / 1000 + MAX_SET_BACK_S)
}

/** An HTTP client that checks the common headers of every answer. */
export class CheckedPeer extends Peer {
  override async request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    const askedMs = Date.now()
    const answer = await super.request(method, path, options)
    expectCommonHeaders(answer, 'chainweb', askedMs)
    return answer
  }
}

/** Status, content type and body as text. */
export function brief({ status, headers, body }: Answer): [number, string | undefined, string] {
  return [status, headers['content-type'], body.toString()]
}

export const jsonOf = ({ body }: Answer) => JSON.parse(body.toString())

export interface Started {
  readonly devnet: Devnet
  readonly peer: CheckedPeer
  /** The results of all accepted submissions. */
  readonly additions: Addition[]
}

/** A clock with the real time of day, whose timers run only when the test passes `time`. */
export interface ClockByHand {
  readonly time: VirtualClock
  readonly clock: Clock
  /** The number of pending timers with this delay. */
  readonly waiting: (delayMs: number) => number
}

export function clockByHand(): ClockByHand {
  const time = new VirtualClock()
  const delays = new Map<number, number>()
  const count = (delayMs: number, change: number) => delays.set(delayMs, (delays.get(delayMs) ?? 0) + change)
  const after: Clock['after'] = (delayMs, run) => {
    let isOver = false
    const end = () => {
      if (!isOver) count(delayMs, -1)
      isOver = true
    }
    count(delayMs, 1)
    const cancel = time.after(delayMs, () => {
      end()
      run()
    })
    return () => {
      end()
      cancel()
    }
  }
  return { time, clock: { ...time, wallMs: Date.now, after }, waiting: (delayMs) => delays.get(delayMs) ?? 0 }
}

/** A machine whose blocks wait for each command, however slow its threads are. */
export const PATIENT: Partial<HostMachine> = { commandWaitMs: 60_000 }

/** A node with low difficulty on a free port, for one test. */
export async function start(options: DevnetOptions = {}, machine: Partial<HostMachine> = {}): Promise<Started> {
  const started = await begin(options, machine)
  onTestFinished(() => end(started))
  return started
}

/**
 * One such node for all tests of a file, or of a group in it. It starts when the first test calls the returned function,
 * and closes after the last test.
 * @param prepare runs once, before the first test has the node
 */
export function sharedNode(
  options: DevnetOptions = {},
  machine: Partial<HostMachine> = {},
  prepare: (started: Started) => Promise<void> = async () => undefined,
): () => Promise<Started> {
  let starting: Promise<Started> | undefined
  const prepared = async () => {
    const started = await begin(options, machine)
    await prepare(started)
    return started
  }
  afterAll(async () => {
    if (starting !== undefined) await end(await starting)
  })
  return () => {
    starting ??= prepared()
    return starting
  }
}

async function begin(options: DevnetOptions, machine: Partial<HostMachine>): Promise<Started> {
  const additions: Addition[] = []
  const onSolved = (_header: WorkFields, addition: Addition) => void additions.push(addition)
  const devnet = await startDevnet({ port: 0, difficulty: 20n, onSolved, ...options }, machine)
  return { devnet, peer: new CheckedPeer(devnet.url), additions }
}

async function end({ devnet, peer }: Started): Promise<void> {
  peer.close()
  await devnet.close()
}
