/** The file with the gas of each test, in the working directory. */
import { writeFileSync } from 'node:fs'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { type GasSnapshot, parseSnapshot, SNAPSHOT, snapshotText } from '#language/testing/snapshot.ts'
import { commandErrors } from './errors.ts'

/** @throws NewcutError BAD_OPTION */
export function writeSnapshot(snapshot: GasSnapshot): void {
  try {
    writeFileSync(SNAPSHOT, snapshotText(snapshot))
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw operatingError(commandErrors.unwritableSnapshot, { file: SNAPSHOT, why: code }, error)
  }
}

/** @throws NewcutError BAD_OPTION if the file is missing, or one of its lines has another form */
export function readSnapshot(): GasSnapshot {
  let text: string
  try {
    text = readUserText(SNAPSHOT)
  } catch (error) {
    throw operatingError(commandErrors.unreadableSnapshot, { file: SNAPSHOT, why: fileProblem(error) }, error)
  }
  return parseSnapshot(text)
}
