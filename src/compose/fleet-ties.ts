/** What ties a miner to its fleet: the leader's to its engine, a rig's to its source. */

import { blockHash } from '../core/block-hash.ts'
import { encodeBase64Url } from '../core/bytes.ts'
import { failedOf } from '../core/solution.ts'
import type { LeaderTies } from '../engine/leader.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished } from '../mine/life.ts'
import type { Miner } from '../mine/miner.ts'
import type { FleetRigTies } from '../source/fleet/fleet-source.ts'

/** What a leader hands to its miner. */
export function leaderTies(
  miner: Miner,
  unfinished: readonly Unfinished[] = [],
  onEvent: (event: MinerEvent) => void = () => undefined,
): Pick<LeaderTies, 'unfinished' | 'adopt' | 'onLeader'> {
  return {
    unfinished: hashesOf(unfinished),
    adopt: (solution) => miner.adopt(solution),
    onLeader: (status) => onEvent({ type: 'fleet', ...status }),
  }
}

/** Hashes of the blocks, as in JSON. */
export function hashesOf(unfinished: readonly Unfinished[]): string[] {
  return unfinished.map(({ bytes }) => encodeBase64Url(blockHash(bytes)))
}

/** What a rig tells its leader, and takes from it. */
export function rigTies(miner: Miner): FleetRigTies {
  const figures = () => {
    const { hashes, hashrates, paused, pauses, idleReason, solutions } = miner.snapshot()
    const reason = paused ? (pauses[0]?.text ?? null) : idleReason
    const state = paused ? 'paused' : reason === null ? 'searching' : 'idle'
    const counts = { accepted: solutions.accepted, refused: failedOf(solutions) }
    return { hashes, rate: hashrates['10s'], state, reason: reason?.slice(0, 200) ?? null, ...counts } as const
  }
  let held: string | null = null
  const hold = (text: string | null) => {
    if (text !== held) miner.hold('fleet', text)
    held = text
  }
  return { figures, hold, hashes: () => miner.hashes }
}
