/** Fork numbers and votes against the vectors of forks.json, and properties that hold for all of them. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64Url } from '../../src/ground/base/bytes.ts'
import {
  brokenForkRules,
  COUNTING_BLOCKS,
  DEFAULT_CASTING_BLOCKS,
  type ForkRules,
  type ForkState,
  featureFlagsOf,
  forkChoices,
  forkPhase,
  forkStateOf,
  ownVote,
  passesVote,
  VOTE,
  votedForkState,
  wholeVotes,
  withVote,
} from '../../src/ground/chain/fork.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { decodeHeader } from '../../src/ground/chain/header.ts'
import type { Network } from '../../src/ground/chain/network.ts'
import { development, mainnet01, recapDevelopment, testnet04, testnet06 } from '../../src/ground/chain/network-data.ts'
import { brokenRules } from '../../src/ground/chain/validate.ts'

interface Position {
  readonly name: string
  readonly network: string
  readonly height: number
  readonly phase: string
  /** 16 hex digits, big-endian: first the votes, then the fork number. */
  readonly flags: string
  readonly fork_number: number
  readonly fork_votes: number
  readonly parent: string
  readonly adjacents: readonly string[]
}
interface Validation extends Position {
  readonly known_fork: number
  readonly flags_decimal: string
  readonly valid: boolean
  readonly reasons: readonly string[]
}
interface Production extends Position {
  readonly target_fork: number
}
interface Decision {
  readonly casting: number
  readonly votes: number
  readonly rounded: number
  readonly passes: boolean
}
interface Counting {
  readonly name: string
  readonly graph: keyof typeof graphs
  readonly votes_at_last_casting_height: readonly number[]
  readonly after_first_counting_height: readonly number[]
  readonly after_second: readonly number[]
  readonly after_last_counting_height: readonly number[]
  readonly passes: readonly boolean[]
}
interface HeaderCase {
  readonly name?: string
  readonly source?: string
  readonly network: string
  readonly height: number
  readonly valid: boolean
  readonly reasons?: readonly string[]
  readonly header: string
  readonly parent: string
  readonly adjacents: readonly { readonly header: string }[] | readonly string[]
}
interface Vectors {
  readonly networks: Readonly<Record<string, { code: number; casting: number; guard: number; known: number }>>
  readonly counting: number
  readonly vote: number
  readonly validation: readonly Validation[]
  readonly production: readonly Production[]
  readonly decision: readonly Decision[]
  readonly counting_runs: readonly Counting[]
  readonly real_headers: readonly HeaderCase[]
  readonly made_headers: readonly HeaderCase[]
}
const vectors = JSON.parse(readFileSync(new URL('../vectors/forks.json', import.meta.url), 'utf8')) as Vectors

const networks: Readonly<Record<string, Network>> = {
  mainnet01,
  testnet04,
  testnet06,
  development,
  'recap-development': recapDevelopment,
}
const SHORT: ForkRules = { from: 0, castingBlocks: 20, highestKnown: 1 }
const rulesOf = (name: string): ForkRules => networks[name]?.forks ?? SHORT
const stateOf = (flags: string): ForkState => forkStateOf(BigInt(`0x${flags}`))

it('networks have the codes, guards, epochs and numbers of the vectors', () => {
  expect(COUNTING_BLOCKS).toEqual(vectors.counting)
  expect(VOTE).toEqual(vectors.vote)
  for (const [name, { code, casting, guard, known }] of Object.entries(vectors.networks)) {
    expect(rulesOf(name), name).toEqual({ from: guard, castingBlocks: casting, highestKnown: known })
    if (name !== 'short-epoch') expect(networks[name].code, name).toBe(code)
  }
})

it('the default number of voting blocks is that of the development network', () => {
  expect(development.forks.castingBlocks).toBe(DEFAULT_CASTING_BLOCKS)
})

it.each(vectors.validation)('forkPhase judges $name ($network, height $height)', (each) => {
  const rules = { ...rulesOf(each.network), highestKnown: each.known_fork }
  const own = stateOf(each.flags)
  expect(own).toEqual({ number: each.fork_number, votes: each.fork_votes })
  expect(featureFlagsOf(own)).toBe(BigInt(each.flags_decimal))
  expect(forkPhase(rules, each.height)).toBe(each.phase)
  const broken = brokenForkRules(rules, each.height, own, stateOf(each.parent), each.adjacents.map(stateOf))
  expect(broken.length === 0).toBe(each.valid)
  expect(broken.toSorted()).toEqual(each.reasons.toSorted())
})

it.each(vectors.production)('votedForkState makes the fork number of new work: $name', (each) => {
  const [parent, adjacents] = [stateOf(each.parent), each.adjacents.map(stateOf)]
  const made = votedForkState(rulesOf(each.network), each.height, parent, adjacents, each.target_fork)
  expect(made).toEqual({ number: each.fork_number, votes: each.fork_votes })
})

it.each(vectors.decision)('$votes votes of $casting blocks pass: $passes', ({ casting, votes, rounded, passes }) => {
  expect(wholeVotes(votes)).toBe(rounded)
  expect(passesVote({ ...SHORT, castingBlocks: casting }, votes)).toBe(passes)
})

it.each(vectors.counting_runs)('all chains count the same votes: $name', (run) => {
  const { adjacents } = graphs[run.graph]
  const rules = mainnet01.forks
  const first = 40 * (rules.castingBlocks + COUNTING_BLOCKS) + rules.castingBlocks
  let states = run.votes_at_last_casting_height.map((votes): ForkState => ({ number: 0, votes }))
  const seen: number[][] = []
  for (let height = first; height < first + COUNTING_BLOCKS; height++) {
    states = states.map((parent, chain) => {
      const others = adjacents[chain].map((other) => states[other])
      const { number, votes, votesWithOwn } = forkChoices(rules, height, parent, others)
      expect(votesWithOwn).toBeNull()
      return { number, votes }
    })
    seen.push(states.map(({ votes }) => votes))
  }
  expect(seen[0]).toEqual(run.after_first_counting_height)
  expect(seen[1]).toEqual(run.after_second)
  expect(seen.at(-1)).toEqual(run.after_last_counting_height)
  expect(states.map(({ votes }) => passesVote(rules, votes))).toEqual(run.passes)
  const next = states.map((parent) => forkChoices(rules, first + COUNTING_BLOCKS, parent, []).number)
  expect(next).toEqual(run.passes.map(Number))
})

describe('headers', () => {
  const ofText = (text: string) => decodeHeader(decodeBase64Url(text))
  it.each([...vectors.real_headers, ...vectors.made_headers])(
    'brokenRules judges the header $name $source, height $height',
    (each) => {
      const [header, parent] = [ofText(each.header), ofText(each.parent)]
      const adjacents = each.adjacents.map((adjacent) =>
        ofText(typeof adjacent === 'string' ? adjacent : adjacent.header),
      )
      const ancestry = { parent, adjacentParents: new Map(adjacents.map((adjacent) => [adjacent.chainId, adjacent])) }
      const broken = brokenRules(networks[each.network], header, ancestry, {
        now: null,
        checkPow: each.name === undefined,
      })
      expect(broken.length === 0).toBe(each.valid)
      expect(broken.toSorted()).toEqual([...(each.reasons ?? [])].toSorted())
    },
  )
})

const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const anyState = fc.record({ number: fc.integer({ min: 0, max: 1 }), votes: fc.integer({ min: 0, max: 30_000 }) })

it('the flags of a header are exactly their two parts', () => {
  fc.assert(
    fc.property(u32, u32, (number, votes) => {
      expect(forkStateOf(featureFlagsOf({ number, votes }))).toEqual({ number, votes })
    }),
  )
  for (const wrong of [-1, 1.5, 2 ** 32, Number.NaN]) {
    expect(() => featureFlagsOf({ number: wrong, votes: 0 })).toThrow(/fork number .*: expected a whole number/)
    expect(() => featureFlagsOf({ number: 0, votes: wrong })).toThrow(/fork votes .*: expected a whole number/)
  }
})

it('the header of a new block is valid with or without a vote', () => {
  const height = fc.integer({ min: 1, max: 1_000 })
  fc.assert(
    fc.property(
      height,
      anyState,
      fc.array(anyState, { maxLength: 3 }),
      fc.constantFrom(0, 1),
      (at, parent, others, target) => {
        const rules = { ...SHORT, highestKnown: 2 }
        const made = votedForkState(rules, at, parent, others, target)
        expect(brokenForkRules(rules, at, made, parent, others)).toEqual([])
        const votes = made.votes - votedForkState(rules, at, parent, others, 0).votes
        expect(votes).toBe(target > parent.number && forkPhase(rules, at) !== 'count' ? VOTE : 0)
      },
    ),
  )
})

it('the field is free before the first rule, and new blocks leave it zero', () => {
  const rules = { ...SHORT, from: 100 }
  const parent = { number: 7, votes: 1 }
  expect(brokenForkRules(rules, 99, { number: 9, votes: 3 }, parent, [])).toEqual([])
  expect(votedForkState(rules, 99, parent, [], 1)).toEqual({ number: 0, votes: 0 })
  expect(brokenForkRules(rules, 100, { number: 9, votes: 3 }, parent, [])).toEqual([
    'unknownFork',
    'forkNumber',
    'forkVotes',
  ])
})

it('a vote added to a new header leaves it valid, and reads back', () => {
  const height = fc.integer({ min: 1, max: 1_000 })
  const others = fc.array(anyState, { maxLength: 3 })
  const target = fc.integer({ min: 0, max: 2 })
  fc.assert(
    fc.property(height, anyState, others, target, fc.boolean(), (at, parent, adjacents, nodeTarget, isFor) => {
      const rules = { ...SHORT, highestKnown: 2 }
      const made = votedForkState(rules, at, parent, adjacents, nodeTarget)
      const mine = withVote(rules, at, made, parent, isFor)
      expect(brokenForkRules(rules, at, mine, parent, adjacents)).toEqual([])
      expect(mine.number).toBe(made.number)
      const isFree = forkPhase(rules, at) !== 'count'
      expect(ownVote(rules, at, mine, parent)).toBe(isFree ? isFor : null)
      if (!isFree) expect(mine).toBe(made)
    }),
  )
})

it('a header that does not follow from its parent has no vote and takes none', () => {
  const rules = { ...SHORT, from: 10 }
  const parent = { number: 0, votes: 3000 }
  const others = [
    { number: 0, votes: 2999 },
    { number: 0, votes: 5000 },
    { number: 1, votes: 3000 },
  ]
  for (const own of others) {
    expect(ownVote(rules, 12, own, parent)).toBe(null)
    expect(withVote(rules, 12, own, parent, true)).toBe(own)
  }
  // The height is below the start of the voting rules.
  expect(ownVote(rules, 9, parent, parent)).toBe(null)
})
