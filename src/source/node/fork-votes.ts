/** What work votes for, and the vote that the operator wants in it. */
import { encodeBase64Url } from '../../core/bytes.ts'
import { type ForkRules, type ForkState, featureFlagsOf, forkStateOf, ownVote, withVote } from '../../core/fork.ts'
import { withFeatureFlags } from '../../core/header.ts'
import { type Work, workFromBytes } from '../../core/work.ts'
import type { ForkVote } from '../source.ts'
import type { ForkWish } from './fork-wish.ts'

export interface ForkVotesOptions {
  readonly rules: ForkRules
  readonly wish: ForkWish
  /** The fork state of a block. Throws NewcutError, or the signal's reason. */
  readonly stateOf: (chain: number, hash: Uint8Array, signal: AbortSignal) => Promise<ForkState>
}

const NEVER = new AbortController().signal

/** Parents that are kept: many more than chains. */
const MAX_PARENTS = 256

/**
 * The votes of one node's work. Whether work votes is seen only next to its parent (PROTOCOL.md B.6): those are asked for
 * where they are not known.
 */
export class ForkVotes {
  readonly #options: ForkVotesOptions
  /** Block hash in base64url -> its state. */
  readonly #parents = new Map<string, ForkState>()
  #newest: { readonly height: number; readonly vote: ForkVote } | null = null

  constructor(options: ForkVotesOptions) {
    this.#options = options
  }

  /** What the highest work votes of which it is known; null: no work may vote, or no parent is known. */
  get newest(): ForkVote | null {
    return this.#newest?.vote ?? null
  }

  /**
   * The work with the vote that is wanted, where the rules leave a choice. For `yes` and `no` its parent is asked for
   * first: throws what that throws. Otherwise work does not wait for it.
   */
  async cast(work: Work, signal: AbortSignal): Promise<Work> {
    const { rules, wish } = this.#options
    const { height, featureFlags } = work.fields
    if (Number(height) < rules.from) return work
    if (wish === 'node') {
      // The signal ends with the request for work, and the client ends what it still waits for when it closes.
      this.#parentOf(work, NEVER).then(
        (parent) => this.#note(work, parent),
        () => undefined, // Nothing is lost: its vote is not told, and the parent of the next work is asked for.
      )
      return work
    }
    const parent = await this.#parentOf(work, signal)
    const own = forkStateOf(featureFlags)
    const wanted = featureFlagsOf(withVote(rules, Number(height), own, parent, wish === 'yes'))
    const cast = wanted === featureFlags ? work : workFromBytes(withFeatureFlags(work.bytes, wanted))
    this.#note(cast, parent)
    return cast
  }

  /** What the work votes as it is cast; null: it may not vote. Its parent is asked for: throws what that throws. */
  async voteOf(work: Work, signal: AbortSignal): Promise<ForkVote | null> {
    this.#note(await this.cast(work, signal), await this.#parentOf(work, signal))
    return this.newest
  }

  #note({ fields }: Work, parent: ForkState): void {
    const [height, own] = [Number(fields.height), forkStateOf(fields.featureFlags)]
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
