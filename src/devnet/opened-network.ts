/**
 * A network of a node: its fork, its data, and the parts that work on them. It has no port: `Port` passes requests on.
 */
import type { NewcutError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { assemble, type OpenedParts } from './assemble.ts'
import { type PhraseAccount, phraseAccounts } from './control/phrase-accounts.ts'
import type { NodeCopy } from './copy/node-copy.ts'
import { openNodeCopy } from './copy/open-copy.ts'
import { warmCopy } from './copy/warm.ts'
import { BLOCKS, type DataDirectory, openDataDirectory } from './data/directory.ts'
import type { App } from './http/app.ts'
import type { Controls } from './http/controls.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Mempools } from './mempool/mempools.ts'
import { loadSlhDsa } from './mempool/slh-dsa.ts'
import type { NetworkHost } from './network-host.ts'
import type { DevnetOptions } from './options/devnet-options.ts'
import { forkedSettings, requestedSettings } from './options/network-settings.ts'
import type { Chains } from './rules/chains.ts'
import { releaseRules } from './rules/releases.ts'
import { type NetworkSettings, type RequestedSettings, settingsOf } from './rules/settings.ts'
import { StateStart } from './state-start.ts'
import { PrintReporter } from './store/print-reporter.ts'

/**
 * A network that a node can serve. Its life:
 *
 * 1. `openNetwork` opens its fork and its data, assembles its parts, and funds its accounts.
 * 2. The port passes requests to `app`, and `controls.run` begins automatic mining.
 * 3. If the node switches to another network, `controls.retire` takes this one back to its start.
 * 4. `close` ends its work, saves the state file, and closes the databases.
 */
export interface OpenedNetwork {
  /** Ready for requests. */
  readonly app: App
  readonly chains: Chains
  readonly ledger: Ledger
  readonly pools: Mempools
  readonly settings: NetworkSettings
  /** null for a network of its own. */
  readonly fork: NodeCopy | null
  /** Accounts of the phrase that have coins, by index. */
  readonly accounts: readonly PhraseAccount[]
  readonly controls: Controls
  /** Resolves once every step of a transaction so far is reported. */
  readonly waitForReports: () => Promise<void>
  /** Stops all work, saves the state file, and closes the databases. */
  readonly close: () => Promise<void>
}

/** Opens the network that the options describe. @throws like startNode */
export async function openNetwork(options: DevnetOptions, host: NetworkHost): Promise<OpenedNetwork> {
  const failed = new AbortController()
  const { onNotice = () => undefined } = options
  const start = await StateStart.open(options)
  let isOpen = false
  // Entries that calls miss later are fetched too, without a word.
  const onCopied: OnProgress = (progress) => {
    if (!isOpen) options.onProgress?.(progress)
  }
  const begun = await begin({ ...options, dataDir: start.dataDir }, onCopied, (error) => failed.abort(error)).catch(
    async (error: unknown) => {
      onCopied(null)
      await start.remove()
      throw start.nameFile(error)
    },
  )
  const { data, fork, settings } = begun
  if (releaseRules[settings.release].hasSlhDsa) {
    await loadSlhDsa()
    onNotice(`node release ${settings.release} is a preview: the live network may adopt other rules for SLH-DSA`)
  }
  const { backups, captureNetwork, watch, ...parts } = assemble(options, host, begun)
  const { app, chains, ledger, controls } = parts
  host.extend(app)
  const close = async () => {
    await app.close()
    await backups?.close()
    // Before the data is closed: payloads may be on disk only.
    await start
      .save(captureNetwork())
      .finally(() => data?.close())
      .finally(() => start.remove())
  }
  // A node that cannot write its chains must stop.
  failed.signal.addEventListener('abort', () => {
    controls.stop()
    void app.close()
    host.onFailure(failed.signal.reason)
  })
  try {
    if (fork !== null) await warmCopy(fork, { chains, ledger, accounts: options.accounts, onNotice })
    if (fork !== null) onCopied(null)
    isOpen = true
    const accounts = phraseAccounts(options.phraseAccounts ?? plainOptions.phraseAccounts.fallback)
    await controls.fund(accounts)
    start.refill(parts.pools, onNotice)
    await app.ready()
    return { ...parts, fork, accounts, waitForReports: async () => watch?.waitForReports(), close }
  } catch (error) {
    onCopied(null)
    await close()
    throw error
  }
}

/** Opens fork and data. */
async function begin(
  options: DevnetOptions,
  onCopied: OnProgress,
  onFailure: (error: NewcutError) => void,
): Promise<OpenedParts> {
  const { dataDir, networks, onNotice = () => undefined } = options
  const fork = await openNodeCopy(options.fork, { dataDir, networks, onNotice, onProgress: onCopied }, BLOCKS)
  const asked = fork === null ? requestedSettings(options) : forkedSettings(options, fork)
  const { allowPrint = false, onPrint } = options
  const prints = new PrintReporter({ isAllowed: allowPrint, onPrint, onNotice })
  const data = await openData(options, { asked, fork, prints }, onFailure)
  return { fork, prints, data, settings: data?.blocks.settings ?? settingsOf(asked) }
}

/** Opens the data directory. @returns null if the options name none */
async function openData(
  options: DevnetOptions,
  begin: Pick<OpenedParts, 'fork' | 'prints'> & { readonly asked: RequestedSettings },
  onFailure: (error: NewcutError) => void,
): Promise<DataDirectory | null> {
  const { dataDir, onProgress, onNotice = () => undefined } = options
  return dataDir === undefined ? null : openDataDirectory(dataDir, { ...begin, onFailure, onNotice, onProgress })
}
