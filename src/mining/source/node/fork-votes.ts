/** The fork votes of work: reads them, and casts the vote that the operator wants. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type ForkRules, type ForkState, featureFlagsOf, forkStateOf, ownVote, withVote } from '#ground/chain/fork.ts'
import { withFeatureFlags } from '#ground/chain/header.ts'
import { type Work, workFromBytes } from '#ground/chain/work.ts'
import type { ForkVote, ForkVoteChoice } from '../source.ts'

interface ForkVotesOptions {
  readonly rules: ForkRules
  readonly choice: ForkVoteChoice
  /**
   * Returns the fork state of a block.
   * @throws NewcutError, or the reason of the signal
   */
  readonly stateOf: (chain: number, hash: Uint8Array, signal: AbortSignal) => Promise<ForkState>
}

const NEVER = new AbortController().signal

/** Maximum number of cached parents, which bounds the memory: more than two for each chain. */
const MAX_PARENTS = 256

/**
 * The votes of one node's work. A vote is visible only in comparison with the parent (PROTOCOL.md B.6), so unknown
 * parents are fetched.
 */
export class ForkVotes {
  readonly #options: ForkVotesOptions
  /** Base64url block hash -> its fork state. */
  readonly #parents = new Map<string, ForkState>()
  #newest: { readonly height: number; readonly vote: ForkVote } | null = null

  constructor(options: ForkVotesOptions) {
    this.#options = options
  }

  /** The vote of the highest work with a known vote. Null if no work may vote, or no parent is known. */
  get newest(): ForkVote | null {
    return this.#newest?.vote ?? null
  }

  /**
   * Casts the operator's vote in work, where the rules leave a choice. `yes` and `no` need the parent first; `node`
   * does not wait for it.
   * @throws errors of fetching the parent
   */
  async cast(work: Work, signal: AbortSignal): Promise<Work> {
    const { rules, choice: wish } = this.#options
    const { height, featureFlags } = work.fields
    if (Number(height) < rules.from) return work
    if (wish === 'node') {
      // The signal ends with the request for work; closing the client ends this fetch.
      this.#parentOf(work, NEVER).then(
        (parent) => this.#recordVote(work, parent),
        () => undefined, // Without the parent, this vote stays unknown; the next work fetches its own parent.
      )
      return work
    }
    const parent = await this.#parentOf(work, signal)
    const own = forkStateOf(featureFlags)
    const wanted = featureFlagsOf(withVote(rules, Number(height), own, parent, wish === 'yes'))
    const cast = wanted === featureFlags ? work : workFromBytes(withFeatureFlags(work.bytes, wanted))
    this.#recordVote(cast, parent)
    return cast
  }

  /**
   * The vote of work after cast(). Fetches its parent.
   * @returns null if the work may not vote
   * @throws errors of fetching the parent
   */
  async voteOf(work: Work, signal: AbortSignal): Promise<ForkVote | null> {
    this.#recordVote(await this.cast(work, signal), await this.#parentOf(work, signal))
    return this.newest
  }

  #recordVote({ fields }: Work, parent: ForkState): void {
    const height = Number(fields.height)
    const own = forkStateOf(fields.featureFlags)
    const isFor = ownVote(this.#options.rules, height, own, parent)
    if (isFor === null || height < (this.#newest?.height ?? 0)) return
    this.#newest = { height, vote: { fork: own.number + 1, isFor } }
  }

  async #parentOf({ fields }: Work, signal: AbortSignal): Promise<ForkState> {
    const id = encodeBase64Url(fields.parent)
    const known = this.#parents.get(id)
    if (known !== undefined) return known
    const parent = await this.#options.stateOf(fields.chainId, fields.parent, signal)
    this.#parents.set(id, parent)
    const [oldest] = this.#parents.keys()
    if (this.#parents.size > MAX_PARENTS && oldest !== undefined) this.#parents.delete(oldest)
    return parent
  }
}
