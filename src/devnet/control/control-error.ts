/** Reasons why a control request cannot be carried out, or not completely. */

export type ControlProblem =
  | { readonly kind: 'unknown-chain'; readonly chain: number; readonly chains: number }
  /** A paused chain would have to grow by this many blocks, or to lose them. */
  | { readonly kind: 'paused-chain-grows'; readonly chain: number; readonly blocks: number }
  | { readonly kind: 'paused-chain-loses'; readonly chain: number; readonly blocks: number }
  /** No chain may grow, so the new branch never weighs enough. */
  | { readonly kind: 'all-paused' }
  /** The control request takes more blocks than one control request may make. */
  | { readonly kind: 'too-many-blocks'; readonly blocks: number }
  /** `made` counts the blocks made before. `difficulty` is null if no hash meets the target. */
  | {
      readonly kind: 'too-difficult'
      readonly made: number
      readonly chain: number
      readonly height: bigint
      readonly difficulty: bigint | null
    }
  | { readonly kind: 'too-many-snapshots'; readonly most: number }
  /** There is no such snapshot, or a revert has dropped it. */
  | { readonly kind: 'unknown-snapshot'; readonly id: number }
  | { readonly kind: 'clock-only-forwards' }
  | { readonly kind: 'needs-work' }
  /** The newest block would be in the future. */
  | { readonly kind: 'clock-behind-blocks'; readonly mostMs: number }
  | { readonly kind: 'below-genesis'; readonly chain: number; readonly height: number; readonly depth: number }
  /** After this many blocks the new branch still does not outweigh the current one, which keeps growing. */
  | { readonly kind: 'outgrown'; readonly blocks: number }
  | { readonly kind: 'too-many-waiting'; readonly waiting: number }
  | { readonly kind: 'caller-left' }
  | { readonly kind: 'stopping' }
  /** The node has turned to another network. */
  | { readonly kind: 'turned' }

/** Thrown, not returned: the problem occurs deep inside loops. */
export class ControlError extends Error {
  readonly problem: ControlProblem

  constructor(problem: ControlProblem) {
    super(`request refused: ${problem.kind}`)
    this.problem = problem
  }
}
