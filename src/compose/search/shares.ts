/** The share log and the accounts of rigs: opened before the server for rigs, and closed with it. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Accounts } from '../../accounts/accounts.ts'
import { LevelStore } from '../../accounts/level-store.ts'
import { ShareRecorder } from '../../accounts/recorder.ts'
import type { Kept, RigNotice } from '../../accounts/rig-ledger.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { systemClock } from '../../platform/clock.ts'
import { isDevelopment } from '../payee.ts'
import type { StateSetup } from '../state.ts'

/** Folder of the share log within that of the state. */
export const SHARES_FOLDER = 'shares'

/**
 * Opens the share log, and takes up the accounts. Throws NewcutError DATA_UNUSABLE for a log that another miner has, that is
 * of another network, or damaged, and BAD_INPUT for a folder that the user asked for and that cannot be made.
 */
export async function openShares(
  state: StateSetup | null,
  network: string | null,
): Promise<(onNotice: (notice: RigNotice) => void) => ShareRecorder> {
  let notify: (notice: RigNotice) => void = () => undefined
  const accounts = new Accounts({
    onWarning: (message, isWell) => notify({ type: isWell ? 'recovered' : 'warning', message }),
  })
  // As with the journal, development networks are kept by those alone who say so.
  const isKept = state !== null && network !== null && (state.isRequired || !isDevelopment(network))
  const fault = isKept ? await faultOf(state) : null
  let kept: Kept | null = null
  if (isKept && fault === null) {
    const store = await LevelStore.open({ folder: join(state.folder, SHARES_FOLDER), network, clock: systemClock })
    kept = { store, accounts: store, has: store.has, newestMs: store.newestMs }
    await accounts.restore(store, store, systemClock.wallMs()).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  }
  return (onNotice) => {
    notify = onNotice
    if (fault !== null) onNotice({ type: 'warning', message: `${fault}; shares and accounts end with this process` })
    return new ShareRecorder(kept, accounts, systemClock, onNotice)
  }
}

/** Why the folder cannot be made; null: it is there. Throws where the user asked for it. */
async function faultOf({ folder, isRequired }: StateSetup): Promise<string | null> {
  try {
    await mkdir(join(folder, SHARES_FOLDER), { recursive: true, mode: 0o700 })
    return null
  } catch (error) {
    const message = `${folder}: the share log cannot be kept here: ${describeError(error)}`
    if (!isRequired) return message
    throw new NewcutError('BAD_INPUT', message, { hint: '--state DIR names another folder', cause: error })
  }
}
