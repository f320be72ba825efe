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
import { createApp } from './http/app.ts'
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
export function assemble(options: DevnetOptions, host: Host, begun: OpenedParts) {
  const parts = servedParts(options, host, begun)
  const { app, turns, coordinator, execution } = parts
  const controls = addRoutes(options, host, parts)
  app.addHook('preClose', async () => controls.stop())
  app.addHook('onClose', async () => {
    turns.stop()
    coordinator.stop()
    execution.close()
  })
  return { ...parts, controls }
}

/** Creates the parts that the routes serve. */
function servedParts(options: DevnetOptions, { machine }: Host, { data, fork, settings, prints }: OpenedParts) {
  const { product = plainOptions.product.fallback, backupDir, accounts = null, onSolved, onTransaction } = options
  const { onNotice = () => undefined } = options
  const clock = new NodeClock(machine.clock)
  if (data !== null) clock.catchUp(data.loaded.newestCreationTime)
  if (fork !== null) fork.setClock(clock, data?.loaded.newestCreationTime)
  const nowMs = () => clock.ms()
  const rules = rulesOf(settings)
  const forkTarget = forkTargetOf(options, rules)
  const exemptions = data?.blocks.exemptions ?? new Exemptions()
  const { chains, ledger, index } = openChains({ settings, rules, forkTarget, fork, exemptions, prints }, clock, data)
  chains.onBlock((block) => {
    clock.blockAdded(block.header.creationTime)
    indexBlock(index, block)
    data?.state.markReached(chains.store.size)
  })
  const turns = new TimeSlicer()
  const execution = new Execution(ledger, chains.store, machine, fork)
  const { calls, traces } = execution
  const keys = options.impersonate?.flatMap((key) => impersonatedKey(key) ?? [])
  const impersonation = new Impersonation(exemptions, keys, rules.release)
  // Create the pools before the coordinator: they follow a new cut first, so new work has the transactions pending
  // then.
  const pools = new Mempools({ chains, index, nowMs, trial: calls, turns, rules, impersonation })
  const limits = limitsOf(options)
  const coordinator = new Coordinator(chains, {
    ...{ pools, ledger, turns, run: execution.run, accounts, random: machine.random, nowMs, onNotice, fork },
    ...{ payloadLimit: limits.workLimit, payloadLifetimeMs: limits.workLifetimeMs, refreshMs: limits.refreshMs },
    clock: machine.clock,
    ...(onSolved && { onSolved: (header, addition) => onSolved(header, addition, 'miner') }),
  })
  execution.onDone(() => coordinator.drafts.continue())
  // Create the watch after the pools: it reports where a transaction is once its block has left the chain.
  const watch =
    onTransaction === undefined ? null : new TransactionWatch({ chains, pools, turns, report: onTransaction })
  const jobs = { settings, state: () => chains.state, now: clock.microseconds, onNotice, exemptions }
  const backups = backupDir === undefined ? null : new BackupJobs({ directory: backupDir, fork, ...jobs })
  /** The whole network as it is now. */
  const captureNetwork = (): SavedNetwork => {
    return {
      settings,
      snapshot: stateSnapshotOf(chains.state),
      exemptions,
      fork: fork?.record ?? null,
      pending: pools.pending,
    }
  }
  const app = createApp({ product, packageVersion: settings.release, nowMs })
  const network = { app, chains, ledger, index, clock, rules, settings, fork, forkTarget }
  return {
    ...network,
    pools,
    coordinator,
    turns,
    execution,
    calls,
    traces,
    watch,
    backups,
    saved: captureNetwork,
    limits,
  }
}

/**
 * Serves the parts. The routes are in the order of the rule that the first to fit answers. @returns the last of them
 */
function addRoutes(
  options: DevnetOptions,
  { machine, switchNetwork: turn }: Host,
  parts: ReturnType<typeof servedParts>,
): Controls {
  const {
    product = plainOptions.product.fallback,
    accounts = null,
    entity = null,
    phraseAccounts = plainOptions.phraseAccounts.fallback,
    onSolved,
    onProgress,
  } = options
  const { onNotice = () => undefined } = options
  const { app, chains, pools, fork, rules, settings, limits, coordinator, backups, watch } = parts
  const { packageVersion, search, clock, random } = machine
  const [durable, nowMs] = [() => chains.durable(), () => clock.wallMs()]
  const prefix = `/${product}/0.0/${chains.network.name}`
  const stop = new AbortController()
  const [faults, streams] = [new Faults(clock, stop.signal), new StreamGate()]
  const router = new Router({ app, prefix, chains: chains.cut.size, intercept: interceptOf(faults) })
  if (fork !== null) addBelowPin(app, { ...parts, fork, prefix, nowMs, onNotice })
  addNodeRoutes(router, {
    ...{ network: () => chains.network, packageVersion: settings.release, release: rules.release },
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
  const controls = new Controls(router, {
    ...{ chains, coordinator, random, account: accounts?.[0] ?? developmentAccount, autoMine: settings.autoMine },
    ...{ turn, nodeClock: parts.clock, fork, clock, search, onNotice, onProgress, faults, streams, stop },
    ...(onSolved && { onMade: onSolved }),
  })
  addStateRoute(router, parts.saved)
  addTraceRoutes(router, parts)
  addLookupRoutes(router, parts)
  addPactRoutes(router, parts, phraseAccounts)
  addViewRoutes(router, {
    ...{
      ...parts,
      clock,
      nowMs,
      status: () => controls.status,
      accounts: viewedAccounts(accounts ?? [developmentAccount]),
    },
    network: { ...viewedNetwork(chains, product), version: packageVersion, mode: controls.status.mode },
  })
  addOpenApi(router, { packageVersion })
  router.finish()
  return controls
}
