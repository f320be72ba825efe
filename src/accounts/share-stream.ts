/** The stream of JetStream that keeps the shares of a fleet. */
import { JetStreamApiError, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { NewcutError } from '../core/errors.ts'
import type { Link } from '../fleet/link.ts'
import { adapt, NANOSECONDS, type Replicas, unlessMissing } from '../fleet/stores.ts'

/** Shares are kept for so long. */
const KEPT_MS = 30 * 86_400_000
/** And no more than this: then the oldest go. */
const MAX_BYTES = 4 * 2 ** 30
/** A share that is handed to JetStream again within this time is kept once. */
export const TWICE_MS = 15 * 60_000
/** The server has less room than that. */
const NO_ROOM: readonly number[] = [10_047, 10_028]

export interface ShareStreamOptions {
  readonly link: Link
  readonly replicas?: Replicas
  /** Something could not be changed. */
  readonly onWarning: (message: string) => void
  /** Bytes; default: 4 GiB. */
  readonly maxBytes?: number
}

/** Makes the stream where it is missing. Throws NewcutError DATA_UNUSABLE where there is no room, or what NATS throws. */
export async function prepareShares(options: ShareStreamOptions): Promise<void> {
  const { link, replicas, onWarning, maxBytes = MAX_BYTES } = options
  const { streams } = await link.jetstream.jetstreamManager(false)
  const { share, unshared, shares: name } = link.subjects
  const wanted = {
    subjects: [share, unshared],
    max_age: KEPT_MS * NANOSECONDS,
    duplicate_window: TWICE_MS * NANOSECONDS,
    ...(replicas !== undefined && { num_replicas: replicas }),
  }
  const known = await unlessMissing(async () => (await streams.info(name)).config)
  if (known !== null) {
    await adapt(await link.jetstream.jetstreamManager(false), known, wanted, onWarning)
    return
  }
  // Whoever runs the server may have changed its size since.
  const fixed = { name, storage: StorageType.File, retention: RetentionPolicy.Limits, max_bytes: maxBytes }
  try {
    await streams.add({ ...fixed, ...wanted })
  } catch (error) {
    if (!(error instanceof JetStreamApiError && NO_ROOM.includes(error.code))) throw error
    const message = `the NATS server has no room for ${maxBytes} bytes of shares: ${error.message}`
    throw new NewcutError('DATA_UNUSABLE', message, { hint: 'raise max_file_store in its configuration', cause: error })
  }
}
