/** The JetStream stream for the shares of a fleet. */
import { JetStreamApiError, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { NewcutError } from '../base/errors.ts'
import type { Link } from '../fleet/link.ts'
import { adapt, createStream, NANOSECONDS, type Replicas, unlessMissing } from '../fleet/stores.ts'

/** Retention time of shares. */
const KEPT_MS = 30 * 86_400_000
/** Maximum size; beyond it the oldest shares are deleted. */
const MAX_BYTES = 4 * 2 ** 30
/** JetStream stores a share once if it is repeated within this time. */
export const TWICE_MS = 15 * 60_000
/** JetStream error codes for insufficient storage. */
const NO_ROOM: readonly number[] = [10_047, 10_028]

export interface ShareStreamOptions {
  readonly link: Link
  readonly replicas?: Replicas
  /** Called if the configuration of an existing stream cannot be changed. */
  readonly onWarning: (message: string) => void
  /** Bytes. Default: 4 GiB. */
  readonly maxBytes?: number
}

/**
 * Creates the stream if it is missing, and adapts the configuration of an existing one.
 * @throws NewcutError DATA_UNUSABLE if there is no room, and errors of NATS
 */
export async function prepareShares(options: ShareStreamOptions): Promise<void> {
  const { link, replicas, onWarning, maxBytes = MAX_BYTES } = options
  const manager = await link.jetstream.jetstreamManager(false)
  const { share, unshared, shares: name } = link.subjects
  const wanted = {
    subjects: [share, unshared],
    max_age: KEPT_MS * NANOSECONDS,
    duplicate_window: TWICE_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
  // The size applies only to a new stream: the operator of the server may have changed it.
  const fixed = { name, storage: StorageType.File, retention: RetentionPolicy.Limits, max_bytes: maxBytes }
  try {
    const known =
      (await unlessMissing(async () => (await manager.streams.info(name)).config)) ??
      (await createStream(manager, { ...fixed, ...wanted }))
    if (known !== null) await adapt(manager, known, wanted, onWarning)
  } catch (error) {
    if (!(error instanceof JetStreamApiError && NO_ROOM.includes(error.code))) throw error
    const message = `the NATS server has no room for ${maxBytes} bytes of shares: ${error.message}`
    throw new NewcutError('DATA_UNUSABLE', message, { hint: 'raise max_file_store in its configuration', cause: error })
  }
}
