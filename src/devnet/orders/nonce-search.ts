/** Port: who searches the nonces of blocks that somebody orders. */

export interface SearchOptions {
  /** Ends the search. */
  readonly signal: AbortSignal
  /** Hears from time to time how many hashes this search has taken so far. */
  readonly onHashes: (hashes: number) => void
}

export interface NonceSearch {
  /**
   * Resolves with a nonce that makes the hash of these work bytes meet `target`. One search at a time. Rejects with the
   * reason of the signal, or with NewcutError KERNEL_REFUSED when nothing here can search.
   */
  search(work: Uint8Array, target: bigint, options: SearchOptions): Promise<bigint>
  /** Ends what is being searched, and frees what the search needs. */
  close(): Promise<void>
}
