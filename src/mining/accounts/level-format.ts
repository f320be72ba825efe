/** Format and network of a share log in LevelDB. */
import { NewcutError } from '#ground/base/errors.ts'
import type { ShareDatabase } from './level-database.ts'
import { sealed } from './share-records.ts'
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
export async function claim(database: ShareDatabase, folder: string, network: string): Promise<void> {
  const [format, of] = await database.getMany(['m/format', 'm/network'])
  if (format !== undefined && !READ_FORMATS.includes(format)) {
    const message = `${folder}: the share log has the format ${format}, and this newcut knows ${READ_FORMATS.join(' and ')}`
    throw new NewcutError('DATA_UNUSABLE', message, { hint: 'use a newer newcut, or another `state`' })
  }
  if (of !== undefined && of !== network) {
    const message = `${folder}: the share log is of the network ${of}, not of ${network}`
    throw new NewcutError('DATA_UNUSABLE', message, { hint: 'give each network a `state` of its own' })
  }
  if (of !== undefined && format === FORMAT) return
  const sinceMs = await firstTallyMs(database)
  await database.batch([
    { type: 'put', key: TALLIED_SINCE, value: sealed(sinceMs) },
    { type: 'put', key: 'm/format', value: FORMAT },
    { type: 'put', key: 'm/network', value: network },
  ])
}
