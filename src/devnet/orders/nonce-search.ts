/** Port: searches nonces for blocks that the node makes on request. */

export interface SearchOptions {
  /** Ends the search. */
  readonly signal: AbortSignal
  /** Called now and then with the number of hashes that this search has tried so far. */
  readonly onHashes: (hashes: number) => void
}

export interface NonceSearch {
  /**
   * Resolves with a nonce that makes the hash of these work bytes meet `target`. One search at a time. Rejects with the
   * reason of the signal, or with NewcutError KERNEL_REFUSED when this machine has no kernel that works.
   */
  search(work: Uint8Array, target: bigint, options: SearchOptions): Promise<bigint>
  /** Ends a running search, and frees its resources. */
  close(): Promise<void>
}
