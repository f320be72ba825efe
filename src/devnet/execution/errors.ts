/** Errors of the execution threads. */
import { errorRows } from '#ground/base/errors.ts'

/** Refusal of a call that no thread can execute now. The caller may try again later. */
export class ExecutionUnavailable extends Error {
  constructor() {
    super('too many commands wait for execution: try again later')
  }
}

export const executionErrors = errorRows({
  stateUnreadable: {
    code: 'DATA_UNUSABLE',
    text: 'the node cannot read its state',
    noHint: 'only the execution thread sees it: the node reports the error that it met itself',
  },
})
