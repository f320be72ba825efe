/** A refusal of the gateway: an HTTP status and a sentence for people. */

import { NodeRefusal } from '#client/node/errors.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'

export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Converts a failed call to the node: its own refusal unchanged, 504 for a timeout, 502 otherwise.
 * @throws the error itself if it does not come from the call
 */
export function nodeFailure(error: unknown): Refused {
  if (error instanceof Refused) return error
  if (error instanceof NodeRefusal && error.status >= 400)
    return new Refused(error.status, error.excerpt || error.message)
  if (error instanceof NewcutError) return new Refused(502, describeError(error))
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new Refused(504, 'the node does not answer')
  if (error instanceof DOMException) return new Refused(503, 'the miner is stopping')
  throw error
}
