/** Runs at most so many tasks at once; the others wait for their turn, first come first served. */
export function limiter(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      // The next one takes over the place of this one.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
