/** Errors of blocks that do not execute, and what to do about each. */
import { errorRows } from '#ground/base/errors.ts'

const SAME_NEWCUT = 'continue with the newcut that wrote it, or begin a new network in another directory'

export const ledgerErrors = errorRows({
  genesisFailed: {
    code: 'BAD_CONFIG',
    text: '{place} {why}',
    hint: 'correct this transaction in the file of the network',
  },
  otherExecution: {
    code: 'DATA_UNUSABLE',
    text: 'block {block} does not execute as it did: {fault}',
    hint: SAME_NEWCUT,
  },
})
