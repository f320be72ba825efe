/** What a simulation holds the miner to: one constant for each invariant. Tighten them as the miner gets better. */

/** From so long after the end of all faults on, the engines always search work of which the node takes a block. */
export const RECOVERY_MS = 2_000
/** Shorter gaps in that work are always possible: news takes its time, and a chain that was solved has to move on. */
export const GAP_MS = 2_000
/** Work that is over is searched no longer than this after the client was told so. */
export const DEAD_WORK_MS = 50
/** While nothing is wrong, a solution has its verdict within this time: refusals are believed after 5 s. */
export const VERDICT_MS = 12_000
/** That a node knows no payload is believed after 20 s: until then its chain may show that it took the solution before. */
export const NO_PAYLOAD_MS = VERDICT_MS + 15_000
/** A solution that was taken, and whose chain does not move on, is told as unconfirmed within this time. */
export const UNCONFIRMED_MS = 22_000
/**
 * A verdict that may still change is told for good within this time, once the block or the one in its place lies deep
 * enough at every node, and nothing is wrong.
 */
export const SETTLED_MS = 12_000
/** Timers of miner and client at once, for so many chains. */
export const maxTimers = (chains: number) => 60 + 4 * chains
/** Connections at once: every chain has a stream, the others carry requests, and those that seem dead are replaced. */
export const maxConnections = (chains: number) => 36 + chains
/** Solutions of which nobody knows yet what became of them. */
export const MAX_UNDECIDED = 24
/** Bytes of answers that have arrived on a connection, and that nobody has read. */
export const MAX_UNREAD_BYTES = 1024 * 1024
/** Open files of the journal: one that is written, and one that is synced. */
export const MAX_OPEN_FILES = 2
/** While its disk is well, what is written to the journal is on the disk itself within this time. */
export const SYNC_MS = 200

/** A node that nothing goes wrong with for so long is known to be well: it is asked once a second, for 2 s at most. */
export const KNOWN_WELL_MS = 4_000
/**
 * While one of several nodes is known to be well, there is work within this time after the last was lost. Nodes are
 * judged once a second; one that is silent, or gives no work, is left after 2 s of that; the next one takes a moment.
 */
export const SWITCH_MS = 3_500
/** Beyond the time of failback, which runs twice for a node that was passed over: until the first gives work again. */
export const FAILBACK_SLACK_MS = 4_000
/**
 * So long after all is well the first of several nodes may still be left: a stream that stalled before is taken for deaf
 * after 10 s, and nodes are judged once a second.
 */
export const LAST_LEFT_MS = 12_000
/** A node that was well for so long gets a solution once, unless it refuses it. */
export const ONCE_MS = 10_000
/**
 * A miner that starts has its first answers within this time once all is well: connecting takes 5 s where nothing comes
 * back, then there is a pause of up to 1.5 s, and nodes of higher priority are waited for 2 s longer.
 */
export const START_MS = 9_000
