/** What the releases of the live node do differently on a development network (docs/COMPATIBILITY.md). */
import type { GasModel } from '../../core/gas.ts'
import type { NodeRelease } from '../../schema/node-releases.ts'

export interface ReleaseRules {
  /** The highest fork number whose rules it knows. A block with a higher one is invalid. */
  readonly highestKnownFork: number
  /** The fork number up to which its blocks vote, unless the operator sets another. */
  readonly forkTarget: number
  /** What the size of a command costs. */
  readonly gasModel: GasModel
  /**
   * Whether code follows language release 5.4.1: a capability of another module is composed by an admin of that module
   * only, and a signer counts under its public key always.
   */
  readonly isLanguage541: boolean
  /** Whether `send` refuses a continuation of a pact that is finished. */
  readonly refusesFinishedPacts: boolean
  /** `nodeLatestBehaviorHeight` of /info. */
  readonly latestBehaviorHeight: number
  /** Whether /info says when the release is to be replaced. */
  readonly hasServiceDate: boolean
}

const MAX_U32 = 2 ** 32 - 1

export const releaseRules: Readonly<Record<NodeRelease, ReleaseRules>> = {
  '3.2': {
    highestKnownFork: 1,
    forkTarget: 1,
    gasModel: 'post32',
    isLanguage541: true,
    refusesFinishedPacts: true,
    latestBehaviorHeight: 1,
    hasServiceDate: false,
  },
  // It checks votes as 3.2 does, but takes any number.
  '2.32': {
    highestKnownFork: MAX_U32,
    forkTarget: 0,
    gasModel: 'pre31',
    isLanguage541: false,
    refusesFinishedPacts: false,
    latestBehaviorHeight: 0,
    hasServiceDate: true,
  },
}
