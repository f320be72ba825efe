/** Format and network of a share log in LevelDB. */
import { operatingError } from '#ground/base/errors.ts'
import { shareErrors } from './errors.ts'
import type { ShareDatabase } from './level-database.ts'
import { sealRecord } from './share-records.ts'
import { firstTallyMs } from './share-tallies.ts'

/** Key of the time from which on all shares have tallies. */
export const TALLIED_SINCE = 'm/tallied-since'

/** Format 1 has no tallies. */
const FORMAT = '2'
const READ_FORMATS: readonly string[] = ['1', FORMAT]

/**
 * Assigns a new log to this network. Converts a log of format 1 to the current format.
 * @throws NewcutError DATA_UNUSABLE if the log is of another network or format
 */
export async function claimLog(database: ShareDatabase, folder: string, network: string): Promise<void> {
  const [format, owner] = await database.getMany(['m/format', 'm/network'])
  if (format !== undefined && !READ_FORMATS.includes(format)) {
    throw operatingError(shareErrors.logFormat, { folder, format, known: READ_FORMATS.join(' and ') })
  }
  if (owner !== undefined && owner !== network) {
    throw operatingError(shareErrors.logNetwork, { folder, other: owner, network })
  }
  if (owner !== undefined && format === FORMAT) return
  const sinceMs = await firstTallyMs(database)
  await database.batch([
    { type: 'put', key: TALLIED_SINCE, value: sealRecord(sinceMs) },
    { type: 'put', key: 'm/format', value: FORMAT },
    { type: 'put', key: 'm/network', value: network },
  ])
}
