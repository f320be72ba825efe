/** The snapshot as a function of the parts of a miner. */
import { expect, it } from 'vitest'
import { noVerdicts } from '../../src/ground/chain/solution.ts'
import { EnergyMeter } from '../../src/mining/mine/energy.ts'
import type { EngineDevice } from '../../src/mining/mine/rates.ts'
import { Rates } from '../../src/mining/mine/rates.ts'
import { minerSnapshotOf, type SnapshotParts } from '../../src/mining/mine/snapshot.ts'
import { Tally } from '../../src/mining/mine/tally.ts'

const device: EngineDevice = { engine: 'cpu', device: 'thread0', kernel: 'js', hardware: 'cpu', hashes: 900, faults: 0 }

function partsWith(parts: Partial<SnapshotParts>): SnapshotParts {
  return {
    source: { description: 'a node', connected: true, waitReason: null, upstreams: () => [], chains: () => null },
    engines: { devices: () => [device], goneDevices: () => [], hashes: () => 1_000 },
    ...{ rates: new Rates(), tally: new Tally(), solutions: { counts: noVerdicts, poolBlocks: 0 } },
    ...{
      nowMs: 5_000,
      startedAtMs: 3_000,
      current: null,
      pauses: [],
      energy: new EnergyMeter(new Rates()),
      serverParts: {},
    },
    counts: { hardwareErrors: 1, preemptions: 2 },
    ...{ issuer: null, results: { expected: 0, found: 0, effort: 0, best: [] }, forkVote: null },
    ...parts,
  }
}

it('a snapshot has the time and the mean rate since the start', () => {
  expect(minerSnapshotOf(partsWith({}))).toMatchObject({ uptimeMs: 2_000, hashes: 1_000, meanHashrate: 500 })
  expect(minerSnapshotOf(partsWith({ startedAtMs: 0 }))).toMatchObject({ uptimeMs: 0, meanHashrate: 0 })
})

it('a snapshot has chains, rigs and fleets only if they exist', () => {
  expect(minerSnapshotOf(partsWith({}))).not.toHaveProperty('chains')
  const fleet = {
    fleet: 'main',
    isLeading: true,
    leader: 'here',
    rigs: 3,
    energy: { watts: null, joules: null, hashrate: null, unread: 0 },
  }
  const source = { description: '', connected: true, waitReason: null, upstreams: () => [], chains: () => [] }
  expect(minerSnapshotOf(partsWith({ source, serverParts: { fleet } }))).toMatchObject({ chains: [], fleet })
})

it('a snapshot says why nothing searches, and that mining is paused', () => {
  const idle = { ...device, state: 'unable', reason: 'no kernel' } as const
  const engines = { devices: () => [idle], goneDevices: () => [], hashes: () => 0 }
  expect(minerSnapshotOf(partsWith({ engines: engines })).idleReason).toBe('cpu thread0 is unable: no kernel')
  const pauses = [{ by: 'user', text: 'until it is resumed' }] as const
  expect(minerSnapshotOf(partsWith({ pauses }))).toMatchObject({ paused: true, pauses, idleReason: null })
})

it('a snapshot counts what the miner counted', () => {
  expect(minerSnapshotOf(partsWith({}))).toMatchObject({ hardwareErrors: 1, preemptions: 2, poolBlocks: 0 })
})
