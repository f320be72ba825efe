/** Settings of a network that begins as a fork. */
import { NewcutError } from '../base/errors.ts'
import { graphOf, type NodeFork } from './fork/node-fork.ts'
import { askedSettings, type DevnetOptions } from './options.ts'
import type { AskedSettings } from './rules/settings.ts'

/** Settings of a fork: the graph of the forked network, and no proof of work. Throws NewcutError BAD_OPTION. */
export function forkedSettings(options: DevnetOptions, fork: NodeFork): AskedSettings {
  const asked = { ...askedSettings(options), pow: false, network: options.networkName }
  // Chains on disk have their graph.
  if (fork.headers.size === 0) return asked
  const graph = graphOf(fork.headers)
  if (options.graph === undefined || options.graph === graph) return { ...asked, graph }
  throw new NewcutError('BAD_OPTION', `graph: the forked network has the graph ${graph}, not ${options.graph}`)
}
