/** What came of one part. */
export interface Report {
  readonly part: string
  readonly passed: number
  /** File and title of each. */
  readonly failed: readonly string[]
  /** Files that failed outside of their tests: they did not load, or a hook failed. */
  readonly outside: readonly string[]
  readonly skipped: readonly { readonly test: string; readonly reason: string }[]
  /** How long the tests of each file took. */
  readonly files: readonly { readonly path: string; readonly tookMs: number }[]
  /** From the start of its first file to the end of its last one. */
  readonly tookMs: number
}

/** A failure outside of the tests counts as one. */
export const failuresIn = ({ failed, outside }: Report): number => failed.length + outside.length
