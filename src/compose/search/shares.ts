/** The share log and the accounts of rigs: opened before the server for rigs, and closed with it. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Accounts, type AccountsOptions } from '../../accounts/accounts.ts'
import { BlockShares } from '../../accounts/block-shares.ts'
import { LevelStore } from '../../accounts/level-store.ts'
import { ShareRecorder } from '../../accounts/recorder.ts'
import type { Kept, RigNotice } from '../../accounts/rig-ledger.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { systemClock } from '../../platform/clock.ts'
import { isDevelopment } from '../payee.ts'
import type { StateSetup } from '../state.ts'
import { type FleetShares, openFleetShares } from './fleet-shares.ts'

/** Folder of the share log within that of the state. */
export const SHARES_FOLDER = 'shares'

/** Whose shares are kept, and where else than in the folder of the state. */
export interface ShareKeeping {
  readonly network: string
  /** undefined: this is no relay of a fleet. */
  readonly fleet?: FleetShares | undefined
}

type OpenRecorder = (onNotice: (notice: RigNotice) => void) => ShareRecorder

/**
 * Opens the share log, and takes up the accounts; `keeping`: null where no shares are kept. Throws NewcutError DATA_UNUSABLE
 * for a log that another miner has, that is of another network, or damaged, and BAD_INPUT for a folder that the user asked
 * for and that cannot be made.
 */
export async function openShares(state: StateSetup | null, keeping: ShareKeeping | null): Promise<OpenRecorder> {
  let notify: (notice: RigNotice) => void = () => undefined
  const options: AccountsOptions = {
    onWarning: (message, isWell) => notify({ type: isWell ? 'recovered' : 'warning', message }),
  }
  if (keeping?.fleet !== undefined) {
    const open = await openFleetShares(keeping.fleet, state, options)
    return (onNotice) => {
      notify = onNotice
      return open(onNotice)
    }
  }
  const accounts = new Accounts(options)
  const network = keeping?.network ?? null
  // As with the journal, development networks are kept by those alone who say so.
  const isKept = state !== null && network !== null && (state.isRequired || !isDevelopment(network))
  const fault = isKept ? await faultOf(state) : null
  let kept: Kept | null = null
  if (isKept && fault === null) {
    const store = await LevelStore.open({ folder: join(state.folder, SHARES_FOLDER), network, clock: systemClock })
    const blocks = new BlockShares(state.folder, (message) => notify({ type: 'warning', message }))
    kept = { store, accounts: store, has: store.has, newestMs: store.newestMs, blocks }
    await accounts.restore(store, store, systemClock.wallMs()).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  }
  return (onNotice) => {
    notify = onNotice
    if (fault !== null)
      onNotice({ type: 'warning', message: `${fault}; shares and accounts will be lost when this process ends` })
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
