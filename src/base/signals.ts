/** Combines abort signals. */

/**
 * Runs `run` with a signal that aborts with the first of `sources`, for the same reason, and removes its listeners at
 * the end.
 *
 * Use it instead of AbortSignal.any for long-lived sources: in Node 20, each use of that leaks into the source. Rejects
 * with the error that `run` throws.
 */
export async function withFirstOf<T>(
  sources: readonly AbortSignal[],
  run: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const first = new AbortController()
  const leaves = sources.map((source) => {
    const abort = () => first.abort(source.reason)
    if (source.aborted) abort()
    source.addEventListener('abort', abort, { once: true })
    return () => source.removeEventListener('abort', abort)
  })
  try {
    return await run(first.signal)
  } finally {
    for (const leave of leaves) leave()
  }
}
