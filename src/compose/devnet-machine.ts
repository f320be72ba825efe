/** The host services of an embedded node: clock, search threads, connection limit. */

import type { HostMachine } from '#devnet/devnet.ts'
import type { DevnetOptions } from '#devnet/options/devnet-options.ts'
import { bundleOf } from '#ground/platform/bundled.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { descriptorLimit, descriptorsForClients } from '#ground/platform/descriptors.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { allCores, EngineSearch } from './nonce-search.ts'

/** Default where the system does not report its limit of file descriptors. */
const DEFAULT_DESCRIPTORS = 1024
/** Far above the need of any development network, with acceptable memory use. */
const MAX_CONNECTIONS = 20_000

/** The host services for a node with these options. */
export function machineFor({ onNotice }: Pick<DevnetOptions, 'onNotice'>): HostMachine {
  const executionThread = bundleOf('execution-thread')
  return {
    clock: systemClock,
    random: Math.random,
    packageVersion,
    search: new EngineSearch(allCores, (message) => onNotice?.(message)),
    maxConnections: connectionsFor(descriptorLimit() ?? DEFAULT_DESCRIPTORS),
    ...(executionThread !== undefined && { executionThread }),
  }
}

/** The connection limit for a process with this many file descriptors. */
export function connectionsFor(descriptors: number): number {
  return Math.min(MAX_CONNECTIONS, descriptorsForClients(descriptors))
}
