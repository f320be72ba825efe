/** Differences between releases of the live node on a development network (docs/COMPATIBILITY.md). */
import type { GasModel } from '#ground/chain/gas.ts'
import type { NodeRelease } from '#ground/schema/devnet-modes.ts'

export interface ReleaseRules {
  /** Highest fork number whose rules the release knows. A block with a higher one is invalid. */
  readonly highestKnownFork: number
  /** Highest fork number that its blocks vote for, unless the operator sets another. */
  readonly forkTarget: number
  /** Gas charge for the size of a command. */
  readonly gasModel: GasModel
  /**
   * Whether code follows language release 5.4.1: only an admin of a module composes its capabilities in another module,
   * and a signer always counts by its public key.
   */
  readonly isLanguage541: boolean
  /** Whether signers, keysets and accounts may have keys of SLH-DSA (KIP-0041). */
  readonly hasSlhDsa: boolean
  /**
   * Whether modules are hashed by their texts instead of as on the network. True for networks that an older newcut
   * began: their blocks name such hashes.
   */
  readonly areHashesOfText: boolean
  /** Whether `send` refuses a continuation of a finished pact. */
  readonly refusesFinishedPacts: boolean
  /** `nodeLatestBehaviorHeight` of /info. */
  readonly latestBehaviorHeight: number
  /** Whether it knows the rules that the file of a network gives a height. An older one has its own at all heights. */
  readonly followsFiles: boolean
  /** Whether /info names the date on which the release ends its service. */
  readonly hasServiceDate: boolean
}

const MAX_U32 = 2 ** 32 - 1

const newest: ReleaseRules = {
  highestKnownFork: 1,
  forkTarget: 1,
  gasModel: 'post32',
  isLanguage541: true,
  hasSlhDsa: false,
  areHashesOfText: false,
  refusesFinishedPacts: true,
  latestBehaviorHeight: 1,
  followsFiles: true,
  hasServiceDate: false,
}

export const releaseRules: Readonly<Record<NodeRelease, ReleaseRules>> = {
  '3.2': newest,
  // The next fork by vote, as far as it is known.
  '3.3-preview': { ...newest, highestKnownFork: 2, forkTarget: 2, gasModel: 'post33', hasSlhDsa: true },
  // 2.32 checks votes like 3.2, but accepts any fork number.
  '2.32': {
    highestKnownFork: MAX_U32,
    forkTarget: 0,
    gasModel: 'pre31',
    isLanguage541: false,
    hasSlhDsa: false,
    areHashesOfText: false,
    refusesFinishedPacts: false,
    latestBehaviorHeight: 0,
    followsFiles: false,
    hasServiceDate: true,
  },
}
