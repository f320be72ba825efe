/**
 * Lock against a second payer: that of an empty LevelDB database. The system releases it when the process ends, however
 * it ends. LevelDB also refuses a second lock within one process.
 */
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { payoutErrors } from './errors.ts'

/** A held lock. */
export interface PayoutLock {
  release(): Promise<void>
}

/**
 * Locks the payouts of a state folder.
 * @throws NewcutError DATA_UNUSABLE if another process holds the lock
 */
export async function lockPayouts(folder: string): Promise<PayoutLock> {
  const location = join(folder, 'payouts.lock')
  const database = new ClassicLevel(location)
  try {
    await database.open({ createIfMissing: true })
  } catch (error) {
    const reason = (error as { readonly cause?: unknown }).cause ?? error
    if ((reason as { readonly code?: string }).code === 'LEVEL_LOCKED') {
      throw operatingError(payoutErrors.secondPayer, { folder })
    }
    throw operatingError(payoutErrors.unlockable, { location, why: describeError(reason) }, error)
  }
  return { release: () => database.close() }
}
