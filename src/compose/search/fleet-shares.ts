/** The share log of a relay: the stream of its fleet in JetStream. */
import { randomUUID } from 'node:crypto'
import { Accounts, type AccountsOptions } from '../../accounts/accounts.ts'
import { ShareLog } from '../../accounts/jetstream-log.ts'
import { JetStreamStore } from '../../accounts/jetstream-store.ts'
import { ShareRecorder } from '../../accounts/recorder.ts'
import type { RigNotice } from '../../accounts/rig-ledger.ts'
import { describeError } from '../../core/errors.ts'
import type { Link } from '../../fleet/link.ts'
import { systemClock } from '../../platform/clock.ts'

/** Messages of the stream from which a relay makes its accounts at its start: reading them takes seconds. */
const MAX_RESTORED = 200_000

/** Where the shares of a relay go. */
export interface FleetShares {
  readonly link: Link
  /** Its name in the fleet. */
  readonly relay: string
}

/**
 * A recorder that keeps shares in the stream of the fleet. The accounts take up the shares of the relay, those of seven
 * days among the newest messages. Where they cannot be read, it warns, and they begin anew: rigs do not wait for that.
 */
export async function openFleetShares(
  { link, relay }: FleetShares,
  options: AccountsOptions,
): Promise<(onNotice: (notice: RigNotice) => void) => ShareRecorder> {
  const early: string[] = []
  let warn: (message: string) => void = (message) => void early.push(message)
  const log = new ShareLog(link, (message) => warn(message), { relay, newest: MAX_RESTORED })
  let accounts = new Accounts(options)
  try {
    await accounts.restore(null, log, systemClock.wallMs())
  } catch (error) {
    accounts = new Accounts(options)
    warn(`the accounts of this relay begin anew: ${describeError(error)}`)
  }
  const shared = { link, clock: systemClock, session: randomUUID(), relay }
  const store = new JetStreamStore({ ...shared, onWarning: (message) => warn(message) })
  const kept = {
    ...{ store, accounts: null, has: store.has },
    get newestMs() {
      return Math.max(store.newestMs, accounts.throughMs)
    },
  }
  return (onNotice) => {
    warn = (message) => onNotice({ type: 'warning', message })
    for (const message of early.splice(0)) warn(message)
    return new ShareRecorder(kept, accounts, systemClock, onNotice)
  }
}
