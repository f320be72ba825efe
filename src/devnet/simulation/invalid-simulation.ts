/** A simulation that cannot run, or not to its end. The message begins with the place in the request. */
export class InvalidSimulation extends Error {
  /** Whether the request is wrong. False if its commands are beyond a limit. */
  readonly isMalformed: boolean

  constructor(message: string, isMalformed = true) {
    super(message)
    this.isMalformed = isMalformed
  }
}
