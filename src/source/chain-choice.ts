/** Interface of a source whose chains can change while it mines. */
export interface ChainChoice {
  /** Mines these chains from now, or all of them if undefined. */
  setChains(chains: readonly number[] | undefined): void
}
