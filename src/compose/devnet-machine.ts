/** What an embedded node takes from this machine: clock, threads, descriptors. */
import type { Machine } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { systemClock } from '../platform/clock.ts'
import { descriptorLimit } from '../platform/descriptors.ts'
import { packageVersion } from '../platform/version.ts'
import { EngineSearch } from './nonce-search.ts'

/** Where the system does not say how many descriptors there are. */
const DEFAULT_DESCRIPTORS = 1024
/** Descriptors for all but connections: databases, threads, files of the runtime. At most half of what there is. */
const MAX_OTHER_DESCRIPTORS = 256
/** More than any development network has, and what they take in memory is still bearable. */
const MAX_CONNECTIONS = 20_000

/** What a node with these options takes from this machine. */
export function machineFor({ onNotice }: Pick<DevnetOptions, 'onNotice'>): Machine {
  return {
    clock: systemClock,
    random: Math.random,
    packageVersion,
    search: new EngineSearch((message) => onNotice?.(message)),
    maxConnections: connectionsFor(descriptorLimit() ?? DEFAULT_DESCRIPTORS),
  }
}

/** Most connections of a process with so many file descriptors. */
export function connectionsFor(descriptors: number): number {
  return Math.min(MAX_CONNECTIONS, descriptors - Math.min(MAX_OTHER_DESCRIPTORS, Math.ceil(descriptors / 2)))
}
