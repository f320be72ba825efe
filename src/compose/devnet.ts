/**
 * Starts development networks in this process: chains, mempools and the HTTP interface of a node, in memory or on disk.
 *
 * | task | start with |
 * |---|---|
 * | start and stop a network | {@link startDevnet}, {@link Devnet.close} |
 * | choose graph, difficulty, ports and limits | {@link DevnetOptions} |
 * | decide when blocks come | {@link AutoMine} |
 * | make blocks, set the clock, restore a state | {@link DevnetControl} |
 * | see what transactions do | {@link DevnetOptions.onTransaction}, {@link TransactionEvent} |
 * | see requests | {@link DevnetOptions.onRequest}, {@link ServedRequest} |
 *
 * Clients reach the network at {@link Devnet.url}, for example the client of `newcut/node`. Programs on the same machine
 * control it over HTTP: blocks on request, forks, snapshots and faults (docs/DEVNET-CONTROL.md).
 *
 * @example Make two blocks on chain 0, and print each step of a transaction.
 * ```ts
 * import { startDevnet } from 'newcut/devnet'
 *
 * const devnet = await startDevnet({
 *   port: 0,
 *   graph: 'petersen',
 *   autoMine: { kind: 'on-demand' },
 *   onTransaction: (event) => console.log(event.step),
 * })
 * try {
 *   await devnet.mine({ 0: 2 })
 *   console.log(`${devnet.url}: chain 0 has height ${devnet.cut.get(0)?.height}`)
 * } finally {
 *   await devnet.close()
 * }
 * ```
 * @module newcut/devnet
 */

import { type DevnetControl, withControl } from '#devnet/control-client.ts'
import { type EmbeddedNode, startNode } from '#devnet/devnet.ts'
import type { DevnetOptions } from '#devnet/options/devnet-options.ts'
import { addExplorer } from '#faces/web/explorer/page.ts'
import { machineFor } from './devnet-machine.ts'

export type { PhraseAccount } from '#devnet/control/phrase-accounts.ts'
export type {
  DevnetClock,
  DevnetControl,
  DevnetTime,
  DroppedTransactions,
  GasChange,
  GasSettings,
  Mined,
  NetworkChange,
  PactChoice,
  PrivilegedCode,
  PrivilegedRun,
  ResetNetwork,
  RevertedNetwork,
  SimulatedBlocks,
  SimulationResult,
  TableRows,
  WrittenRows,
} from '#devnet/control-client.ts'
export type { ForkTime } from '#devnet/copy/node-copy.ts'
export type { DevnetFork } from '#devnet/copy/open-copy.ts'
export type { ServedRequest } from '#devnet/http/request-log.ts'
export type { DevnetOptions } from '#devnet/options/devnet-options.ts'
export type { GraphForm, NetworkSettings } from '#devnet/rules/settings.ts'
export type { OnProgress, Progress } from '#ground/base/progress.ts'
export type {
  BatchPosition as Placed,
  BlockMadeBy,
  CommandAction,
  DroppedTransaction,
  IncludedTransaction,
  LoggedCommand as ToldCommand,
  PendingTransaction,
  PrintEvent,
  RefusedTransaction,
  SkippedSteps,
  TransactionEvent,
  TransactionPosition as InBlock,
  UndoneTransaction,
} from '#ground/schema/devnet-events.ts'
export type { AutoMine } from '#ground/schema/devnet-modes.ts'
export type { ListedPact, PactPage } from '#ground/schema/pacts.ts'
export type { Pin } from '#language/copy/pin.ts'

/** A running development network, and control requests to it. */
export interface Devnet extends EmbeddedNode, DevnetControl {}

/**
 * Starts an embedded node, with a page for developers at `/`.
 *
 * @param options - Network, storage and listeners. Without any: 20 chains in memory, with proof of work, at port 1848.
 * @returns The node, as soon as it listens. {@link Devnet.close} ends it.
 * @throws NewcutError `BAD_OPTION`: an option has the wrong shape, or two exclude each other.
 * @throws NewcutError `DATA_UNUSABLE`: `dataDir` or `backupDir` cannot be used.
 * @throws NewcutError `PORT_BUSY`: the address is taken or not allowed.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { devnet } = await startNode(options, machineFor(options), (app) => addExplorer(app, false))
  return withControl(devnet)
}
