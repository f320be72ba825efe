/** The embedded node: a development network served over HTTP. */
import type { Clock } from '../core/clock.ts'
import type { Cut } from '../core/cut.ts'
import type { NewcutError } from '../core/errors.ts'
import type { Network } from '../core/network.ts'
import type { Pin } from '../fork/pin.ts'
import { impersonatedKey } from '../schema/control-commands.ts'
import { checkOptions } from './check-options.ts'
import { BackupJobs, expectBackupDirectory } from './data/backup.ts'
import { BLOCKS, type DataDirectory, openDataDirectory } from './data/directory.ts'
import { snapshotOf } from './data/records.ts'
import type { SavedNetwork } from './data/state-file.ts'
import type { Calls } from './execution/calls.ts'
import { Execution } from './execution/execution.ts'
import type { Traces } from './execution/traces.ts'
import type { NodeFork } from './fork/node-fork.ts'
import { openNodeFork } from './fork/open-fork.ts'
import { warmFork } from './fork/warm.ts'
import { forkedSettings } from './forked-settings.ts'
import { type App, createApp } from './http/app.ts'
import { addBelowFork } from './http/below-fork.ts'
import { Controls } from './http/controls.ts'
import { nodeConfig } from './http/encode/node-config.ts'
import { addOpenApi } from './http/encode/openapi.ts'
import { listen } from './http/listen.ts'
import { tellRequests } from './http/request-log.ts'
import { Router } from './http/router.ts'
import { addBackupRoutes } from './http/routes/backup.ts'
import { addChainRoutes } from './http/routes/chain.ts'
import { addCommandRoutes } from './http/routes/commands.ts'
import { addCutRoutes } from './http/routes/cut.ts'
import { addLookupRoutes } from './http/routes/lookup.ts'
import { addMempoolRoutes } from './http/routes/mempool.ts'
import { addMiningRoutes } from './http/routes/mining.ts'
import { addNodeRoutes } from './http/routes/node.ts'
import { addPactRoutes } from './http/routes/pacts.ts'
import { addPayloadRoutes } from './http/routes/payload.ts'
import { addStateRoute } from './http/routes/state.ts'
import { addStreamRoutes } from './http/routes/streams.ts'
import { addTraceRoutes } from './http/routes/trace.ts'
import { addViewRoutes } from './http/routes/view.ts'
import { SendRefusals } from './http/send-refusals.ts'
import { viewedAccounts, viewedNetwork } from './http/view/chain-view.ts'
import type { Ledger } from './ledger/ledger.ts'
import { PrivateLedger } from './ledger/private.ts'
import { Impersonation } from './mempool/impersonation.ts'
import { Mempools } from './mempool/mempools.ts'
import { forkTargetOf, openChains } from './open-chains.ts'
import { askedSettings, type DevnetOptions, limitsOf } from './options.ts'
import { developmentAccount } from './orders/block-maker.ts'
import type { NonceSearch } from './orders/nonce-search.ts'
import { type PhraseAccount, phraseAccounts } from './orders/phrase-accounts.ts'
import type { Chains } from './rules/chains.ts'
import { NodeClock } from './rules/node-clock.ts'
import { releaseRules } from './rules/releases.ts'
import { type AskedSettings, type NetworkSettings, settingsOf } from './rules/settings.ts'
import { StateStart } from './state-start.ts'
import type { LetIn } from './store/let-in.ts'
import { Prints } from './store/prints.ts'
import { indexBlock, type TransactionIndex } from './store/transaction-index.ts'
import { TimeSlicer } from './time-slicer.ts'
import { TransactionWatch } from './watch/transaction-watch.ts'
import { Coordinator } from './work/coordinator.ts'

/** A running embedded node. */
export interface EmbeddedNode {
  /** `http://HOST:PORT` */
  readonly url: string
  readonly settings: NetworkSettings
  /** The fork that the network began with; null for a network of its own. */
  readonly fork: { readonly pin: Pin; readonly url: string; readonly requests: number } | null
  /** Accounts of the phrase that the node funded, by index. */
  readonly accounts: readonly PhraseAccount[]
  /** The present network: its block delay may change while the node runs. */
  readonly network: Network
  /** Chain -> its newest header at present. */
  readonly cut: Cut
  /** Present number of blocks, genesis and orphans included. */
  readonly blocks: number
  /** Present number of transactions in the mempools of all chains. */
  readonly pending: number
  /** Ends all connections, frees the port and closes the databases. */
  readonly close: () => Promise<void>
}

/** Services that the node takes from its host. */
export interface HostMachine {
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly packageVersion: string
  /** Searches nonces for blocks made on request; closed with the node. */
  readonly search: NonceSearch
  /** Module of the threads that execute contracts; default: that of the node. */
  readonly executionThread?: URL
  /** Most connections at once; less than the file descriptor limit of the process. */
  readonly maxConnections: number
}

/** A node and its chains, for code in the same process that works on them directly. */
export interface WholeNode {
  readonly devnet: EmbeddedNode
  readonly chains: Chains
  readonly ledger: Ledger
}

/**
 * Starts an embedded node. Throws NewcutError BAD_OPTION for options of the wrong shape or that exclude each other,
 * DATA_UNUSABLE if `dataDir` or `backupDir` cannot be used, PORT_BUSY if the node cannot listen.
 * @param extend adds routes beside the interface of the node
 */
export async function startNode(
  options: DevnetOptions,
  machine: HostMachine,
  extend: (app: App) => void = () => undefined,
): Promise<WholeNode> {
  checkOptions(options)
  const failed = new AbortController()
  if (options.backupDir !== undefined) await expectBackupDirectory(options.backupDir)
  const { onNotice = () => undefined } = options
  const start = await StateStart.of(options)
  const begun = await begin({ ...options, dataDir: start.dataDir }, (error) => failed.abort(error)).catch(
    async (error: unknown) => {
      await start.remove()
      throw start.named(error)
    },
  )
  const { data, fork } = begun
  const parts = assemble(options, machine, begun)
  const { app, chains, ledger, pools, settings, controls, backups, saved } = parts
  if (options.onRequest !== undefined) tellRequests(app.server, options.onRequest)
  extend(app)
  const close = async () => {
    await app.close()
    await machine.search.close()
    await backups?.close()
    // Before the data is closed: payloads may be on disk only.
    await start
      .save(saved())
      .finally(() => data?.close())
      .finally(() => start.remove())
  }
  // A node that cannot write its chains must stop.
  failed.signal.addEventListener('abort', () => {
    controls.stop()
    void app.close()
    options.onFailure?.(failed.signal.reason)
  })
  try {
    if (fork !== null) await warmFork(fork, { chains, ledger, accounts: options.accounts, onNotice })
    const accounts = phraseAccounts(options.phraseAccounts ?? 0)
    await controls.fund(accounts)
    const url = await listen(app, options)
    controls.run()
    return { devnet: handleOf({ url, settings, fork, accounts, close }, chains, pools), chains, ledger }
  } catch (error) {
    await close()
    throw error
  }
}

function handleOf(
  fixed: Pick<EmbeddedNode, 'url' | 'settings' | 'fork' | 'accounts' | 'close'>,
  chains: Chains,
  pools: Mempools,
): EmbeddedNode {
  return {
    ...fixed,
    get network() {
      return chains.network
    },
    get cut() {
      return chains.cut
    },
    get blocks() {
      return chains.store.size
    },
    get pending() {
      return chains.chainIds.reduce((sum, chain) => sum + pools.of(chain).size, 0)
    },
  }
}

/** Opens fork and data. */
async function begin(options: DevnetOptions, onFailure: (error: NewcutError) => void): Promise<Begun> {
  const { dataDir, onNotice = () => undefined } = options
  const fork = await openNodeFork(options.fork, { dataDir, onNotice }, BLOCKS)
  const asked = fork === null ? askedSettings(options) : forkedSettings(options, fork)
  const { allowPrint = false, onPrint } = options
  const prints = new Prints({ isAllowed: allowPrint, onPrint, onNotice })
  return { fork, asked, prints, data: await openData(options, { asked, fork, prints }, onFailure) }
}

/** Opens the data directory. @returns null if the options name none */
async function openData(
  options: DevnetOptions,
  begin: Pick<Begun, 'asked' | 'fork' | 'prints'>,
  onFailure: (error: NewcutError) => void,
): Promise<DataDirectory | null> {
  const { dataDir, onProgress, onNotice = () => undefined } = options
  return dataDir === undefined ? null : openDataDirectory(dataDir, { ...begin, onFailure, onNotice, onProgress })
}

/** Creates all parts of a node without starting them. */
function assemble(options: DevnetOptions, machine: HostMachine, { data, fork, asked, prints }: Begun) {
  const {
    product = 'chainweb',
    backupDir,
    accounts = null,
    onSolved,
    onTransaction,
    onNotice = () => undefined,
  } = options
  const { packageVersion, random, maxConnections } = machine
  const settings = data?.blocks.settings ?? settingsOf(asked)
  const clock = new NodeClock(machine.clock)
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  if (fork !== null) fork.setClock(clock, data?.loaded.newestCreationTime)
  const nowMs = () => clock.ms()
  const forkTarget = forkTargetOf(options, settings.release)
  const letIn = data?.blocks.letIn ?? new Map<string, LetIn>()
  const { chains, ledger, index } = openChains({ settings, forkTarget, fork, letIn, prints }, clock, data)
  chains.onBlock((block) => {
    clock.blockAdded(block.header.creationTime)
    indexBlock(index, block)
    data?.state.reached(chains.store.size)
  })
  const turns = new TimeSlicer()
  // Create the pools before the coordinator: they follow a new cut first, so new work has the transactions pending
  // then.
  const execution = new Execution(ledger, chains.store, machine.executionThread, fork)
  const { calls } = execution
  const release = releaseRules[settings.release]
  const impersonation = new Impersonation(
    letIn,
    options.impersonate?.flatMap((key) => impersonatedKey(key) ?? []),
  )
  const pools = new Mempools({ chains, index, nowMs, trial: calls, turns, release, impersonation })
  const limits = limitsOf(options)
  const coordinator = new Coordinator(chains, {
    pools,
    ledger,
    turns,
    run: execution.run,
    accounts,
    payloadLimit: limits.workLimit,
    payloadLifetimeMs: limits.workLifetimeMs,
    refreshMs: limits.refreshMs,
    random,
    nowMs,
    clock: machine.clock,
    onNotice,
    fork,
    ...(onSolved && { onSolved: (header, addition) => onSolved(header, addition, 'miner') }),
  })
  execution.onDone(() => coordinator.drafts.continue())
  // Create the watch after the pools: it reports where a transaction is once its block has left the chain.
  const watch = onTransaction === undefined ? null : new TransactionWatch({ chains, pools, turns, tell: onTransaction })
  const jobs = { settings, state: () => chains.state, now: clock.microseconds, onNotice, letIn }
  const backups = backupDir === undefined ? null : new BackupJobs({ directory: backupDir, fork, ...jobs })
  const saved = () => ({ settings, snapshot: snapshotOf(chains.state), letIn, fork: fork?.record ?? null })
  const controls = new Controls(machine.clock)
  const { requestTimeoutMs } = limits
  const app = createApp({ product, packageVersion, nowMs, requestTimeoutMs, maxConnections })
  addRoutes(app, options, {
    fork,
    saved,
    machine,
    settings,
    forkTarget,
    chains,
    ledger,
    calls,
    traces: execution.traces,
    index,
    clock,
    pools,
    coordinator,
    turns,
    watch,
    backups,
    controls,
  })
  app.addHook('preClose', async () => controls.stop())
  app.addHook('onClose', async () => {
    turns.stop()
    coordinator.stop()
    execution.close()
  })
  return { app, chains, ledger, pools, settings, controls, backups, saved }
}

/** Data, fork and settings of a node at its start. */
interface Begun {
  readonly data: DataDirectory | null
  readonly fork: NodeFork | null
  readonly asked: AskedSettings
  readonly prints: Prints
}

interface NodeParts {
  /** Returns the whole network as it is now. */
  readonly saved: () => SavedNetwork
  readonly fork: NodeFork | null
  readonly machine: HostMachine
  readonly settings: NetworkSettings
  readonly forkTarget: number
  readonly chains: Chains
  readonly ledger: Ledger
  readonly calls: Calls
  readonly traces: Traces
  readonly index: TransactionIndex
  readonly clock: NodeClock
  readonly pools: Mempools
  readonly coordinator: Coordinator
  readonly turns: TimeSlicer
  /** null if nobody listens. */
  readonly watch: TransactionWatch | null
  readonly backups: BackupJobs | null
  readonly controls: Controls
}

function addRoutes(app: App, options: DevnetOptions, parts: NodeParts): void {
  const { product = 'chainweb', accounts = null, onSolved, onNotice = () => undefined } = options
  const { chains, pools, coordinator, backups, controls, machine } = parts
  const { streams, intercept } = controls
  const { random, packageVersion, search, clock } = machine
  const limits = limitsOf(options)
  const durable = () => chains.durable()
  const prefix = `/${product}/0.0/${chains.network.name}`
  const release = releaseRules[parts.settings.release]
  const router = new Router({ app, prefix, chains: chains.cut.size, intercept })
  const { fork } = parts
  if (fork !== null) addBelowFork(app, { ...parts, fork, prefix, nowMs: () => clock.wallMs(), onNotice })
  addNodeRoutes(router, {
    network: () => chains.network,
    packageVersion,
    release,
    config: () => nodeConfig({ ...limits, ...parts, product, accounts, hasBackups: backups !== null }),
  })
  addChainRoutes(router, { chains, product })
  addPayloadRoutes(router, chains.store)
  addCutRoutes(router, { chains, durable, instance: `newcut-${process.pid}-${clock.wallMs().toString(36)}` })
  addStreamRoutes(router, { chains, product, streamLimit: limits.headerStreamLimit, streams })
  addMempoolRoutes(router, pools)
  addCommandRoutes(router, {
    ...limits,
    chains,
    turns: parts.turns,
    ledger: parts.ledger,
    calls: parts.calls,
    privateLedger: new PrivateLedger(chains, options.entity ?? null, release),
    pools,
    release,
    clock,
    refusals: parts.watch === null ? null : new SendRefusals(router, parts.watch),
  })
  addMiningRoutes(router, { ...limits, coordinator, chains: chains.cut.size, durable, random, clock, streams })
  addBackupRoutes(router, backups)
  controls.serve(router, {
    chains,
    coordinator,
    random,
    account: accounts?.[0] ?? developmentAccount,
    autoMine: parts.settings.autoMine,
    nodeClock: parts.clock,
    fork: parts.fork,
    clock,
    search,
    onNotice,
    onProgress: options.onProgress,
    ...(onSolved && { onMade: onSolved }),
  })
  addStateRoute(router, parts.saved)
  addTraceRoutes(router, parts)
  addLookupRoutes(router, parts)
  addPactRoutes(router, parts, options.phraseAccounts ?? 0)
  addViewRoutes(router, {
    ...parts,
    clock,
    nowMs: () => clock.wallMs(),
    status: () => controls.status,
    network: { ...viewedNetwork(chains, product), version: packageVersion, mode: controls.status.mode },
    accounts: viewedAccounts(accounts ?? [developmentAccount]),
  })
  addOpenApi(router, { packageVersion })
  router.finish()
}
