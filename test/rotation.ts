/**
 * How much of repeated tests a run does: seeds, kills, lies, inputs. `npm run test:full` does all. Other runs do a part,
 * which depends on their rotation: CI counts it up, so that its runs together do all.
 */
export const isFull = process.env.TEST_FULL === '1'

/** The number of this run, which `--rotation` sets. */
export const rotation = Number(process.env.TEST_ROTATION ?? 0)

/** All items in a full run, else about `count` of them: every second, third and so on. */
export function rotating<T>(items: readonly T[], count: number): T[] {
  const shares = isFull ? 1 : Math.ceil(items.length / count)
  return items.filter((_, i) => i % shares === rotation % shares)
}

/** All items in a full run, else one of each `size` neighbours, for lists whose neighbours are alike. */
export function oneOfEach<T>(size: number, items: readonly T[]): T[] {
  const groups = Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
  return groups.flatMap((group) => rotating(group, 1))
}

/** Rounds of a test that repeats: TEST_ROUNDS, else all of them in a full run, else some. */
export const roundsOf = (full: number, some: number): number =>
  Number(process.env.TEST_ROUNDS ?? (isFull ? full : some))
