/** Limits the number of concurrent tasks. Further tasks wait in order. */
export function limiter(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await task()
    } finally {
      // The next task takes the place of this one.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
