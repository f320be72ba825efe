/** Exhaustive search: all orders of moves in a small world, up to a depth. */

/** A world that can begin again. Its moves are plain data, so that a path of them names a state. */
export interface World<Move> {
  /** The moves that are possible now. */
  moves(): readonly Move[]
  /** Makes a move. Throws if that breaks an invariant. */
  play(move: Move): void | Promise<void>
  /** Equal texts for states that behave alike. */
  key(): string
  /** Lets everything arrive, and throws if the end is wrong. Called once for each state. */
  finish(): void | Promise<void>
}

export interface Explored {
  readonly states: number
  readonly steps: number
  /** Number of states that were first reached with so many moves. */
  readonly byDepth: readonly number[]
}

/**
 * Visits every state that at most `depth` moves reach, the nearest first.
 * @throws the error of a world, with the shortest path of moves that leads to it
 */
export async function explore<Move>(begin: () => World<Move>, depth: number): Promise<Explored> {
  const known = new Set<string>()
  const byDepth: number[] = []
  let steps = 0
  let paths: readonly (readonly Move[])[] = [[]]
  for (let length = 0; length <= depth && paths.length > 0; length++) {
    const longer: (readonly Move[])[] = []
    let found = 0
    for (const path of paths) {
      const world = await withPath(path, () => replay(begin, path))
      steps++
      const key = world.key()
      if (known.has(key)) continue
      known.add(key)
      found++
      for (const move of world.moves()) longer.push([...path, move])
      await withPath(path, () => world.finish())
    }
    byDepth.push(found)
    paths = longer
  }
  return { states: known.size, steps, byDepth }
}

async function replay<Move>(begin: () => World<Move>, path: readonly Move[]): Promise<World<Move>> {
  const world = begin()
  for (const move of path) await world.play(move)
  return world
}

async function withPath<Result>(path: readonly unknown[], run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw new Error(`after ${JSON.stringify(path)}: ${(error as Error).message}`, { cause: error })
  }
}
