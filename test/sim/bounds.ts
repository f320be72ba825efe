/** Bounds of the simulation: one constant for each invariant. Tighten them as the miner improves. */

/**
 * Time after the end of all faults until the engines always search useful work. Work is useful if the node would take a
 * block of it.
 */
export const RECOVERY_MS = 2_000
/** Longest gap in useful work after that: news needs its time, and a solved chain has to advance first. */
export const GAP_MS = 2_000
/** Longest search of obsolete work after the client has received the news. */
export const DEAD_WORK_MS = 50
/** Time until a solution has its verdict while nothing is wrong. The miner believes refusals after 5 s. */
export const VERDICT_MS = 12_000
/**
 * The same if the node does not know the payload, which the miner believes after 20 s. Until then the chain may show
 * that the node took the solution.
 */
export const NO_PAYLOAD_MS = VERDICT_MS + 15_000
/** Time until an acknowledged solution is reported as unconfirmed if its chain does not advance. */
export const UNCONFIRMED_MS = 22_000
/**
 * Time until a provisional verdict becomes final while nothing is wrong. It starts when the block, or the one in its
 * place, is deep enough at every node.
 */
export const SETTLED_MS = 12_000
/** Simultaneous timers of miner and client, for so many chains. */
export const maxTimers = (chains: number) => 60 + 4 * chains
/**
 * Simultaneous connections: each chain has a stream, others carry requests, and connections that seem dead are
 * replaced.
 */
export const maxConnections = (chains: number) => 36 + chains
/** Solutions without a verdict. */
export const MAX_UNDECIDED = 24
/** Bytes of answers that have arrived on a connection and that the client has not read. */
export const MAX_UNREAD_BYTES = 1024 * 1024
/** Open files of the journal: one is written, one is synced. */
export const MAX_OPEN_FILES = 2
/** Time until a journal line is synced to a healthy disk. */
export const SYNC_MS = 200

/** Time without faults until the miner knows that a node is well: it asks once a second, for 2 s at most. */
export const KNOWN_WELL_MS = 4_000
/**
 * Longest gap in useful work while one of several nodes is known to be well. The miner judges nodes once a second, and
 * leaves a node after 2 s of silence or without work; the next node takes a moment.
 */
export const SWITCH_MS = 3_500
/**
 * Time beyond the failback delay until the first node gives work again. The delay runs twice for a node that was passed
 * over.
 */
export const FAILBACK_SLACK_MS = 4_000
/**
 * Time after the last fault in which the miner may still leave the first of several nodes. A stalled stream counts as
 * deaf after 10 s, and the miner judges nodes once a second.
 */
export const LAST_LEFT_MS = 12_000
/** A node that was well for this long gets a solution only once, unless it refuses it. */
export const ONCE_MS = 10_000
/**
 * Time until a starting miner has its first answers once all is well. An unanswered connection attempt takes 5 s, and
 * the pause after it up to 1.5 s. The miner waits 2 s longer for nodes of higher priority.
 */
export const START_MS = 9_000
