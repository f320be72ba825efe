/** Messages between a thread that runs test files and its owner. */
import { type ErrorCode, NewcutError } from '#ground/base/errors.ts'
import type { NetworkCopyOptions } from '../copy/network-copy.ts'
import type { EnvForkCall } from './env-forks.ts'
import type { FileOutcome, FileRequests } from './files.ts'

/** A test file to run. */
export interface ThreadTask {
  readonly file: string
  readonly questions: FileRequests
  /** Whether the thread opens forks: that of `options`, and those that the file calls for. */
  readonly forks: { readonly options: NetworkCopyOptions | null } | null
}

/** An error as data: threads lose the class and the code of errors. */
interface SerializedError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | undefined
}

/** The answer to a call of `env-fork`. */
export type CallReply = { readonly options: NetworkCopyOptions } | { readonly refusal: SerializedError }

/** Null stands for a file that calls for a fork, of a task without forks. */
export type TestThreadAnswer =
  | { readonly outcome: FileOutcome | null }
  | { readonly call: EnvForkCall }
  | { readonly error: SerializedError }

/** The answer to a call, which is a refusal if `optionsOf` throws NewcutError. */
export function replyTo(call: EnvForkCall, optionsOf: (call: EnvForkCall) => NetworkCopyOptions): CallReply {
  try {
    return { options: optionsOf(call) }
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    return { refusal: plainError(error) }
  }
}

export const plainError = ({ code, message, hint }: NewcutError): SerializedError => ({ code, message, hint })

export const errorFrom = ({ code, message, hint }: SerializedError): NewcutError =>
  new NewcutError(code, message, { hint })
