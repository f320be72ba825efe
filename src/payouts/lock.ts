/**
 * One payer at a time. The lock is that of a LevelDB database without content: the system releases it when its process
 * ends, however it ends, and LevelDB refuses a second one within the process too.
 */
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { describeError, NewcutError } from '../core/errors.ts'

/** A lock that is held. */
export interface Lock {
  release(): Promise<void>
}

/** Takes the lock of a folder for state. Throws NewcutError DATA_UNUSABLE while another process holds it. */
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
      hint: 'set --state to a folder that this user may read and write',
      cause: error,
    })
  }
  return { release: () => database.close() }
}
