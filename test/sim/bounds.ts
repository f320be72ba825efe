/** What a simulation holds the miner to: one constant for each invariant. Tighten them as the miner gets better. */

/** From so long after the end of all faults on, the engines always search work of which the node takes a block. */
export const RECOVERY_MS = 2_000
/** Shorter gaps in that work are always possible: news takes its time, and a chain that was solved has to move on. */
export const GAP_MS = 2_000
/** Work that is over is searched no longer than this after the client was told so. */
export const DEAD_WORK_MS = 50
/** While nothing is wrong, a solution has its verdict within this time: refusals are believed after 5 s. */
export const VERDICT_MS = 12_000
/** Timers of miner and client at once, for so many chains. */
export const maxTimers = (chains: number) => 60 + 4 * chains
/** Connections at once: every chain has a stream, the others carry requests, and those that seem dead are replaced. */
export const maxConnections = (chains: number) => 36 + chains
/** Solutions of which nobody knows yet what became of them. */
export const MAX_UNDECIDED = 24
/** Bytes of answers that have arrived on a connection, and that nobody has read. */
export const MAX_UNREAD_BYTES = 1024 * 1024
