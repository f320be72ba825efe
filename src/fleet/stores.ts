/**
 * What a fleet keeps in JetStream: candidates, in a stream from which a leader takes them, and who leads and who is paused,
 * in a bucket. Both are made when a leader finds them missing. What is there as it should be is only read: to make or to
 * change something a cluster needs a leader over all its streams, and may lack it for seconds while these work.
 */
import {
  AckPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import type { Link } from './link.ts'

/** Nodes forget work after five minutes (PROTOCOL.md A.1): what is older is of no use. */
const MAX_AGE_MS = 300_000
/** A candidate that its leader does not say it works on goes to another one after this time. */
const ACK_WAIT_MS = 2_000
/** The same candidate, sent again within this time, is kept once. */
const TWICE_MS = 60_000
const MAX_KEPT = 100_000
/** Candidates that a leader works on at a time. */
export const MAX_AT_ONCE = 1_000
/** Name of the consumer that all leaders share. */
export const CONSUMER = 'leader'
/** How many servers of a cluster keep a copy; undefined: the number stays as it is, and is 1 for a new fleet. */
export type Replicas = number | undefined

/** Nanoseconds of a millisecond. */
export const NANOSECONDS = 1e6
/** What JetStream answers where there is no such stream, and no such consumer. */
const MISSING: readonly number[] = [10_059, 10_014]
/** What it answers while it lacks the leader that could make or change something. */
const UNAVAILABLE = 10_008

/** What JetStream answers to a write that names another revision than the present one. */
const WRONG_REVISION: readonly number[] = [10_071, 10_164]

/** Whether another one has written the entry meanwhile. */
export const isWrongRevision = (error: unknown) =>
  error instanceof JetStreamApiError && WRONG_REVISION.includes(error.code)

/** What is there is used as it is when it cannot be changed. */
export interface StoreOptions {
  readonly link: Link
  readonly replicas: Replicas
  /** Something could not be changed. */
  readonly onWarning: (message: string) => void
}

/** The bucket. Throws NewcutError NODE_MISBEHAVED where there is no JetStream, or what NATS throws. */
export function openBucket({ link, replicas, onWarning }: StoreOptions): Promise<KV> {
  const { jetstream, subjects } = link
  return link.knownAsMissing(async () => {
    const manager = await jetstream.jetstreamManager(false)
    const { streams } = manager
    const config = await unlessMissing(async () => (await streams.info(`KV_${subjects.bucket}`)).config)
    const buckets = new Kvm(jetstream)
    if (config === null) return buckets.create(subjects.bucket, { history: 1, replicas: replicas ?? 1 })
    await adapt(manager, config, replicas === undefined ? {} : { num_replicas: replicas }, onWarning)
    return buckets.open(subjects.bucket, { allow_direct: config.allow_direct === true })
  })
}

/** The stream and its consumer. Throws what NATS throws. */
export async function prepareCandidates({ link, replicas, onWarning }: StoreOptions): Promise<void> {
  const { jetstream, subjects } = link
  const manager = await jetstream.jetstreamManager(false)
  const wanted = {
    subjects: [subjects.candidate],
    max_age: MAX_AGE_MS * NANOSECONDS,
    max_msgs: MAX_KEPT,
    duplicate_window: TWICE_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
  const known = await unlessMissing(async () => (await manager.streams.info(subjects.stream)).config)
  if (known !== null) await adapt(manager, known, wanted, onWarning)
  else {
    const fixed = { name: subjects.stream, storage: StorageType.File, retention: RetentionPolicy.Workqueue }
    await manager.streams.add({ ...fixed, ...wanted })
  }
  const consumer = {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOSECONDS,
    max_ack_pending: MAX_AT_ONCE,
    max_deliver: -1,
  }
  const present = await unlessMissing(async () => (await manager.consumers.info(subjects.stream, CONSUMER)).config)
  if (present === null || othersOf(consumer, present).length > 0) await manager.consumers.add(subjects.stream, consumer)
}

/** null: there is no such thing. */
export async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof JetStreamApiError && MISSING.includes(error.code)) return null
    throw error
  }
}

/** The entries of `wanted` that are other in `present`. */
export function othersOf(wanted: object, present: object): [string, unknown][] {
  const values: Readonly<Record<string, unknown>> = { ...present }
  return Object.entries(wanted).filter(([key, value]) => String(values[key]) !== String(value))
}

/** Changes what is other than wanted. A cluster that lacks a server refuses, and keeps what it has. */
export async function adapt(
  manager: JetStreamManager,
  config: StreamConfig,
  wanted: Partial<StreamConfig>,
  onWarning: (message: string) => void,
): Promise<void> {
  const other = othersOf(wanted, config)
  if (other.length === 0) return
  try {
    await manager.streams.update(config.name, wanted)
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code === UNAVAILABLE) throw error
    const changes = other.map(([key, value]) => `${key} ${value}`).join(', ')
    onWarning(`${config.name} stays as it is, without ${changes}: ${error.message}`)
  }
}
