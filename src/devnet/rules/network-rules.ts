/** Rules of the blocks of a development network: those of its node release, or of its network by height. */

import type { CoinbaseModel } from '#ground/chain/coinbase.ts'
import { forkStateOf, holds, valueAt } from '#ground/chain/fork.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import type { GenesisTransaction, NetworkForm } from '#ground/chain/network-form.ts'
import type { NodeRelease } from '#ground/schema/devnet-modes.ts'
import { type ReleaseRules, releaseRules } from './releases.ts'
import { type NetworkSettings, networkOf } from './settings.ts'

/** Rules of one block. They follow from its parent. */
export interface BlockRules extends Pick<ReleaseRules, 'gasModel' | 'isLanguage541' | 'hasSlhDsa' | 'areHashesOfText'> {
  /** Gas limit of the block, for all its transactions together. */
  readonly blockGas: number
  readonly coinbase: CoinbaseModel
  /** Names of the verifiers that commands may use; null for all. */
  readonly verifiers: readonly string[] | null
}

/** Rules of a network. */
export interface NetworkRules {
  readonly network: Network
  /** Contracts of the first block, or null for those of Kadena's networks. */
  readonly genesis: readonly GenesisTransaction[] | null
  /** Rules that are the same at all heights. */
  readonly release: ReleaseRules
  /** Rules of the block on top of a parent. */
  readonly on: (parent: Pick<Header, 'height' | 'featureFlags'>) => BlockRules
}

/** Rules of the network with these settings. */
export function rulesOf(settings: NetworkSettings): NetworkRules {
  const form = typeof settings.network === 'object' ? settings.network : null
  return rulesFor(networkOf(settings), settings.release, form)
}

/**
 * Rules of a network. The newest release follows the conditions of its file, and so does the preview of the next one.
 * An older one knows no newer rules, so its own hold for all blocks. Files say nothing of SLH-DSA: it is in all blocks of
 * the preview, with its gas model.
 * @param form its file, or null for a network that follows the release alone
 */
export function rulesFor(network: Network, nodeRelease: NodeRelease, form: NetworkForm | null = null): NetworkRules {
  const release = releaseRules[nodeRelease]
  const { blockGas, coinbase, gasModels, language541, verifiers } = network
  const { gasModel, isLanguage541, hasSlhDsa, areHashesOfText } = release
  const same = { gasModel, isLanguage541, hasSlhDsa, areHashesOfText, blockGas, coinbase }
  const fixed: BlockRules = { ...same, verifiers: null }
  const byHeight: NetworkRules['on'] = ({ height, featureFlags }) => {
    const next = Number(height) + 1
    // Lower blocks may use the field as a second nonce.
    const fork = height < network.forks.from ? 0 : forkStateOf(featureFlags).number
    return {
      ...fixed,
      gasModel: hasSlhDsa ? gasModel : (valueAt(gasModels, next, fork)?.model ?? gasModel),
      verifiers: verifiers === undefined ? null : (valueAt(verifiers, next, fork)?.names ?? []),
      isLanguage541: language541 === undefined ? isLanguage541 : holds(language541, next, fork),
    }
  }
  const on = form !== null && release.followsFiles ? byHeight : () => fixed
  return { network, genesis: form?.genesis?.transactions ?? null, release, on }
}
