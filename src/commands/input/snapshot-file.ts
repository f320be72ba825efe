/** The file with the gas of each test, in the working directory. */
import { writeFileSync } from 'node:fs'
import { fileProblem, NewcutError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { type GasSnapshot, parseSnapshot, SNAPSHOT, snapshotText } from '#language/testing/snapshot.ts'

/** Throws NewcutError BAD_OPTION. */
export function writeSnapshot(snapshot: GasSnapshot): void {
  try {
    writeFileSync(SNAPSHOT, snapshotText(snapshot))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new NewcutError('BAD_OPTION', `--gas-snapshot cannot write ${SNAPSHOT} (${code})`)
  }
}

/** Throws NewcutError BAD_OPTION if the file is missing, or one of its lines has another form. */
export function readSnapshot(): GasSnapshot {
  let text: string
  try {
    text = readUserText(SNAPSHOT)
  } catch (error) {
    throw new NewcutError('BAD_OPTION', `--check cannot read ${SNAPSHOT}: ${fileProblem(error)}`, {
      hint: 'newcut contract FILE.repl --gas-snapshot writes it',
    })
  }
  return parseSnapshot(text)
}
