/** The JetStream stream for the shares of a fleet. */
import { JetStreamApiError, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { operatingError } from '#ground/base/errors.ts'
import type { FleetLink } from '../fleet/link.ts'
import { createStream, NANOSECONDS, type Replicas, unlessMissing, updateStream } from '../fleet/stores.ts'
import { shareErrors } from './errors.ts'

/** Retention time of shares. */
const RETENTION_MS = 30 * 86_400_000
/** Maximum size; beyond it the oldest shares are deleted. A server reserves it, and refuses what it does not have. */
const MAX_BYTES = 4 * 2 ** 30
/** Smallest size that is tried, some 200,000 shares. */
const MIN_BYTES = 2 ** 26
/** JetStream stores a share once if it is repeated within this time. */
export const DUPLICATE_WINDOW_MS = 15 * 60_000
/** JetStream error codes for insufficient storage. */
const NO_ROOM: readonly number[] = [10_047, 10_028, 10_023]
/** JetStream error code of a cluster without servers for a stream, for storage or another reason. */
const NO_PEERS = 10_005

export interface ShareStreamOptions {
  readonly link: FleetLink
  readonly replicas?: Replicas
  /** Called if the configuration of an existing stream cannot be changed. */
  readonly onWarning: (message: string) => void
  /** Bytes. Default: 4 GiB, or the largest part of it, by powers of two, that the server has room for. */
  readonly maxBytes?: number
}

/**
 * Creates the stream if it is missing, and adapts the configuration of an existing one. Warns about a new stream that is
 * smaller than usual.
 * @throws NewcutError DATA_UNUSABLE if there is no room, and errors of NATS
 */
export async function prepareShares(options: ShareStreamOptions): Promise<void> {
  const { link, replicas, onWarning } = options
  const manager = await link.jetstream.jetstreamManager(false)
  const { share, unshared, shares: name } = link.subjects
  const wanted = {
    subjects: [share, unshared],
    max_age: RETENTION_MS * NANOSECONDS,
    duplicate_window: DUPLICATE_WINDOW_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
  // The size applies only to a new stream: the operator of the server may have changed it.
  const fixed = { name, storage: StorageType.File, retention: RetentionPolicy.Limits }
  const known =
    (await unlessMissing(async () => (await manager.streams.info(name)).config)) ??
    (await createWithRoom(options, (bytes) => createStream(manager, { ...fixed, ...wanted, max_bytes: bytes })))
  if (known !== null) await updateStream(manager, known, wanted, onWarning)
}

/** Creates the stream with the largest size that the server has room for. */
async function createWithRoom<T>(
  { link, onWarning, maxBytes }: ShareStreamOptions,
  create: (bytes: number) => Promise<T>,
): Promise<T> {
  const { shares: name } = link.subjects
  const [first, last] = maxBytes === undefined ? [MAX_BYTES, MIN_BYTES] : [maxBytes, maxBytes]
  for (let bytes = first; ; bytes /= 2) {
    try {
      const created = await create(bytes)
      if (bytes < first) onWarning(`${name} holds ${mebibytes(bytes)} of shares, not ${mebibytes(first)}: ${LESS_ROOM}`)
      return created
    } catch (error) {
      if (!isNoRoom(error)) throw error
      if (bytes > last) continue
      throw operatingError(shareErrors.noRoomInFleet, { bytes, stream: name, why: error.message }, error)
    }
  }
}

const isNoRoom = (error: unknown): error is JetStreamApiError =>
  error instanceof JetStreamApiError &&
  (NO_ROOM.includes(error.code) || (error.code === NO_PEERS && error.message.includes('storage')))

const LESS_ROOM =
  'the NATS server has no more room (max_file_store). When it is full, the oldest shares are deleted: pay before that'
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`
