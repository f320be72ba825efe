/**
 * Forks by vote: a chain's adopted fork number and the votes for the next one, in the header field `featureFlags`
 * (PROTOCOL.md B.6).
 *
 * Heights are divided into voting epochs. In the first part of an epoch, each block may cast one vote.
 *
 * In the last 120 blocks, nobody votes. Each block takes the mean of its parents' votes, so that all chains converge on
 * the same count. The first block of the next epoch adopts the fork if two thirds of the blocks voted for it.
 */

/** One vote, in units of the field. */
export const VOTE = 1000
/** Number of counting blocks at the end of an epoch. */
export const COUNTING_BLOCKS = 120
/** `castingBlocks` of a network whose file does not set it. */
export const DEFAULT_CASTING_BLOCKS = 14_280
/** Maximum of `castingBlocks`: the votes of an epoch must fit the field. */
export const MAX_CASTING_BLOCKS = 4_000_000

/** Voting rules of a network. */
export interface ForkRules {
  /** First height under these rules; infinite for never. Lower blocks may use the field as a second nonce. */
  readonly from: number
  /** Number of blocks at the start of an epoch that may vote. */
  readonly castingBlocks: number
  /** Highest fork number whose rules this version implements. */
  readonly highestKnown: number
}

/** The two parts of `featureFlags`. */
export interface ForkState {
  /** Adopted fork number, u32; 0 for none. */
  readonly number: number
  /** Votes of this epoch for the next number, u32, in thousandths of a vote. */
  readonly votes: number
}

/** Fork rules that a header can violate. */
export type ForkRule = 'forkNumber' | 'forkVotes' | 'unknownFork'

/** `start` is the first height of an epoch, where the votes restart with this block's vote. */
export type ForkPhase = 'start' | 'cast' | 'count'

/** Splits the header field `featureFlags`, a u64, into its two parts. */
export function forkStateOf(featureFlags: bigint): ForkState {
  return { number: Number(featureFlags & 0xffff_ffffn), votes: Number(featureFlags >> 32n) }
}

/**
 * Joins both parts to the u64 `featureFlags`.
 * @throws RangeError if a part does not fit u32
 */
export function featureFlagsOf({ number, votes }: ForkState): bigint {
  for (const [name, value] of Object.entries({ number, votes })) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
      throw new RangeError(`fork ${name} ${value}: expected a whole number of at most 4294967295`)
    }
  }
  return (BigInt(votes) << 32n) | BigInt(number)
}

/** Phase of a height; the same for all chains. */
export function forkPhase({ castingBlocks }: ForkRules, height: number): ForkPhase {
  const position = height % (castingBlocks + COUNTING_BLOCKS)
  return position === 0 ? 'start' : position < castingBlocks ? 'cast' : 'count'
}

/** True if the votes of the last counting block adopt the next fork: two thirds of `castingBlocks`, in whole votes. */
export function passesVote({ castingBlocks }: ForkRules, votes: number): boolean {
  return 3 * wholeVotes(votes) >= 2 * castingBlocks
}

/** Converts the field to whole votes, rounded half to even. */
export function wholeVotes(votes: number): number {
  const whole = Math.floor(votes / VOTE)
  const rest = votes % VOTE
  const isUp = rest > VOTE / 2 || (rest === VOTE / 2 && whole % 2 === 1)
  return isUp ? whole + 1 : whole
}

/** Valid fork states of the next block: one number, and its votes with or without a vote of its own. */
export interface ForkChoices {
  readonly number: number
  readonly votes: number
  /** Null in the counting phase. */
  readonly votesWithOwn: number | null
}

/**
 * Computes the valid fork states of the block at `height`.
 * @param parent state of the block's parent
 * @param adjacents states of the block's adjacent parents
 */
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

/** Fork rules that a header at `height` violates. None below the first height under the rules. */
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
 * True if a block with the state `own` votes for the next fork.
 * @returns null where nobody may vote, and if `own` does not follow from `parent` by these rules
 */
export function ownVote(rules: ForkRules, height: number, own: ForkState, parent: ForkState): boolean | null {
  if (height < rules.from) return null
  const { number, votes, votesWithOwn } = forkChoices(rules, height, parent, [])
  if (votesWithOwn === null || own.number !== number) return null
  return own.votes === votesWithOwn ? true : own.votes === votes ? false : null
}

/** State of a block with its own vote replaced by `isFor`; `own` unchanged where `ownVote` returns null. */
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

/** State of a new block from a node that votes for forks up to `target`. */
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

/** Wraps a value as the field does, modulo 2^32. */
const wrap = (value: number) => value % 2 ** 32

/**
 * Condition of a rule: a height, or an adopted fork number. It holds from there. Genesis is height 0, and infinity is
 * never.
 */
export type Condition = number | { readonly fork: number }

/** Whether a rule applies to a block. @param forkNumber adopted fork number of its parent */
export function holds(condition: Condition, height: number, forkNumber: number): boolean {
  return typeof condition === 'number' ? height >= condition : forkNumber >= condition.fork
}

/** The last of these values whose condition holds. Undefined if none does. */
export function valueAt<T extends { readonly from: Condition }>(
  values: readonly T[],
  height: number,
  forkNumber: number,
): T | undefined {
  return values.findLast(({ from }) => holds(from, height, forkNumber))
}

/** Orders conditions: heights, then fork numbers. */
export function compareConditions(a: Condition, b: Condition): number {
  const rank = (each: Condition) => (typeof each === 'number' ? [0, each] : [1, each.fork])
  const [[kindA, valueA], [kindB, valueB]] = [rank(a), rank(b)]
  return kindA - kindB || (valueA === valueB ? 0 : valueA < valueB ? -1 : 1)
}
