/** The embedded node on this machine: the public door of `newcut/devnet`. */
import { type Devnet, type Machine, startNode } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { systemClock } from '../platform/clock.ts'
import { descriptorLimit } from '../platform/descriptors.ts'
import { packageVersion } from '../platform/version.ts'
import { EngineSearch } from './nonce-search.ts'

export type { Devnet } from '../devnet/devnet.ts'
export type { DevnetOptions } from '../devnet/options.ts'
export type { AutoMine } from '../devnet/rules/auto-mine-mode.ts'
export type { NetworkSettings } from '../devnet/rules/settings.ts'

/** Where the system does not say how many descriptors there are. */
const DEFAULT_DESCRIPTORS = 1024
/** Descriptors for all but connections: databases, threads, files of the runtime. At most half of what there is. */
const MAX_OTHER_DESCRIPTORS = 256
/** More than any development network has, and what they take in memory is still bearable. */
const MAX_CONNECTIONS = 20_000

/**
 * Starts an embedded node. Throws NewcutError BAD_OPTION for options of the wrong shape or that exclude each other,
 * DATA_UNUSABLE when `dataDir` or `backupDir` cannot be used, PORT_BUSY when it cannot listen.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { devnet } = await startNode(options, machineFor(options))
  return devnet
}

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
