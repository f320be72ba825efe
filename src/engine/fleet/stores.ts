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
import { knownAsMissing, type Link } from '../../fleet/link.ts'

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

/** How many servers of a cluster keep a copy; undefined: as many as do, one at first. */
export type Replicas = number | undefined

/** The bucket. Throws NewcutError NODE_MISBEHAVED where there is no JetStream, or what NATS throws. */
export function openBucket({ jetstream, subjects }: Link, replicas: Replicas): Promise<KV> {
  return knownAsMissing(async () => {
    const bucket = await new Kvm(jetstream).create(subjects.bucket, { history: 1, replicas: replicas ?? 1 })
    const status = await bucket.status()
    if (replicas !== undefined && status.replicas !== replicas) {
      const manager = await jetstream.jetstreamManager(false)
      await manager.streams.update(status.streamInfo.config.name, { num_replicas: replicas })
    }
    return bucket
  })
}

/** The stream and its consumer. Throws what NATS throws. */
export async function prepareCandidates({ jetstream, subjects }: Link, replicas: Replicas): Promise<void> {
  const manager = await jetstream.jetstreamManager(false)
  await provideStream(manager, subjects.stream, {
    subjects: [subjects.candidate],
    max_age: MAX_AGE_MS * NANOSECONDS,
    max_msgs: MAX_KEPT,
    duplicate_window: TWICE_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  })
  await manager.consumers.add(subjects.stream, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOSECONDS,
    max_ack_pending: MAX_AT_ONCE,
    max_deliver: -1,
  })
}

async function provideStream(manager: JetStreamManager, name: string, wanted: Partial<StreamConfig>): Promise<void> {
  const known = await manager.streams.info(name).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === NO_SUCH_STREAM) return null
    throw error
  })
  if (known === null) {
    await manager.streams.add({ name, storage: StorageType.File, retention: RetentionPolicy.Workqueue, ...wanted })
    return
  }
  const present: Readonly<Record<string, unknown>> = { ...known.config }
  const isOther = Object.entries(wanted).some(([key, value]) => String(present[key]) !== String(value))
  if (isOther) await manager.streams.update(name, wanted)
}
