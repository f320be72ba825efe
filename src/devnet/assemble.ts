/** Assembles a network: its chains, ledger, pools and work, and the routes of its interface. It starts nothing. */

import { impersonatedKey } from '#ground/schema/control-commands.ts'
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { developmentAccount } from './control/block-maker.ts'
import type { NodeCopy } from './copy/node-copy.ts'
import { BackupJobs } from './data/backup.ts'
import type { DataDirectory } from './data/directory.ts'
import { stateSnapshotOf } from './data/records.ts'
import type { SavedNetwork } from './data/state-file.ts'
import { Execution } from './execution/execution.ts'
import { type App, createApp } from './http/app.ts'
import { addBelowPin } from './http/below-pin.ts'
import { Controls, interceptOf } from './http/controls.ts'
import { nodeConfig } from './http/encode/node-config.ts'
import { addOpenApi } from './http/encode/openapi.ts'
import { Faults } from './http/faults.ts'
import { RefusalReporter } from './http/refusal-reporter.ts'
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
import { addSimulateRoute } from './http/routes/simulate.ts'
import { addStateRoute } from './http/routes/state.ts'
import { addStreamRoutes } from './http/routes/streams.ts'
import { addTraceRoutes } from './http/routes/trace.ts'
import { addViewRoutes } from './http/routes/view.ts'
import { StreamGate } from './http/stream/stream-gate.ts'
import { viewedAccounts, viewedNetwork } from './http/view/chain-view.ts'
import { PrivateLedger } from './ledger/private.ts'
import { Impersonation } from './mempool/impersonation.ts'
import { Mempools } from './mempool/mempools.ts'
import type { NetworkHost } from './network-host.ts'
import { forkTargetOf, openChains } from './open-chains.ts'
import type { DevnetOptions } from './options/devnet-options.ts'
import { limitsOf } from './options/option-table.ts'
import { rulesOf } from './rules/network-rules.ts'
import { NodeClock } from './rules/node-clock.ts'
import type { NetworkSettings } from './rules/settings.ts'
import { Exemptions } from './store/exemptions.ts'
import type { PrintReporter } from './store/print-reporter.ts'
import { indexBlock } from './store/transaction-index.ts'
import { TimeSlicer } from './time-slicer.ts'
import { TransactionWatch } from './watch/transaction-watch.ts'
import { Coordinator } from './work/coordinator.ts'

/** Data, fork and settings of a node at its start. */
export interface OpenedParts {
  readonly data: DataDirectory | null
  readonly fork: NodeCopy | null
  readonly settings: NetworkSettings
  readonly prints: PrintReporter
}

type Host = Pick<NetworkHost, 'machine' | 'switchNetwork'>

/** Creates all parts of a node without starting them. */
export function assemble(options: DevnetOptions, host: Host, opened: OpenedParts) {
  const stores = openStores(options, host, opened)
  const work = createWork(options, host, stores)
  const app = createApp({
    product: productOf(options),
    packageVersion: stores.settings.release,
    nowMs: () => stores.clock.ms(),
  })
  const parts: NodeParts = {
    ...stores,
    ...work,
    app,
    backups: createBackups(options, stores),
    captureNetwork: () => captureNetwork(stores, work.pools),
  }
  const controls = addRoutes(options, host, parts)
  app.addHook('preClose', async () => controls.stop())
  app.addHook('onClose', async () => {
    work.turns.stop()
    work.coordinator.stop()
    work.execution.close()
  })
  return { ...parts, controls }
}

const productOf = ({ product = plainOptions.product.fallback }: DevnetOptions) => product

type NodeStores = ReturnType<typeof openStores>

/** Opens the chains, their state and their rules, and starts the clock that new blocks follow. */
function openStores(options: DevnetOptions, { machine }: Host, { data, fork, settings, prints }: OpenedParts) {
  const clock = new NodeClock(machine.clock)
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  if (fork !== null) fork.setClock(clock, data?.loaded.newestCreationTime)
  const rules = rulesOf(settings)
  const forkTarget = forkTargetOf(options, rules)
  const exemptions = data?.blocks.exemptions ?? new Exemptions()
  const { chains, ledger, index } = openChains({ settings, rules, forkTarget, fork, exemptions, prints }, clock, data)
  chains.onBlock((block) => {
    clock.blockAdded(block.header.creationTime)
    indexBlock(index, block)
    data?.state.markReached(chains.store.size)
  })
  return { chains, ledger, index, clock, rules, settings, exemptions, fork, forkTarget }
}

type NodeWork = ReturnType<typeof createWork>

/**
 * Creates what fills blocks: execution, pools and work. They follow a new cut in the order of their creation: the pools
 * first, so that new work has the transactions that are pending then. The watch comes after the pools: it reports where
 * a transaction is once its block has left the chain.
 */
function createWork(options: DevnetOptions, { machine }: Host, stores: NodeStores) {
  const { chains, ledger, index, clock, rules, exemptions, fork } = stores
  const { accounts = null, onSolved, onTransaction, onNotice = () => undefined } = options
  const nowMs = () => clock.ms()
  const limits = limitsOf(options)
  const turns = new TimeSlicer()
  const execution = new Execution(ledger, chains.store, machine, fork)
  const { calls, traces } = execution
  const keys = options.impersonate?.flatMap((key) => impersonatedKey(key) ?? [])
  const impersonation = new Impersonation(exemptions, keys, rules.release)
  const pools = new Mempools({ chains, index, nowMs, trial: calls, turns, rules, impersonation })
  const coordinator = new Coordinator(chains, {
    pools,
    ledger,
    turns,
    run: execution.run,
    accounts,
    payloadLimit: limits.workLimit,
    payloadLifetimeMs: limits.workLifetimeMs,
    refreshMs: limits.refreshMs,
    random: machine.random,
    nowMs,
    clock: machine.clock,
    onNotice,
    fork,
    ...(onSolved && { onSolved: (header, addition) => onSolved(header, addition, 'miner') }),
  })
  execution.onDone(() => coordinator.drafts.continue())
  const watch =
    onTransaction === undefined ? null : new TransactionWatch({ chains, pools, turns, report: onTransaction })
  return { pools, coordinator, turns, execution, calls, traces, watch, limits }
}

/** @returns null if the options name no directory for backups */
function createBackups({ backupDir, onNotice = () => undefined }: DevnetOptions, stores: NodeStores) {
  if (backupDir === undefined) return null
  const { settings, chains, clock, exemptions, fork } = stores
  return new BackupJobs({
    directory: backupDir,
    settings,
    state: () => chains.state,
    now: clock.microseconds,
    onNotice,
    exemptions,
    fork,
  })
}

/** The whole network as it is now. */
function captureNetwork({ settings, chains, exemptions, fork }: NodeStores, pools: Mempools): SavedNetwork {
  return {
    settings,
    snapshot: stateSnapshotOf(chains.state),
    exemptions,
    fork: fork?.record ?? null,
    pending: pools.pending,
  }
}

/** The parts of a node that its routes serve. */
interface NodeParts extends NodeStores, NodeWork {
  readonly app: App
  readonly backups: BackupJobs | null
  readonly captureNetwork: () => SavedNetwork
}

/** Parts that several routes share. */
interface RouteContext {
  readonly router: Router
  readonly streams: StreamGate
  /** Resolves once every change so far survives the end of the process. */
  readonly durable: () => Promise<void>
}

/** Serves the parts. The first route that fits a request answers it, so the routes of live nodes come first. */
function addRoutes(options: DevnetOptions, host: Host, parts: NodeParts): Controls {
  const { app, chains, fork } = parts
  const { clock } = host.machine
  const prefix = `/${productOf(options)}/0.0/${chains.network.name}`
  const stop = new AbortController()
  const faults = new Faults(clock, stop.signal)
  const router = new Router({ app, prefix, chains: chains.cut.size, intercept: interceptOf(faults) })
  const streams = new StreamGate()
  const context: RouteContext = { router, streams, durable: () => chains.durable() }
  if (fork !== null) {
    const { onNotice = () => undefined } = options
    addBelowPin(app, { ...parts, fork, prefix, nowMs: () => clock.wallMs(), onNotice })
  }
  addNodeInterface(options, host, parts, context)
  const controls = createControls(options, host, parts, { router, streams, faults, stop })
  addDevnetRoutes(options, host, parts, { router, controls, stopped: stop.signal })
  router.finish()
  return controls
}

/** Adds the endpoints of live nodes. */
function addNodeInterface(options: DevnetOptions, { machine }: Host, parts: NodeParts, context: RouteContext): void {
  const { accounts = null, entity = null } = options
  const { chains, pools, fork, rules, settings, limits, coordinator, backups, watch } = parts
  const { router, streams, durable } = context
  const { clock, random } = machine
  const product = productOf(options)
  addNodeRoutes(router, {
    network: () => chains.network,
    packageVersion: settings.release,
    release: rules.release,
    config: () => nodeConfig({ ...limits, ...parts, product, accounts, hasBackups: backups !== null }),
  })
  addChainRoutes(router, { chains, product, fork })
  addPayloadRoutes(router, chains.store)
  addCutRoutes(router, { chains, durable, instance: `newcut-${process.pid}-${clock.wallMs().toString(36)}` })
  addStreamRoutes(router, { chains, product, streamLimit: limits.headerStreamLimit, streams })
  addMempoolRoutes(router, pools)
  const privateLedger = new PrivateLedger(chains, entity, rules)
  const refusals = watch === null ? null : new RefusalReporter(router, watch)
  addCommandRoutes(router, { ...limits, ...parts, clock, privateLedger, refusals })
  addMiningRoutes(router, { ...limits, coordinator, chains: chains.cut.size, durable, random, clock, streams })
  addBackupRoutes(router, backups)
}

interface ControlContext extends Pick<RouteContext, 'router' | 'streams'> {
  readonly faults: Faults
  readonly stop: AbortController
}

function createControls(
  { accounts, onSolved, onProgress, onNotice = () => undefined }: DevnetOptions,
  { machine, switchNetwork }: Host,
  { chains, coordinator, settings, fork, clock }: NodeParts,
  { router, streams, faults, stop }: ControlContext,
): Controls {
  return new Controls(router, {
    chains,
    coordinator,
    account: accounts?.[0] ?? developmentAccount,
    autoMine: settings.autoMine,
    switchNetwork,
    nodeClock: clock,
    clock: machine.clock,
    random: machine.random,
    search: machine.search,
    fork,
    onNotice,
    onProgress,
    faults,
    streams,
    stop,
    ...(onSolved && { onMade: onSolved }),
  })
}

/** Adds the endpoints of development networks, and the description of the whole interface. */
function addDevnetRoutes(
  options: DevnetOptions,
  { machine: { clock, packageVersion } }: Host,
  parts: NodeParts,
  {
    router,
    controls,
    stopped,
  }: { readonly router: Router; readonly controls: Controls; readonly stopped: AbortSignal },
): void {
  const { accounts, phraseAccounts = plainOptions.phraseAccounts.fallback } = options
  const network = viewedNetwork(parts.chains, productOf(options))
  addStateRoute(router, parts.captureNetwork)
  addTraceRoutes(router, parts)
  const { simulate } = parts.execution
  addSimulateRoute(router, { ...parts, account: accounts?.[0] ?? developmentAccount, simulate }, stopped)
  addLookupRoutes(router, parts)
  addPactRoutes(router, parts, phraseAccounts)
  addViewRoutes(router, {
    ...parts,
    clock,
    nowMs: () => clock.wallMs(),
    status: () => controls.status,
    accounts: viewedAccounts(accounts ?? [developmentAccount]),
    network: { ...network, version: packageVersion, mode: controls.status.mode },
  })
  addOpenApi(router, { packageVersion })
}
