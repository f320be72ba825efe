/** The results of one part. */
export interface Report {
  readonly part: string
  readonly passed: number
  /** File and title of each failed test. */
  readonly failed: readonly string[]
  /** Files that failed outside of tests: they did not load, or a hook failed. */
  readonly outside: readonly string[]
  readonly skipped: readonly { readonly test: string; readonly reason: string }[]
  readonly files: readonly FileCost[]
  /** Time from the start of the first file to the end of the last. */
  readonly tookMs: number
}

export interface FileCost {
  readonly path: string
  /** Duration of its tests. */
  readonly tookMs: number
  /** CPU time of its process and the children that ended before it, or null without /proc. */
  readonly processorSeconds: number | null
}

/** Number of failures; a failure outside of tests counts as one. */
export const failuresIn = ({ failed, outside }: Report): number => failed.length + outside.length
