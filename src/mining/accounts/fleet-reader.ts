/** Reads the share log of a fleet from outside the fleet. */
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { FleetLink, type LinkOptions } from '../fleet/link.ts'
import { shareErrors } from './errors.ts'
import { ShareLog } from './jetstream-log.ts'
import type { RefusedShares, ShareEntry, ShareReader, TimeRange } from './share-store.ts'

interface FleetReaderOptions extends LinkOptions {
  /** Called for messages that are not shares. */
  readonly onWarning: (message: string) => void
}

export class FleetShareReader implements ShareReader {
  readonly #link: FleetLink
  readonly #log: ShareLog

  private constructor(link: FleetLink, log: ShareLog) {
    this.#link = link
    this.#log = log
  }

  /** @throws NewcutError BAD_INPUT if the fleet has no share log, and the errors of Link and NATS */
  static async open(options: FleetReaderOptions, stopped: AbortSignal): Promise<FleetShareReader> {
    const link = await FleetLink.open(options, null, stopped)
    // Closing the connection ends all waits for NATS.
    stopped.addEventListener('abort', () => void link.close(), { once: true })
    try {
      const log = new ShareLog(link, options.onWarning)
      if (await link.callJetStream(() => log.isThere())) return new FleetShareReader(link, log)
      throw operatingError(shareErrors.noFleetLog, { url: link.url, fleet: link.fleet })
    } catch (error) {
      await link.close()
      throw error
    }
  }

  shares(range: TimeRange & { readonly newestFirst?: boolean } = {}): AsyncIterable<ShareEntry> {
    return this.#translateErrors(this.#log.shares(range))
  }

  refusals(range: TimeRange = {}): AsyncIterable<RefusedShares> {
    return this.#translateErrors(this.#log.refusals(range))
  }

  /** @throws NewcutError if NATS fails meanwhile */
  async *#translateErrors<T>(records: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    try {
      yield* records
    } catch (error) {
      if (error instanceof NewcutError) throw error
      throw operatingError(shareErrors.fleetLogUnreadable, { url: this.#link.url, why: describeError(error) }, error)
    }
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}
