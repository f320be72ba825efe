import { NO_RATES } from '../../src/mining/mine/hashrate.ts'
import { idleReasonOf, type Snapshot } from '../../src/mining/mine/snapshot.ts'

/** The snapshot of a miner that has just started, with these parts replaced. */
export function snapshotWith(parts: Partial<Snapshot> = {}): Snapshot {
  const { devices = [] } = parts
  return {
    source: 'test',
    connected: true,
    nodes: [],
    idleReason: idleReasonOf(devices),
    paused: false,
    pauses: [],
    uptimeMs: 1,
    hashes: 0,
    hashrates: NO_RATES,
    highestHashrate: null,
    meanHashrate: 0,
    devices,
    hardware: [],
    energy: {
      watts: null,
      joules: null,
      joulesPerMegahash: null,
      source: null,
      unread: 0,
      hashrate: null,
      problem: null,
    },
    solutions: { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 },
    poolBlocks: 0,
    hardwareErrors: 0,
    preemptions: 0,
    issuer: null,
    results: { expected: 0, found: 0, effort: 0, best: [] },
    work: { chain: 0, height: 1, difficulty: 1, ageMs: 0, forkVotes: 0 },
    forkVote: null,
    ...parts,
  }
}
