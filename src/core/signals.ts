/** Several abort signals as one. */

/**
 * Runs `run` with a signal that aborts with the first of `sources`, for the same reason, and lets go of them when it
 * ends. AbortSignal.any is not used where a source lives long: in Node 20 each use of it stays with the source.
 * Rejects with what `run` throws.
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
