/** Opens the share log and the accounts of rigs, before the stratum server. They close with it. */
import { join } from 'node:path'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { makeFolders } from '#ground/base/replace-file.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { Accounts, type AccountsOptions } from '#mining/accounts/accounts.ts'
import { BlockShares } from '#mining/accounts/block-shares.ts'
import { LevelStore } from '#mining/accounts/level-store.ts'
import { ShareRecorder } from '#mining/accounts/recorder.ts'
import type { LedgerStorage, RigNotice } from '#mining/accounts/rig-ledger.ts'
import { composeErrors } from '../errors.ts'
import { isDevelopment } from '../payee.ts'
import type { StateSetup } from '../state.ts'
import { type FleetShares, openFleetShares } from './fleet-shares.ts'

/** Folder of the share log within the state folder. */
export const SHARES_FOLDER = 'shares'

/** The network whose shares are kept, and the fleet that keeps them. */
export interface ShareKeeping {
  readonly network: string
  /** Only for a relay of a fleet. */
  readonly fleet?: FleetShares | undefined
}

type OpenRecorder = (onNotice: (notice: RigNotice) => void) => ShareRecorder

/**
 * Opens the share log and restores the accounts.
 * @param keeping where to keep shares, or null
 * @throws NewcutError DATA_UNUSABLE if the log is in use, of another network, or damaged, and BAD_INPUT if the user's
 * folder cannot be created.
 */
export async function openShares(state: StateSetup | null, keeping: ShareKeeping | null): Promise<OpenRecorder> {
  const early: RigNotice[] = []
  let notify: (notice: RigNotice) => void = (notice) => void early.push(notice)
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
  // As with the journal, development networks are kept only on request.
  const isKept = state !== null && network !== null && (state.isRequired || !isDevelopment(network))
  const fault = isKept ? await faultOf(state) : null
  let storage: LedgerStorage | null = null
  if (isKept && fault === null) {
    const onWarning = (message: string) => notify({ type: 'warning', message })
    const folder = join(state.folder, SHARES_FOLDER)
    const store = await LevelStore.open({ folder, network, clock: systemClock, onWarning })
    const blocks = new BlockShares(state.folder, onWarning)
    storage = { store, accounts: store, has: store.has, newestMs: store.newestMs, blocks }
    await accounts.restore(store, store, systemClock.wallMs()).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  }
  return (onNotice) => {
    notify = onNotice
    for (const notice of early.splice(0)) onNotice(notice)
    if (fault !== null)
      onNotice({ type: 'warning', message: `${fault}; shares and accounts will be lost when this process ends` })
    return new ShareRecorder(storage, accounts, systemClock, onNotice)
  }
}

/**
 * @returns why the folder cannot be created, or null if it exists.
 * @throws if the user named the folder
 */
async function faultOf({ folder, isRequired }: StateSetup): Promise<string | null> {
  try {
    makeFolders(join(folder, SHARES_FOLDER), 0o700)
    return null
  } catch (error) {
    const failure = operatingError(composeErrors.shareLogFolder, { folder, why: describeError(error) }, error)
    if (!isRequired) return failure.message
    throw failure
  }
}
