/** Errors of data directories, backups and state files, and what to do about each. */
import { errorRows, type NewcutError, operatingError } from '#ground/base/errors.ts'

const CONTINUE_OR_OTHER = 'leave that out to continue this network, or name another directory for a new one'
const BE_WRITABLE = 'it must be a directory that this user may read and write'
const MAKE_ROOM = 'what was not written is lost: make room, then start the node again'
const SAME_NEWCUT = 'continue with the newcut that wrote it, or begin a new network in another directory'

export const dataErrors = errorRows({
  damaged: {
    code: 'DATA_UNUSABLE',
    text: '{location}: damaged: {what}',
    hint: 'restore a backup, or begin a new network in another directory',
  },
  notDatabase: {
    code: 'DATA_UNUSABLE',
    text: '{location}: not a database: {why}',
    hint: 'name the data directory of a development network',
  },
  notAccessible: {
    code: 'DATA_UNUSABLE',
    text: '{location}: cannot be accessed: {why}',
    hint: 'let this user read and write it, or name another place',
  },
  locked: {
    code: 'DATA_UNUSABLE',
    text: '{location}: in use by another process',
    hint: 'one node per directory: stop the other one, or use another `dataDir`',
  },
  notOpened: { code: 'DATA_UNUSABLE', text: '{location}: cannot be opened: {why}', hint: BE_WRITABLE },
  notCreated: {
    code: 'DATA_UNUSABLE',
    text: '{location}: cannot be created: {why}',
    hint: 'make room, and let this user write there',
  },
  notWritten: { code: 'DATA_UNUSABLE', text: '{location}: cannot be written', hint: MAKE_ROOM },
  tooManyUnwritten: {
    code: 'DATA_UNUSABLE',
    text: '{location}: {waiting} blocks wait to be written; at most {most} may',
    hint: 'use a faster disk, or make blocks at a slower pace',
  },
  otherFormat: {
    code: 'DATA_UNUSABLE',
    text: '{location}: format {format}; this newcut reads format {own}',
    hint: 'use the newcut that wrote it, or another directory',
  },
  otherContracts: {
    code: 'DATA_UNUSABLE',
    text: '{location}: its network began with the system contracts of another newcut',
    hint: SAME_NEWCUT,
  },
  noDataDirectory: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: cannot be used as a data directory: {why}',
    hint: BE_WRITABLE,
  },
  otherFiles: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: not a data directory: it holds {files} but no {blocks}',
    hint: 'name an empty or a new directory to create a network there',
  },
  otherSetting: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network has {has}, not {requested}',
    hint: CONTINUE_OR_OTHER,
  },
  otherNetwork: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network is {has}, not {requested}',
    hint: CONTINUE_OR_OTHER,
  },
  otherRules: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network began with other rules than those of the file of {network}',
    hint: CONTINUE_OR_OTHER,
  },
  printRefused: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: its network has modules that call print, which this node does not allow',
    hint: 'start it with `allowPrint: true`, or name another directory',
  },
  noBackups: {
    code: 'DATA_UNUSABLE',
    text: '{directory}: backups cannot be written: {why}',
    hint: 'it must be a directory that this user may write to',
  },
  stateNotWritten: {
    code: 'DATA_UNUSABLE',
    text: '{file}: the state cannot be written: {why}',
    hint: 'the folder must exist, and this user must be allowed to write there',
  },
  notState: {
    code: 'DATA_UNUSABLE',
    text: '{name}: not a state of a newcut network: {why}',
    hint: 'GET /devnet/state and `stateFile` write such files',
  },
  otherStateVersion: {
    code: 'DATA_UNUSABLE',
    text: '{name}: a state of version {version}; this newcut reads versions {versions}',
    hint: 'use the newcut that wrote it',
  },
})

/** @returns the error of damaged data: the bytes are not those that were written */
export function damagedError(location: string, what: string, cause?: unknown): NewcutError {
  return operatingError(dataErrors.damaged, { location, what }, cause)
}
