/** The file with the gas of each test, in the working directory. */
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { replaceFile } from '#ground/base/replace-file.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { type GasSnapshot, parseSnapshot, SNAPSHOT, snapshotText } from '#language/testing/reports.ts'
import { commandErrors } from './errors.ts'

/** @throws NewcutError BAD_OPTION */
export function writeSnapshot(snapshot: GasSnapshot): void {
  try {
    replaceFile(SNAPSHOT, snapshotText(snapshot))
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw operatingError(commandErrors.unwritableSnapshot, { file: SNAPSHOT, why: code }, error)
  }
}

/**
 * @param mayBeMissing whether a missing file stands for an empty one
 * @throws NewcutError BAD_OPTION if the file cannot be read, or one of its lines has another form
 */
export function readSnapshot(mayBeMissing: boolean): GasSnapshot {
  let text: string
  try {
    text = readUserText(SNAPSHOT)
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw operatingError(
      commandErrors.unreadableSnapshot,
      {
        flag: mayBeMissing ? '--gas-snapshot' : '--check',
        file: SNAPSHOT,
        why: fileProblem(error),
      },
      error,
    )
  }
  return parseSnapshot(text)
}
