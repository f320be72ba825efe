/** Refusal of a call that no thread can execute now. The caller may try again later. */
export class ExecutionUnavailable extends Error {
  constructor() {
    super('too many commands wait for execution: try again later')
  }
}
