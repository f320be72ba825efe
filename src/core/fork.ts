/**
 * Forks by vote: the number of the fork that a chain has adopted, and the votes for the next one, in the field
 * `featureFlags` of a header (PROTOCOL.md B.6).
 *
 * Heights are cut into epochs of votes. In the first part of an epoch each block may cast one vote; in the last 120 blocks
 * nobody votes: each block takes the mean of its parents' votes, and so all chains arrive at the same count. The first
 * block of the next epoch adopts the fork if two thirds of the blocks voted for it.
 */

/** One vote, in the units of the field. */
export const VOTE = 1000
/** Blocks at the end of an epoch that count. */
export const COUNTING_BLOCKS = 120
/** Most blocks of an epoch that may vote: their votes have to fit the field. */
export const MAX_CASTING_BLOCKS = 4_000_000

/** The rules of a network for forks by vote. */
export interface ForkRules {
  /** The height from which they hold; infinite: never. Below it the field is free: it was used as a second nonce. */
  readonly from: number
  /** Blocks at the beginning of an epoch that may vote. */
  readonly castingBlocks: number
  /** The highest fork number that this version knows the rules of. */
  readonly highestKnown: number
}

/** Both parts of `featureFlags`. */
export interface ForkState {
  /** The fork that the chain has adopted, u32: 0 is none. */
  readonly number: number
  /** Votes of this epoch for the next number, u32, a thousandth of a vote each. */
  readonly votes: number
}

/** What a header can break. */
export type ForkRule = 'forkNumber' | 'forkVotes' | 'unknownFork'

/** `start`: the first height of an epoch, where votes begin anew, with that of this block. */
export type ForkPhase = 'start' | 'cast' | 'count'

/** `featureFlags` is the u64 of a header. */
export function forkStateOf(featureFlags: bigint): ForkState {
  return { number: Number(featureFlags & 0xffff_ffffn), votes: Number(featureFlags >> 32n) }
}

/** The u64 of a header. Throws RangeError for a part that is no u32. */
export function featureFlagsOf({ number, votes }: ForkState): bigint {
  for (const [name, value] of Object.entries({ number, votes })) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
      throw new RangeError(`fork ${name} ${value}: expected a whole number of at most 4294967295`)
    }
  }
  return (BigInt(votes) << 32n) | BigInt(number)
}

/** The phase of a height, for all chains alike. */
export function forkPhase({ castingBlocks }: ForkRules, height: number): ForkPhase {
  const position = height % (castingBlocks + COUNTING_BLOCKS)
  return position === 0 ? 'start' : position < castingBlocks ? 'cast' : 'count'
}

/** Whether the votes of the last counting block adopt the next fork: two thirds of all, in whole votes. */
export function passesVote({ castingBlocks }: ForkRules, votes: number): boolean {
  return 3 * wholeVotes(votes) >= 2 * castingBlocks
}

/** Votes of a field in whole ones: to the nearest, halves to the even one. */
export function wholeVotes(votes: number): number {
  const whole = Math.floor(votes / VOTE)
  const rest = votes % VOTE
  const isUp = rest > VOTE / 2 || (rest === VOTE / 2 && whole % 2 === 1)
  return isUp ? whole + 1 : whole
}

/** What a block on top of its parents may say: one number, and its votes without a vote of its own or with one. */
export interface ForkChoices {
  readonly number: number
  readonly votes: number
  /** Null where nobody may vote. */
  readonly votesWithOwn: number | null
}

/** `parent` and `adjacents` are the states of the headers that the block at `height` names. */
export function forkChoices(
  rules: ForkRules,
  height: number,
  parent: ForkState,
  adjacents: readonly ForkState[],
): ForkChoices {
  const { number, votes } = parent
  switch (forkPhase(rules, height)) {
    case 'start':
      return { number: passesVote(rules, votes) ? wrap(number + 1) : number, votes: 0, votesWithOwn: VOTE }
    case 'cast':
      return { number, votes, votesWithOwn: wrap(votes + VOTE) }
    case 'count': {
      const sum = wrap(adjacents.reduce((all, adjacent) => all + adjacent.votes, votes))
      return { number, votes: Math.floor(sum / (adjacents.length + 1)), votesWithOwn: null }
    }
  }
}

/** The rules that a header at `height` breaks. Below the height from which they hold it breaks none. */
export function brokenForkRules(
  rules: ForkRules,
  height: number,
  own: ForkState,
  parent: ForkState,
  adjacents: readonly ForkState[],
): ForkRule[] {
  if (height < rules.from) return []
  const choices = forkChoices(rules, height, parent, adjacents)
  const broken: [ForkRule, boolean][] = [
    ['unknownFork', own.number > rules.highestKnown],
    ['forkNumber', own.number !== choices.number],
    ['forkVotes', own.votes !== choices.votes && own.votes !== choices.votesWithOwn],
  ]
  return broken.filter(([, isBroken]) => isBroken).map(([rule]) => rule)
}

/**
 * Whether a block with the state `own` votes for the next fork; null where nobody may vote, and where `own` does not follow
 * from `parent` by these rules.
 */
export function ownVote(rules: ForkRules, height: number, own: ForkState, parent: ForkState): boolean | null {
  if (height < rules.from) return null
  const { number, votes, votesWithOwn } = forkChoices(rules, height, parent, [])
  if (votesWithOwn === null || own.number !== number) return null
  return own.votes === votesWithOwn ? true : own.votes === votes ? false : null
}

/** The state of a block with this vote in the place of its own. `own` itself where ownVote gives null. */
export function withVote(
  rules: ForkRules,
  height: number,
  own: ForkState,
  parent: ForkState,
  isFor: boolean,
): ForkState {
  if (ownVote(rules, height, own, parent) === null) return own
  const { votes, votesWithOwn } = forkChoices(rules, height, parent, [])
  return { number: own.number, votes: isFor ? (votesWithOwn ?? votes) : votes }
}

/** The state of a new block of a node that votes for forks up to `target`. */
export function votedForkState(
  rules: ForkRules,
  height: number,
  parent: ForkState,
  adjacents: readonly ForkState[],
  target: number,
): ForkState {
  if (height < rules.from) return { number: 0, votes: 0 }
  const { number, votes, votesWithOwn } = forkChoices(rules, height, parent, adjacents)
  return { number, votes: parent.number < target && votesWithOwn !== null ? votesWithOwn : votes }
}

/** As the field is kept: modulo 2^32. */
const wrap = (value: number) => value % 2 ** 32
