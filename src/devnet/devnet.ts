/** The embedded node: a development network of its own, served over HTTP. */
import type { AddressInfo } from 'node:net'
import { NewcutError } from '../core/errors.ts'
import type { Network } from '../core/network.ts'
import { systemClock } from '../platform/clock.ts'
import { packageVersion } from '../platform/version.ts'
import { BackupJobs } from './data/backup.ts'
import { type DataDirectory, openDataDirectory } from './data/directory.ts'
import { type App, createApp } from './http/app.ts'
import { Controls } from './http/controls.ts'
import { nodeConfig } from './http/encode/node-config.ts'
import { addOpenApi } from './http/encode/openapi.ts'
import { Router } from './http/router.ts'
import { addBackupRoutes } from './http/routes/backup.ts'
import { addChainRoutes } from './http/routes/chain.ts'
import { addCutRoutes } from './http/routes/cut.ts'
import { addMempoolRoutes } from './http/routes/mempool.ts'
import { addMiningRoutes } from './http/routes/mining.ts'
import { addNodeRoutes } from './http/routes/node.ts'
import { addPayloadRoutes } from './http/routes/payload.ts'
import { addStreamRoutes } from './http/routes/streams.ts'
import { Mempools } from './mempool/mempools.ts'
import { NodeClock } from './node-clock.ts'
import { askedSettings, type DevnetOptions, limitsOf } from './options.ts'
import { developmentAccount } from './orders/block-maker.ts'
import { Chains } from './rules/chains.ts'
import { type NetworkSettings, networkOf, settingsOf } from './settings.ts'
import { blockPayload } from './store/payload.ts'
import { indexBlock, MemoryTransactionIndex, type TransactionIndex } from './store/transaction-index.ts'
import { Coordinator } from './work/coordinator.ts'

export type { DevnetOptions } from './options.ts'
export type { AutoMine } from './orders/auto-mine.ts'
export type { NetworkSettings } from './settings.ts'

/** A running embedded node. */
export interface Devnet {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly settings: NetworkSettings
  /** As it began; `chains.network` is what it is now. */
  readonly network: Network
  readonly chains: Chains
  /** Ends all connections, frees the port and closes the databases. */
  readonly close: () => Promise<void>
}

/**
 * Starts an embedded node. Throws NewcutError PORT_BUSY when it cannot listen, DATA_UNUSABLE when `dataDir` cannot be
 * used, BAD_OPTION for options that exclude each other.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const failed = new AbortController()
  const data = await openData(options, (error) => failed.abort(error))
  const parts = assemble(options, data)
  const { app, chains, settings, controls, backups } = parts
  const close = async () => {
    await app.close()
    await backups?.close()
    await data?.close()
  }
  // What cannot be written must not go on as if it were.
  failed.signal.addEventListener('abort', () => {
    controls.stop()
    void app.close()
    options.onFailure?.(failed.signal.reason)
  })
  try {
    const url = await listen(app, options)
    controls.run()
    return { url, settings, network: chains.rules.genesis, chains, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the data directory, if there is to be one. */
async function openData(
  options: DevnetOptions,
  onFailure: (error: NewcutError) => void,
): Promise<DataDirectory | null> {
  const { dataDir, onNotice = () => undefined } = options
  const asked = askedSettings(options)
  return dataDir === undefined ? null : openDataDirectory(dataDir, { asked, onFailure, onNotice })
}

/** All parts of a node, none of them running. */
function assemble(options: DevnetOptions, data: DataDirectory | null) {
  const { product = 'chainweb', backupDir, accounts = null, onSolved, onNotice = () => undefined } = options
  const settings = data?.blocks.settings ?? settingsOf(askedSettings(options))
  const clock = new NodeClock()
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  const nowMs = () => clock.ms()
  const chains = openChains(settings, clock, data)
  const index: TransactionIndex = data?.state ?? new MemoryTransactionIndex()
  chains.onBlock((block) => {
    indexBlock(index, block)
    data?.state.reached(chains.store.size)
  })
  // Before the coordinator: whoever hears of a new cut asks for work with the transactions that are pending then.
  const pools = new Mempools({ chains, index, nowMs })
  const limits = limitsOf(options)
  const coordinator = new Coordinator(chains, {
    pools,
    accounts,
    payloadLimit: limits.workLimit,
    payloadLifetimeMs: limits.workLifetimeMs,
    refreshMs: limits.refreshMs,
    random: Math.random,
    nowMs,
    ...(onSolved && { onSolved }),
  })
  const jobs = { settings, state: () => chains.state, now: clock.microseconds, onNotice }
  const backups = backupDir === undefined ? null : new BackupJobs({ directory: backupDir, ...jobs })
  const controls = new Controls()
  const app = createApp({ product, packageVersion, nowMs })
  addRoutes(app, options, { chains, clock, pools, coordinator, backups, controls })
  app.addHook('preClose', async () => controls.stop())
  return { app, chains, settings, controls, backups }
}

interface Parts {
  readonly chains: Chains
  readonly clock: NodeClock
  readonly pools: Mempools
  readonly coordinator: Coordinator
  readonly backups: BackupJobs | null
  readonly controls: Controls
}

function addRoutes(app: App, options: DevnetOptions, parts: Parts): void {
  const { product = 'chainweb', accounts = null, onSolved } = options
  const { chains, pools, coordinator, backups, controls } = parts
  const { streams, intercept } = controls
  const { random } = Math
  const limits = limitsOf(options)
  const flushed = () => chains.flushed()
  const prefix = `/${product}/0.0/${chains.network.name}`
  const router = new Router({ app, prefix, hasChain: (chain) => chains.cut.has(chain), intercept })
  addNodeRoutes(router, {
    network: () => chains.network,
    packageVersion,
    config: () => nodeConfig({ ...limits, chains, product, accounts, hasBackups: backups !== null }),
  })
  addChainRoutes(router, { chains, product })
  addPayloadRoutes(router, chains.store)
  addCutRoutes(router, { chains, flushed, instance: `newcut-${process.pid}-${Date.now().toString(36)}` })
  addStreamRoutes(router, { chains, product, streamLimit: limits.headerStreamLimit, streams })
  addMempoolRoutes(router, pools)
  addMiningRoutes(router, { ...limits, coordinator, chains: chains.cut.size, flushed, random, streams })
  if (backups !== null) addBackupRoutes(router, backups)
  controls.serve(router, {
    chains,
    coordinator,
    random,
    account: accounts?.[0] ?? developmentAccount,
    payloadFor: (account, parentHash, chain) => {
      // On another branch nobody follows yet which transactions it has; what the old one had returns to the pool.
      const isOnCut = chains.cut.get(chain)?.hash === parentHash
      return blockPayload(account, parentHash, isOnCut ? pools.of(chain).nextBlock : [])
    },
    autoMine: options.autoMine ?? null,
    nodeClock: parts.clock,
    timers: systemClock,
    settled: flushed,
    ...(onSolved && { onMade: onSolved }),
  })
  addOpenApi(router, { packageVersion })
  router.finish()
}

function openChains(settings: NetworkSettings, clock: NodeClock, data: DataDirectory | null): Chains {
  const kept = data === null ? {} : { state: data.loaded, journal: data.blocks }
  return new Chains({ network: networkOf(settings), checkPow: settings.pow, now: clock.microseconds, ...kept })
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
