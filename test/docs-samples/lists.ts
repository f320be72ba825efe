/** Blocks that the test does not run, each with its reason. All of them are parsed. */

/** Documents whose `sh` blocks and programs are run too, besides the `console` blocks of every document. */
export const GUIDES: readonly string[] = ['docs/DEVNET.md', 'docs/CONTRACTS.md', 'docs/NODE-INTERFACE.md']

/** A block by its document and its first line. */
export interface NotRun {
  readonly document: string
  readonly first: string
  readonly reason: string
}

export const notRun: readonly NotRun[] = []
