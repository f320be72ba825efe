/** Port: nonce search for blocks that the node makes on request. */

export interface SearchOptions {
  /** Aborts the search. */
  readonly signal: AbortSignal
  /** Called from time to time with the number of hashes tried so far. */
  readonly onHashes: (hashes: number) => void
}

export interface NonceSearch {
  /**
   * Resolves with a nonce that makes the hash of these work bytes meet `target`. Only one search may run at a time.
   * Rejects with the reason of the signal, or with NewcutError KERNEL_REFUSED if no kernel works on this machine.
   */
  search(work: Uint8Array, target: bigint, options: SearchOptions): Promise<bigint>
  /** Ends a running search, and frees its resources. */
  close(): Promise<void>
}
