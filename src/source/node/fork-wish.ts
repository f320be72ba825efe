/** How the operator wants work to vote for forks; `node`: as the node does. */
export const forkWishes = ['node', 'yes', 'no'] as const
export type ForkWish = (typeof forkWishes)[number]
