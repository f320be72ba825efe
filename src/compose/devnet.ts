/** The embedded node on this machine: the public door of `newcut/devnet`. */
import { type Devnet, startNode } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { addExplorer } from '../web/explorer/page.ts'
import { machineFor } from './devnet-machine.ts'

export type { OnProgress, Progress } from '../core/progress.ts'
export type { Devnet } from '../devnet/devnet.ts'
export type { ServedRequest } from '../devnet/http/request-log.ts'
export type { DevnetOptions } from '../devnet/options.ts'
export type { NetworkSettings } from '../devnet/rules/settings.ts'
export type { AutoMine } from '../schema/auto-mine.ts'
export type {
  BlockMadeBy,
  CommandAction,
  DroppedTransaction,
  InBlock,
  IncludedTransaction,
  PendingTransaction,
  Placed,
  RefusedTransaction,
  SkippedSteps,
  ToldCommand,
  TransactionEvent,
  UndoneTransaction,
} from '../schema/devnet-events.ts'

/**
 * Starts an embedded node, with a page for developers at `/`. Throws NewcutError BAD_OPTION for options of the wrong
 * shape or that exclude each other, DATA_UNUSABLE when `dataDir` or `backupDir` cannot be used, PORT_BUSY when it
 * cannot listen.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const { devnet } = await startNode(options, machineFor(options), (app) => addExplorer(app, false))
  return devnet
}
