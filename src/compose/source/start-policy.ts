/** Applies `failFast` and `maxWaitMs` to the start of a source. */
import { operatingError } from '#ground/base/errors.ts'
import { composeErrors } from '../errors.ts'
import type { StartPolicy } from '../setup.ts'

/**
 * Runs `reach` with a signal that also aborts after `maxWaitMs`, and with `failFast` at the first problem.
 * @param what the failure, such as `no pool gave work`
 * @throws the errors of `reach`, or NewcutError NODE_UNREACHABLE.
 */
export async function applyStartPolicy<T>(
  { failFast, maxWaitMs }: StartPolicy,
  what: string,
  { onWaiting, signal }: { readonly onWaiting: (message: string) => void; readonly signal: AbortSignal },
  reach: (onTrouble: (message: string) => void, ends: AbortSignal) => Promise<T>,
): Promise<T> {
  const refused = new AbortController()
  const refuse = (problem: string) => refused.abort(operatingError(composeErrors.startFailed, { problem }))
  const timer =
    maxWaitMs === undefined
      ? undefined
      : setTimeout(
          () => refused.abort(operatingError(composeErrors.startTimeout, { what, seconds: maxWaitMs / 1000 })),
          maxWaitMs,
        )
  try {
    return await reach(failFast ? refuse : onWaiting, AbortSignal.any([signal, refused.signal]))
  } finally {
    clearTimeout(timer)
  }
}
