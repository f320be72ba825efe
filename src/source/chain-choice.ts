/** Port of a source whose chains can be chosen while it mines. */
export interface ChainChoice {
  /** Mines these chains from now on; undefined: all. */
  setChains(chains: readonly number[] | undefined): void
}
