/** The callbacks between the leader of a fleet and its miner, with a scripted leader. */
import { expect, it } from 'vitest'
import { leaderCallbacks } from '../../src/compose/search/open.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import type { AdoptedSolution, LeaderCallbacks } from '../../src/mining/engine/leader.ts'
import type { MinerEvent } from '../../src/mining/mine/events.ts'
import type { UnfinishedSolution } from '../../src/mining/mine/solution-steps.ts'
import { freshWork } from '../support/work.ts'

const unfinished = (bytes: Uint8Array): UnfinishedSolution => {
  return { bytes, issuer: '', device: '', effort: 0, foundAtMs: 0, isAcknowledged: true, verdict: null }
}

it('the leader learns of solutions of earlier runs and of every step, and reports who leads', () => {
  const [first, late] = [freshWork(1n), freshWork(1n)].map(unfinished)
  const hashOf = ({ bytes }: UnfinishedSolution) => encodeBase64Url(blockHash(bytes))
  const heard: unknown[] = []
  let ties: LeaderCallbacks | null = null
  const search = leaderCallbacks({
    attach: (given) => {
      ties = given
    },
    expect: (hashes) => void heard.push(...hashes),
    recordStep: ({ step }) => void heard.push(step),
    status: () => ({
      fleet: 'main',
      isLeading: false,
      leader: null,
      rigs: 0,
      energy: { watts: null, joules: null, hashrate: null, unread: 0 },
    }),
  })
  const shown: MinerEvent[] = []
  const adopted: AdoptedSolution[] = []
  const miner = { adopt: (solution: AdoptedSolution) => void adopted.push(solution) }
  const reached = { network: 'development', payee: 'k:me' }
  search.attach(miner, { reached, record: { unfinished: [first] }, show: (event) => void shown.push(event) })
  expect(ties).toMatchObject({ network: 'development', account: 'k:me', unfinished: [hashOf(first)] })

  search.expect([late])
  search.onEvent({ type: 'solution', step: 'found' } as MinerEvent)
  search.onEvent({ type: 'idle' })
  expect(heard).toEqual([hashOf(late), 'found'])

  const { onLeader, adopt } = ties as unknown as LeaderCallbacks
  onLeader({ isLeading: true, leader: 'here' })
  expect(shown).toEqual([{ type: 'fleet', isLeading: true, leader: 'here' }])
  const solution = { bytes: late.bytes, issuer: 'node', device: 'rig' }
  adopt(solution)
  expect(adopted).toEqual([solution])
})
