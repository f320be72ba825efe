/**
 * What a fleet keeps in JetStream: candidates, in a stream from which a leader takes them, and who leads and who is paused,
 * in a bucket. Both are made when a leader finds them missing.
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
import type { Link } from '../../fleet/link.ts'

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
const NANOSECONDS = 1e6
/** What JetStream answers where there is no such stream. */
const NO_SUCH_STREAM = 10059

/** What JetStream answers to a write that names another revision than the present one. */
const WRONG_REVISION: readonly number[] = [10_071, 10_164]

/** Whether another one has written the entry meanwhile. */
export const isWrongRevision = (error: unknown) =>
  error instanceof JetStreamApiError && WRONG_REVISION.includes(error.code)

/** How many servers of a cluster keep a copy; undefined: the number stays as it is, and is 1 for a new fleet. */
export type Replicas = number | undefined

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
    const bucket = await new Kvm(jetstream).create(subjects.bucket, { history: 1, replicas: replicas ?? 1 })
    const { streamInfo } = await bucket.status()
    const manager = await jetstream.jetstreamManager(false)
    await adapt(manager, streamInfo.config, replicas === undefined ? {} : { num_replicas: replicas }, onWarning)
    return bucket
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
  const known = await configOf(manager, subjects.stream)
  if (known !== null) await adapt(manager, known, wanted, onWarning)
  else {
    const fixed = { name: subjects.stream, storage: StorageType.File, retention: RetentionPolicy.Workqueue }
    await manager.streams.add({ ...fixed, ...wanted })
  }
  await manager.consumers.add(subjects.stream, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOSECONDS,
    max_ack_pending: MAX_AT_ONCE,
    max_deliver: -1,
  })
}

/** null: there is no such stream. */
async function configOf(manager: JetStreamManager, name: string): Promise<StreamConfig | null> {
  try {
    return (await manager.streams.info(name)).config
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === NO_SUCH_STREAM) return null
    throw error
  }
}

/** Changes what is other than wanted. A cluster that lacks a server refuses, and keeps what it has. */
async function adapt(
  manager: JetStreamManager,
  config: StreamConfig,
  wanted: Partial<StreamConfig>,
  onWarning: StoreOptions['onWarning'],
): Promise<void> {
  const present: Readonly<Record<string, unknown>> = { ...config }
  const other = Object.entries(wanted).filter(([key, value]) => String(present[key]) !== String(value))
  if (other.length === 0) return
  try {
    await manager.streams.update(config.name, wanted)
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error
    const changes = other.map(([key, value]) => `${key} ${value}`).join(', ')
    onWarning(`${config.name} stays as it is, without ${changes}: ${error.message}`)
  }
}
