/** Settings of a network that begins as a fork. */
import { NewcutError } from '../base/errors.ts'
import { networkForm, versionCode } from '../core/known-networks.ts'
import { development } from '../core/network-data.ts'
import type { NetworkForm } from '../core/network-form.ts'
import { forkedGraph, type NodeFork } from './fork/node-fork.ts'
import { askedSettings, type DevnetOptions } from './options.ts'
import { type AskedSettings, graphText } from './rules/settings.ts'

/** Settings of a fork: graph and rules of the forked network, and no proof of work. Throws NewcutError BAD_OPTION. */
export function forkedSettings(options: DevnetOptions, fork: NodeFork): AskedSettings {
  const network = forkedNetwork(fork.pin.network, options)
  const settings = { ...askedSettings(options), pow: false, network }
  // Chains on disk have their graph.
  if (fork.headers.size === 0) return settings
  const graph = forkedGraph(fork.headers)
  if (options.graph === undefined || options.graph === graph) return { ...settings, graph }
  throw new NewcutError(
    'BAD_OPTION',
    `graph: the forked network has the graph ${graphText({ graph })}, not ${options.graph}`,
  )
}

/**
 * The network that a fork of `forked` is: the rules of the forked one, if there is a file, under the name and code that
 * the options want.
 */
export function forkedNetwork(
  forked: string,
  { networkName: name = development.name, networks }: Pick<DevnetOptions, 'networkName' | 'networks'>,
): string | NetworkForm | undefined {
  const rules = networkForm(forked, networks)
  if (rules === undefined || rules.name === development.name) return name === development.name ? undefined : name
  if (name === rules.name) return rules
  const code = networkForm(name, networks)?.code ?? versionCode(name) ?? development.code
  return { ...rules, name, code, public: false }
}
