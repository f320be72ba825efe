/**
 * JetStream stores of a fleet: a stream of candidates for the leader, and a bucket with the leader and the paused rigs.
 * A leader creates missing stores. A store with the right configuration is only read, because creating or updating one
 * needs the cluster's meta leader. A cluster may lack that for seconds while existing streams work.
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
import type { FleetLink } from './link.ts'

/** Nodes drop work after five minutes (PROTOCOL.md A.1), so older candidates are useless. */
const MAX_AGE_MS = 300_000
/** JetStream redelivers a candidate after this time without a sign of progress from the leader. */
const ACK_WAIT_MS = 2_000
/** Window for deduplication of resent candidates. */
const DEDUPLICATION_MS = 60_000
/** Maximum number of stored candidates, against a flood at a trivial difficulty. */
const MAX_CANDIDATES = 100_000
/** Maximum number of candidates that a leader handles at once: JetStream delivers no more before an answer. */
export const MAX_AT_ONCE = 1_000
/** Name of the consumer shared by all leaders. */
export const CONSUMER = 'leader'
/** Number of copies in a cluster; undefined keeps the current number, or 1 for a new fleet. */
export type Replicas = number | undefined

/** Nanoseconds per millisecond. */
export const NANOSECONDS = 1e6
/** JetStream error codes for a missing stream and a missing consumer. */
const MISSING: readonly number[] = [10_059, 10_014]
/** JetStream error code while the cluster has no meta leader for changes. */
const UNAVAILABLE = 10_008

/** JetStream error codes for a write with an outdated revision. */
const WRONG_REVISION: readonly number[] = [10_071, 10_164]

/** True if another client has changed the entry meanwhile. */
export const isWrongRevision = (error: unknown) =>
  error instanceof JetStreamApiError && WRONG_REVISION.includes(error.code)

/** Options of both stores. If JetStream refuses an update, the existing configuration stays in use. */
export interface StoreOptions {
  readonly link: FleetLink
  readonly replicas: Replicas
  /** Called when an update is refused. */
  readonly onWarning: (message: string) => void
}

/**
 * Opens or creates the bucket.
 * @throws NewcutError NODE_MISBEHAVED if there is no JetStream, or an error of the NATS client
 */
export function openBucket({ link, replicas, onWarning }: StoreOptions): Promise<KV> {
  const { jetstream, subjects } = link
  return link.callJetStream(async () => {
    const manager = await jetstream.jetstreamManager(false)
    const { streams } = manager
    const readConfig = () => unlessMissing(async () => (await streams.info(`KV_${subjects.bucket}`)).config)
    const buckets = new Kvm(jetstream)
    let config = await readConfig()
    if (config === null) {
      try {
        return await buckets.create(subjects.bucket, { history: 1, replicas: replicas ?? 1 })
      } catch (error) {
        // Another leader may have created it meanwhile.
        config = await readConfig()
        if (config === null) throw error
      }
    }
    await updateStream(manager, config, replicas === undefined ? {} : { num_replicas: replicas }, onWarning)
    return buckets.open(subjects.bucket, { allow_direct: config.allow_direct === true })
  })
}

/**
 * Creates or updates the stream of candidates and its consumer.
 * @throws an error of the NATS client
 */
export async function prepareCandidates({ link, replicas, onWarning }: StoreOptions): Promise<void> {
  const { jetstream, subjects } = link
  const manager = await jetstream.jetstreamManager(false)
  const wanted = {
    subjects: [subjects.candidate],
    max_age: MAX_AGE_MS * NANOSECONDS,
    max_msgs: MAX_CANDIDATES,
    duplicate_window: DEDUPLICATION_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
  const fixed = { name: subjects.stream, storage: StorageType.File, retention: RetentionPolicy.Workqueue }
  const known =
    (await unlessMissing(async () => (await manager.streams.info(subjects.stream)).config)) ??
    (await createStream(manager, { ...fixed, ...wanted }))
  if (known !== null) await updateStream(manager, known, wanted, onWarning)
  const consumer = {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: ACK_WAIT_MS * NANOSECONDS,
    max_ack_pending: MAX_AT_ONCE,
    max_deliver: -1,
  }
  const present = await unlessMissing(async () => (await manager.consumers.info(subjects.stream, CONSUMER)).config)
  if (present === null || differencesOf(consumer, present).length > 0)
    await manager.consumers.add(subjects.stream, consumer)
}

/**
 * Creates a missing stream.
 * @returns the configuration of a stream of that name that another process has created meanwhile, or null
 * @throws JetStreamApiError if the server refuses the stream
 */
export async function createStream(
  { streams }: JetStreamManager,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<StreamConfig | null> {
  try {
    await streams.add(config)
    return null
  } catch (error) {
    const other = await unlessMissing(async () => (await streams.info(config.name)).config)
    if (other === null) throw error
    return other
  }
}

/** @returns null if the stream or consumer does not exist */
export async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof JetStreamApiError && MISSING.includes(error.code)) return null
    throw error
  }
}

/** Entries of `wanted` that differ in `present`. */
function differencesOf(wanted: object, present: object): [string, unknown][] {
  const values: Readonly<Record<string, unknown>> = { ...present }
  return Object.entries(wanted).filter(([key, value]) => String(values[key]) !== String(value))
}

/** Updates settings that differ from `wanted`. A cluster without one of its servers refuses and keeps its settings. */
export async function updateStream(
  manager: JetStreamManager,
  config: StreamConfig,
  wanted: Partial<StreamConfig>,
  onWarning: (message: string) => void,
): Promise<void> {
  const other = differencesOf(wanted, config)
  if (other.length === 0) return
  try {
    await manager.streams.update(config.name, wanted)
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code === UNAVAILABLE) throw error
    const changes = other.map(([key, value]) => `${key} ${value}`).join(', ')
    onWarning(`${config.name} stays as it is, without ${changes}: ${error.message}`)
  }
}
