/** A command as it came: what a transaction of a block, or the body of a call, holds. */
export interface SignedCommand {
  /** Request key. */
  readonly hash: string
  /** null: a signer who did not sign. */
  readonly sigs: readonly ({ readonly sig: string } | null)[]
  readonly cmd: string
}
