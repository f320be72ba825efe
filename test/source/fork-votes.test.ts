import { describe, expect, it } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { type ForkState, featureFlagsOf, VOTE } from '../../src/ground/chain/fork.ts'
import { withFeatureFlags } from '../../src/ground/chain/header.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { type Work, workFromBytes } from '../../src/ground/chain/work.ts'
import { ForkVotes } from '../../src/mining/source/node/fork-votes.ts'
import type { ForkVoteChoice } from '../../src/mining/source/source.ts'
import { madeWork } from './simulated-node.ts'

const PARENT: ForkState = { number: 0, votes: 7 * VOTE }
const signal = new AbortController().signal

/** Work on top of PARENT with these votes. */
function workWith(votes: number, number = 0): Work {
  return workFromBytes(withFeatureFlags(madeWork(0, 7).bytes, featureFlagsOf({ number, votes })))
}

function votesOf(wish: ForkVoteChoice, answer: () => Promise<ForkState> = async () => PARENT) {
  const asked: string[] = []
  const stateOf = (chain: number, hash: Uint8Array) => {
    asked.push(`${chain} ${Buffer.from(hash).toString('hex').slice(0, 8)}`)
    return answer()
  }
  return { asked, votes: new ForkVotes({ rules: development.forks, choice: wish, stateOf }) }
}

const votesIn = ({ fields }: Work) => Number(fields.featureFlags >> 32n)
const away = async () => {
  throw new NewcutError('NODE_UNREACHABLE', 'the node is away')
}

describe('votes of work', () => {
  it.each([
    ['yes', 7 * VOTE, 8 * VOTE],
    ['yes', 8 * VOTE, 8 * VOTE],
    ['no', 8 * VOTE, 7 * VOTE],
    ['no', 7 * VOTE, 7 * VOTE],
  ] as const)(
    'the vote `%s` makes work with %d of work with %d, and nothing else changes',
    async (wish, given, expected) => {
      const { votes } = votesOf(wish)
      const work = workWith(given)
      const cast = await votes.cast(work, signal)
      expect(votesIn(cast)).toBe(expected)
      expect(votes.newest).toEqual({ fork: 1, isFor: wish === 'yes' })
      const [before, after] = [work.bytes, cast.bytes].map((bytes) => Buffer.from(bytes).toString('hex'))
      expect(after.slice(0, 8)).toEqual(before.slice(0, 8))
      expect(after.slice(16)).toEqual(before.slice(16))
    },
  )

  it('the work keeps its votes unchanged if they do not follow from the parent', async () => {
    for (const work of [workWith(7 * VOTE, 1), workWith(9 * VOTE)]) {
      const { votes } = votesOf('no')
      expect(await votes.cast(work, signal)).toBe(work)
      expect(votes.newest).toBe(null)
    }
  })

  it('the source reports votes as the node casts them once their parent is known; work does not wait for that', async () => {
    let answer: (state: ForkState) => void = () => undefined
    const { votes, asked } = votesOf('node', () => new Promise((resolve) => (answer = resolve)))
    const work = workWith(8 * VOTE)
    expect(await votes.cast(work, signal)).toBe(work)
    expect(votes.newest).toBe(null)
    answer(PARENT)
    await expect.poll(() => votes.newest).toEqual({ fork: 1, isFor: true })
    await votes.cast(workWith(7 * VOTE), signal)
    await expect.poll(() => votes.newest).toEqual({ fork: 1, isFor: false })
    expect(asked).toHaveLength(1)
  })

  it('the vote `node` continues with an unavailable parent, and `yes` waits for another answer', async () => {
    const work = workWith(8 * VOTE)
    expect(await votesOf('node', away).votes.cast(work, signal)).toBe(work)
    await expect(votesOf('yes', away).votes.cast(work, signal)).rejects.toThrow('the node is away')
  })
})
