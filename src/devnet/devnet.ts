/** The embedded node: a development network served over HTTP. */

import type { Cut } from '#ground/chain/cut.ts'
import type { Network } from '#ground/chain/network.ts'
import type { Pin } from '#language/copy/pin.ts'
import type { PhraseAccount } from './control/phrase-accounts.ts'
import { CurrentNetwork } from './current-network.ts'
import { expectBackupDirectory } from './data/backup.ts'
import type { App } from './http/app.ts'
import { Port } from './http/port.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { HostMachine, NetworkHost } from './network-host.ts'
import { type OpenedNetwork, openNetwork } from './opened-network.ts'
import type { DevnetOptions } from './options/devnet-options.ts'
import { checkOptions, limitsOf } from './options/option-table.ts'
import type { Chains } from './rules/chains.ts'
import type { NetworkSettings } from './rules/settings.ts'

export type { HostMachine } from './network-host.ts'

/** A running embedded node. A reset may turn it to another network: its properties are those of the current one. */
export interface EmbeddedNode {
  /** `http://HOST:PORT` */
  readonly url: string
  /** Settings of the current network. */
  readonly settings: NetworkSettings
  /** The fork that the current network began with; null for a network of its own. */
  readonly fork: { readonly pin: Pin; readonly url: string; readonly requests: number } | null
  /** Accounts of the phrase that the node funded, by index. */
  readonly accounts: readonly PhraseAccount[]
  /** The current network: its block delay may change while the node runs. */
  readonly network: Network
  /** Chain -> its newest header. */
  readonly cut: Cut
  /** Number of blocks, genesis and orphans included. */
  readonly blocks: number
  /** Number of transactions in the mempools of all chains. */
  readonly pending: number
  /** Ends all connections, frees the port and closes the databases. */
  readonly close: () => Promise<void>
}

/** A node and its first network, for code in the same process that works on its chains directly. */
interface NodeParts {
  readonly devnet: EmbeddedNode
  readonly chains: Chains
  readonly ledger: Ledger
}

/**
 * Starts an embedded node.
 * @param extend adds routes beside the interface of each network that the node serves
 * @throws NewcutError BAD_OPTION for options of the wrong shape or that exclude each other, DATA_UNUSABLE if `dataDir`
 *   or `backupDir` cannot be used, PORT_BUSY if the node cannot listen
 */
export async function startNode(
  options: DevnetOptions,
  machine: HostMachine,
  extend: (app: App) => void = () => undefined,
): Promise<NodeParts> {
  checkOptions(options)
  if (options.backupDir !== undefined) await expectBackupDirectory(options.backupDir)
  const { requestTimeoutMs } = limitsOf(options)
  const port = new Port({ requestTimeoutMs, maxConnections: machine.maxConnections, onRequest: options.onRequest })
  const host: NetworkHost = {
    machine,
    extend,
    switchNetwork: (fork, call) => present.switchTo(fork, call),
    onFailure: (error) => {
      void port.closeAfterResponses()
      options.onFailure?.(error)
    },
  }
  const first = await openNetwork(options, host)
  const present = new CurrentNetwork(first, { options, port, open: (turned) => openNetwork(turned, host) })
  const close = async () => {
    await present.network.app.close()
    await port.close()
    await machine.search.close()
    await present.close()
  }
  try {
    const url = await port.listen(options)
    first.controls.run()
    return { devnet: handleOf({ url, close }, present), chains: first.chains, ledger: first.ledger }
  } catch (error) {
    await close()
    throw error
  }
}

function handleOf(fixed: Pick<EmbeddedNode, 'url' | 'close'>, present: CurrentNetwork): EmbeddedNode {
  const now = (): OpenedNetwork => present.network
  return {
    ...fixed,
    get settings() {
      return now().settings
    },
    get fork() {
      return now().fork
    },
    get accounts() {
      return now().accounts
    },
    get network() {
      return now().chains.network
    },
    get cut() {
      return now().chains.cut
    },
    get blocks() {
      return now().chains.store.size
    },
    get pending() {
      const { chains, pools } = now()
      return chains.chainIds.reduce((sum, chain) => sum + pools.poolOf(chain).size, 0)
    },
  }
}
