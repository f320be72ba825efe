/** Snapshots of a miner, and events of solutions, without a miner. */

import type { LifeStep } from '../../../src/ground/chain/solution.ts'
import type { SolutionEvent } from '../../../src/mining/mine/events.ts'
import type { Snapshot } from '../../../src/mining/mine/snapshot.ts'
import { snapshotWith as anySnapshot } from '../../mine/snapshot.ts'

const solutions = { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }

/** A snapshot of one GPU with a rate and work. */
export function snapshotWith(fields: Partial<Snapshot> = {}): Snapshot {
  const hashrates = { '10s': 1_234_567, '60s': null, '15m': null }
  return anySnapshot({
    hashes: 5,
    hashrates,
    devices: [{ engine: 'gpu', device: 'gpu0', kernel: 'wgsl', hashes: 5, faults: 0, hashrates }],
    work: { chain: 0, height: 1, difficulty: 1000, ageMs: 0, forkVotes: 0 },
    ...fields,
  })
}

export function step(hash: string, life: LifeStep, height = 1): SolutionEvent {
  return {
    ...{
      type: 'solution',
      verdict: null,
      wasDecided: false,
      job: '1',
      issuer: 'http://a',
      chain: 3,
      height,
      hash,
      payload: '',
    },
    ...{ device: 'gpu0', effort: 0.5, isPoolBlock: false, lateMs: null, elapsedMs: 10, counts: solutions },
    ...life,
  }
}
