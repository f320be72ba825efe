/** The operator's choice of fork votes. `node` leaves the votes of the node unchanged. */
export const forkWishes = ['node', 'yes', 'no'] as const
export type ForkWish = (typeof forkWishes)[number]
