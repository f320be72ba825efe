/**
 * Lock against a second payer: that of an empty LevelDB database. The system releases it when the process ends, however
 * it ends. LevelDB also refuses a second lock within one process.
 */
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describeError, NewcutError } from '#ground/base/errors.ts'

/** A held lock. */
export interface Lock {
  release(): Promise<void>
}

/**
 * Locks the payouts of a state folder.
 * @throws NewcutError DATA_UNUSABLE if another process holds the lock
 */
export async function lockPayouts(folder: string): Promise<Lock> {
  const location = join(folder, 'payouts.lock')
  const database = new ClassicLevel(location)
  try {
    await database.open({ createIfMissing: true })
  } catch (error) {
    const reason = (error as { readonly cause?: unknown }).cause ?? error
    if ((reason as { readonly code?: string }).code === 'LEVEL_LOCKED') {
      throw new NewcutError('DATA_UNUSABLE', `${folder}: another newcut payouts --pay is running there`, {
        hint: 'wait until it ends; a run continues where an interrupted one stopped',
      })
    }
    throw new NewcutError('DATA_UNUSABLE', `${location}: cannot be locked: ${describeError(reason)}`, {
      hint: 'set `state` to a folder that this user may read and write',
      cause: error,
    })
  }
  return { release: () => database.close() }
}
