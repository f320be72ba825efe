/** Settings of the network that options describe. */
import { operatingError } from '#ground/base/errors.ts'
import { networkForm, versionCode } from '#ground/chain/known-networks.ts'
import { development } from '#ground/chain/network-data.ts'
import type { NetworkForm } from '#ground/chain/network-form.ts'
import { CONFIRMATIONS } from '#ground/schema/devnet-modes.ts'
import { copiedGraph, type NodeCopy } from '../copy/node-copy.ts'
import { graphText, type RequestedSettings } from '../rules/settings.ts'
import type { DevnetOptions } from './devnet-options.ts'
import { optionErrors } from './errors.ts'

/** Network settings that these options request. */
export function requestedSettings(options: DevnetOptions): RequestedSettings {
  const { graph, blockDelayMs, difficulty, pow, nodeRelease: release, forkEpoch, autoMine } = options
  const { networkName = development.name, networks } = options
  // A network of the plain rules needs no record of them.
  const network =
    networkName === development.name && networks === undefined ? undefined : networkForm(networkName, networks)
  const settings = { graph, blockDelayMs, difficulty, pow, release, forkEpoch, network }
  if (autoMine === undefined) return settings
  // Simulated block times depend on the difficulty, like those of a real search.
  const adjusts = autoMine.kind === 'simulated' ? true : undefined
  const mode = autoMine.kind === 'on-arrival' ? { confirmations: CONFIRMATIONS, ...autoMine } : autoMine
  return { ...settings, pow: false, adjusts, autoMine: mode }
}

/** Settings of a fork: graph and rules of the forked network, and no proof of work. @throws NewcutError BAD_OPTION */
export function forkedSettings(options: DevnetOptions, fork: NodeCopy): RequestedSettings {
  const [header] = fork.headers.values()
  // Chains on disk keep the rules of their first block, though the files of newcut may learn others.
  const isKept = header === undefined && options.networks === undefined && options.networkName === undefined
  const forked = { network: fork.pin.network, code: header?.version ?? null }
  const network = isKept ? undefined : forkedNetwork(forked, options)
  const settings = { ...requestedSettings(options), pow: false, network }
  // They have their graph, too.
  if (header === undefined) return settings
  if (networkForm(fork.pin.network, options.networks) === undefined) options.onNotice?.(assumptions(fork.pin.network))
  const graph = copiedGraph(fork.headers)
  if (options.graph === undefined || options.graph === graph) return { ...settings, graph }
  throw operatingError(optionErrors.otherGraph, { graph: graphText({ graph }), requested: options.graph })
}

/** A forked network. `code` is that of its pinned headers, or null for chains on disk. */
interface ForkedNetwork {
  readonly network: string
  readonly code: number | null
}

/**
 * The network that a fork is: the rules of the forked one, if there is a file, under the name and code that the options
 * want. Without a file it has the rules of development, under the name and code of the forked network if that is wanted.
 * @throws NewcutError BAD_OPTION for a name without a file that is not the forked one
 */
export function forkedNetwork(
  { network: forked, code }: ForkedNetwork,
  { networkName: name = development.name, networks }: Pick<DevnetOptions, 'networkName' | 'networks'>,
): string | NetworkForm | undefined {
  const rules = networkForm(forked, networks)
  const isDescribed = networkForm(name, networks) !== undefined
  if (!isDescribed && name !== forked) {
    throw operatingError(optionErrors.otherForkNetwork, { name, forked })
  }
  if (rules === undefined && name === forked) {
    return code === null ? undefined : { network: 1, name, code, public: false }
  }
  if (rules === undefined || rules.name === development.name) return name === development.name ? undefined : name
  if (name === rules.name) return rules.code === undefined && code !== null ? { ...rules, code } : rules
  const own = networkForm(name, networks)?.code ?? versionCode(name) ?? development.code
  return { ...rules, name, code: own, public: false }
}

function assumptions(network: string): string {
  const { blockGas, symbol } = development
  return `newcut has no file of ${network}, so its fork follows the rules of ${development.name}: ${blockGas} gas a block, rewards in ${symbol} by the table, the gas model and language of the node release`
}
