/** Assembles a network: its chains, ledger, pools and work, and the routes of its interface. It starts nothing. */

import { impersonatedKey } from '../schema/control-commands.ts'
import { BackupJobs } from './data/backup.ts'
import type { DataDirectory } from './data/directory.ts'
import { snapshotOf } from './data/records.ts'
import type { SavedNetwork } from './data/state-file.ts'
import type { Calls } from './execution/calls.ts'
import { Execution } from './execution/execution.ts'
import type { Traces } from './execution/traces.ts'
import type { NodeFork } from './fork/node-fork.ts'
import { type App, createApp } from './http/app.ts'
import { addBelowFork } from './http/below-fork.ts'
import { Controls } from './http/controls.ts'
import { nodeConfig } from './http/encode/node-config.ts'
import { addOpenApi } from './http/encode/openapi.ts'
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
import type { HostMachine, NetworkHost } from './network-host.ts'
import { forkTargetOf, openChains } from './open-chains.ts'
import { type DevnetOptions, limitsOf } from './options.ts'
import { developmentAccount } from './orders/block-maker.ts'
import type { Chains } from './rules/chains.ts'
import { type NetworkRules, rulesOf } from './rules/network-rules.ts'
import { NodeClock } from './rules/node-clock.ts'
import type { NetworkSettings } from './rules/settings.ts'
import type { LetIn } from './store/let-in.ts'
import type { Prints } from './store/prints.ts'
import { indexBlock, type TransactionIndex } from './store/transaction-index.ts'
import { TimeSlicer } from './time-slicer.ts'
import { TransactionWatch } from './watch/transaction-watch.ts'
import { Coordinator } from './work/coordinator.ts'

/** Creates all parts of a node without starting them. */
export function assemble(
  options: DevnetOptions,
  { machine, turn }: Pick<NetworkHost, 'machine' | 'turn'>,
  { data, fork, settings, prints }: Begun,
) {
  const {
    product = 'chainweb',
    backupDir,
    accounts = null,
    onSolved,
    onTransaction,
    onNotice = () => undefined,
  } = options
  const { random } = machine
  const clock = new NodeClock(machine.clock)
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  if (fork !== null) fork.setClock(clock, data?.loaded.newestCreationTime)
  const nowMs = () => clock.ms()
  const rules = rulesOf(settings)
  const forkTarget = forkTargetOf(options, rules)
  const letIn = data?.blocks.letIn ?? new Map<string, LetIn>()
  const { chains, ledger, index } = openChains({ settings, rules, forkTarget, fork, letIn, prints }, clock, data)
  chains.onBlock((block) => {
    clock.blockAdded(block.header.creationTime)
    indexBlock(index, block)
    data?.state.reached(chains.store.size)
  })
  const turns = new TimeSlicer()
  // Create the pools before the coordinator: they follow a new cut first, so new work has the transactions pending
  // then.
  const execution = new Execution(ledger, chains.store, machine, fork)
  const { calls } = execution
  const impersonation = new Impersonation(
    letIn,
    options.impersonate?.flatMap((key) => impersonatedKey(key) ?? []),
    rules.release,
  )
  const pools = new Mempools({ chains, index, nowMs, trial: calls, turns, rules, impersonation })
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
  const saved = () => {
    return { settings, snapshot: snapshotOf(chains.state), letIn, fork: fork?.record ?? null, pending: pools.pending }
  }
  const controls = new Controls(machine.clock)
  const app = createApp({ product, packageVersion: settings.release, nowMs })
  addRoutes(app, options, {
    fork,
    saved,
    machine,
    turn,
    settings,
    rules,
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
  return { app, chains, ledger, pools, settings, controls, backups, watch, saved }
}

/** Data, fork and settings of a node at its start. */
export interface Begun {
  readonly data: DataDirectory | null
  readonly fork: NodeFork | null
  readonly settings: NetworkSettings
  readonly prints: Prints
}

interface NodeParts {
  /** Returns the whole network as it is now. */
  readonly saved: () => SavedNetwork
  readonly fork: NodeFork | null
  readonly machine: HostMachine
  readonly turn: NetworkHost['turn']
  readonly settings: NetworkSettings
  readonly rules: NetworkRules
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
  /** null without `onTransaction`. */
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
  const { rules } = parts
  const router = new Router({ app, prefix, chains: chains.cut.size, intercept })
  const { fork } = parts
  if (fork !== null) addBelowFork(app, { ...parts, fork, prefix, nowMs: () => clock.wallMs(), onNotice })
  addNodeRoutes(router, {
    network: () => chains.network,
    packageVersion: parts.settings.release,
    release: rules.release,
    config: () => nodeConfig({ ...limits, ...parts, product, accounts, hasBackups: backups !== null }),
  })
  addChainRoutes(router, { chains, product, fork })
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
    privateLedger: new PrivateLedger(chains, options.entity ?? null, rules),
    pools,
    rules,
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
    turn: parts.turn,
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
