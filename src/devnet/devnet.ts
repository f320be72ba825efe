/** The embedded node: a development network of its own, served over HTTP. */
import type { AddressInfo } from 'node:net'
import { NewcutError } from '../core/errors.ts'
import type { GraphName } from '../core/graph.ts'
import type { WorkFields } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import type { Network } from '../core/network.ts'
import type { MinerAccount } from '../core/payload.ts'
import { packageVersion } from '../version.ts'
import { BackupJobs } from './backup.ts'
import { type Addition, Chains } from './chains.ts'
import { Coordinator } from './coordinator.ts'
import { type DataDirectory, openDataDirectory } from './data/directory.ts'
import { type App, createApp } from './http.ts'
import { NodeClock } from './node-clock.ts'
import { addBackupRoutes } from './routes-backup.ts'
import { addChainRoutes } from './routes-chain.ts'
import { addMiningRoutes } from './routes-mining.ts'
import { addNodeRoutes } from './routes-node.ts'
import { Router } from './serve.ts'
import { type NetworkSettings, networkOf, settingsOf } from './settings.ts'
import { indexBlock, MemoryTransactionIndex, type TransactionIndex } from './transaction-index.ts'

export interface DevnetOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 1848; 0 takes any free port. */
  readonly port?: number
  /**
   * Where the chains are kept, in two databases; default: in memory. A network that is there goes on, with its own
   * settings: graph, blockDelayMs, difficulty and pow must be those, or left out.
   */
  readonly dataDir?: string | undefined
  /** Where backups go; without it there are none. */
  readonly backupDir?: string | undefined
  /** Default twenty. */
  readonly graph?: GraphName | undefined
  /** Intended time between blocks of a chain. Default 30 s. */
  readonly blockDelayMs?: number | undefined
  /** Hashes a block takes at first. Default 100,000. */
  readonly difficulty?: bigint | undefined
  /** False: any nonce solves, and targets never change. Default true. */
  readonly pow?: boolean | undefined
  /** Accounts that may mine; default: anyone. */
  readonly accounts?: readonly MinerAccount[]
  /** Word in paths, version field and version header. Default chainweb. */
  readonly product?: ProductWord
  /** How long update streams stay open, x [0.9, 1.1). Default 240 s. */
  readonly updateStreamMs?: number
  /** Default 2000. */
  readonly updateStreamLimit?: number
  /** Most payloads waiting for a solution. Default 1200. */
  readonly workLimit?: number
  /** How long a payload waits for its solution. Default 300 s. */
  readonly workLifetimeMs?: number
  /** Hears of every solution, also of those whose miner is told nothing. */
  readonly onSolved?: (header: WorkFields, addition: Addition) => void
  /** Hears when the chains cannot be written, as on a full disk. The node ends then; `close` it all the same. */
  readonly onFailure?: (error: NewcutError) => void
  /** Hears what an operator should know: a backup that failed, a database that was made anew. */
  readonly onNotice?: (message: string) => void
}

export interface Devnet {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly settings: NetworkSettings
  /** As it began; `chains.network` is what it is now. */
  readonly network: Network
  readonly chains: Chains
  readonly close: () => Promise<void>
}

/**
 * Starts an embedded node. Throws NewcutError PORT_BUSY when it cannot listen, DATA_UNUSABLE when `dataDir` cannot be
 * used.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { product = 'chainweb', backupDir: directory, onNotice = () => undefined } = options
  const failed = new AbortController()
  const data = await openData(options, (error) => failed.abort(error))
  const settings = data?.blocks.settings ?? settingsOf(options)
  const network = networkOf(settings)
  const clock = new NodeClock()
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  const kept = data === null ? {} : { state: data.loaded, journal: data.blocks }
  const chains = new Chains({ network, checkPow: settings.pow, now: clock.microseconds, ...kept })
  const transactions: TransactionIndex = data?.state ?? new MemoryTransactionIndex()
  chains.onBlock((block) => {
    indexBlock(transactions, block)
    data?.state.reached(chains.store.size)
  })
  const coordinator = new Coordinator(chains, {
    accounts: options.accounts ?? null,
    payloadLimit: options.workLimit ?? 1200,
    payloadLifetimeMs: options.workLifetimeMs ?? 300_000,
    random: Math.random,
    nowMs: () => clock.ms(),
    ...(options.onSolved && { onSolved: options.onSolved }),
  })
  const app = createApp({ product, packageVersion, nowMs: () => clock.ms() })
  const prefix = `/${product}/0.0/${network.name}`
  const router = new Router({ app, prefix, hasChain: (chain) => chains.cut.has(chain) })
  addNodeRoutes(router, { network: () => chains.network, packageVersion })
  addChainRoutes(router, { chains, product, instance: `newcut-${process.pid}-${Date.now().toString(36)}` })
  addMiningRoutes(router, {
    coordinator,
    flushed: () => chains.flushed(),
    chains: chains.cut.size,
    updateStreamMs: options.updateStreamMs ?? 240_000,
    updateStreamLimit: options.updateStreamLimit ?? 2000,
    random: Math.random,
  })
  const now = clock.microseconds
  const backups =
    directory === undefined ? null : new BackupJobs({ directory, settings, state: () => chains.state, now, onNotice })
  if (backups !== null) addBackupRoutes(router, backups)
  router.finish()
  const close = async () => {
    await app.close()
    await backups?.close()
    await data?.close()
  }
  // What cannot be written must not go on as if it were.
  failed.signal.addEventListener('abort', () => {
    void app.close()
    options.onFailure?.(failed.signal.reason)
  })
  try {
    return { url: await listen(app, options), settings, network, chains, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the data directory, if there is to be one. */
async function openData(
  { dataDir, onNotice = () => undefined, ...asked }: DevnetOptions,
  onFailure: (error: NewcutError) => void,
): Promise<DataDirectory | null> {
  return dataDir === undefined ? null : openDataDirectory(dataDir, { asked, onFailure, onNotice })
}

/** Returns the URL. Throws NewcutError PORT_BUSY. */
async function listen(app: App, { host = '127.0.0.1', port = 1848 }: DevnetOptions): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint =
      code === 'EADDRINUSE'
        ? 'choose another --port (0 takes any free one) or stop what listens there'
        : 'listen on an address of this machine, and on a port that you may use'
    throw new NewcutError('PORT_BUSY', `cannot listen on ${host}:${port}: ${message}`, { hint, cause: error })
  }
  const address = app.server.address() as AddressInfo
  const hostInUrl = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${hostInUrl}:${address.port}`
}
