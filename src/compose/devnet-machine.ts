/** What an embedded node takes from this machine: clock, threads, descriptors. */
import type { HostMachine } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { systemClock } from '../platform/clock.ts'
import { descriptorLimit, descriptorsForClients } from '../platform/descriptors.ts'
import { packageVersion } from '../platform/version.ts'
import { allCores, EngineSearch } from './nonce-search.ts'

/** Assumed where the system does not tell the limit of descriptors. */
const DEFAULT_DESCRIPTORS = 1024
/** More connections than any development network has, and still an acceptable use of memory. */
const MAX_CONNECTIONS = 20_000

/** What a node with these options takes from this machine. */
export function machineFor({ onNotice }: Pick<DevnetOptions, 'onNotice'>): HostMachine {
  return {
    clock: systemClock,
    random: Math.random,
    packageVersion,
    search: new EngineSearch(allCores, (message) => onNotice?.(message)),
    maxConnections: connectionsFor(descriptorLimit() ?? DEFAULT_DESCRIPTORS),
  }
}

/** How many connections a process with this many file descriptors may have. */
export function connectionsFor(descriptors: number): number {
  return Math.min(MAX_CONNECTIONS, descriptorsForClients(descriptors))
}
