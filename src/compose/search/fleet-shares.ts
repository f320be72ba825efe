/** Opens the share log of a relay: the JetStream stream of its fleet. */
import { randomUUID } from 'node:crypto'
import { describeError } from '#ground/base/errors.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { Accounts, type AccountsOptions } from '#mining/accounts/accounts.ts'
import { BlockShares } from '#mining/accounts/block-shares.ts'
import { ShareLog } from '#mining/accounts/jetstream-log.ts'
import { JetStreamStore } from '#mining/accounts/jetstream-store.ts'
import { ShareRecorder } from '#mining/accounts/recorder.ts'
import type { RigNotice } from '#mining/accounts/rig-ledger.ts'
import { DUPLICATE_WINDOW_MS } from '#mining/accounts/share-stream.ts'
import type { FleetLink } from '#mining/fleet/link.ts'
import type { StateSetup } from '../state.ts'

/** Limit of the stream messages that a relay reads at its start to restore its accounts; more would take too long. */
const MAX_RESTORED = 200_000
/** The largest difference between a share's time and its place in the stream, unless the NATS server was down. */
const STREAM_DELAY_MS = 5 * 60_000

/** The destination of a relay's shares. */
export interface FleetShares {
  readonly link: FleetLink
  /** Name of the relay in the fleet. */
  readonly relay: string
}

/**
 * Opens a recorder that keeps shares in the fleet's stream. Accounts are restored from the relay's shares of the last
 * seven days among the newest messages. If they cannot be read, it warns and starts empty accounts, so that rigs need
 * not wait.
 */
export async function openFleetShares(
  { link, relay }: FleetShares,
  state: StateSetup | null,
  options: AccountsOptions,
): Promise<(onNotice: (notice: RigNotice) => void) => ShareRecorder> {
  const early: string[] = []
  let warn: (message: string) => void = (message) => void early.push(message)
  const blocks = new BlockShares(state?.folder ?? null, (message) => warn(message))
  const log = new ShareLog(link, (message) => warn(message), { relay, newest: MAX_RESTORED })
  let accounts = new Accounts(options)
  try {
    await accounts.restore(null, log, systemClock.wallMs())
    await forgetStoredShares(blocks, new ShareLog(link, (message) => warn(message)))
  } catch (error) {
    accounts = new Accounts(options)
    warn(`the accounts of this relay start again: ${describeError(error)}`)
  }
  const shared = { link, clock: systemClock, session: randomUUID(), relay }
  const store = new JetStreamStore({ ...shared, onWarning: (message) => warn(message) })
  const storage = {
    store,
    accounts: null,
    has: store.has,
    blocks,
    get newestMs() {
      return Math.max(store.newestMs, accounts.throughMs)
    },
  }
  return (onNotice) => {
    warn = (message) => onNotice({ type: 'warning', message })
    for (const message of early.splice(0)) warn(message)
    return new ShareRecorder(storage, accounts, systemClock, onNotice)
  }
}

/**
 * Forgets the block shares of earlier runs that the stream already has. JetStream deduplicates the last quarter of an
 * hour itself; an older share would be kept twice.
 */
async function forgetStoredShares(blocks: BlockShares, log: ShareLog): Promise<void> {
  const old = [...blocks.pending].filter(({ foundMs }) => systemClock.wallMs() - foundMs > DUPLICATE_WINDOW_MS / 2)
  for (const { id, foundMs } of old) {
    for await (const share of log.shares({ fromMs: foundMs - STREAM_DELAY_MS, untilMs: foundMs + STREAM_DELAY_MS })) {
      if (share.id !== id) continue
      blocks.remove(id)
      break
    }
  }
}
