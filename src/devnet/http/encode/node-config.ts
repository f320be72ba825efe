/** Response to GET /config. */

import type { ProductWord } from '#ground/chain/header-json.ts'
import type { NodeConfig } from '#ground/schema/bodies.ts'
import type { Chains } from '../../rules/chains.ts'
import type { NetworkSettings } from '../../rules/settings.ts'
import { MAX_BATCH_PAYLOADS } from '../routes/payload.ts'

interface RunningConfig {
  readonly product: ProductWord
  readonly chains: Chains
  readonly settings: NetworkSettings
  /** Highest fork number that the node votes for. */
  readonly forkTarget: number
  readonly hasBackups: boolean
  /** null if anyone may mine. The accounts themselves are not published. */
  readonly accounts: readonly unknown[] | null
  readonly workLimit: number
  readonly workLifetimeMs: number
  readonly updateStreamLimit: number
  readonly updateStreamMs: number
  readonly headerStreamLimit: number
  readonly listenLimit: number
  readonly listenMs: number
}

/**
 * Uses the keys of live nodes as far as they apply (PROTOCOL.md E.1); `devnet` has the keys of embedded nodes.
 * Accounts, addresses and paths are left out; live nodes blank them too.
 */
export function nodeConfig(config: RunningConfig): NodeConfig {
  const { network } = config.chains
  return {
    [`${config.product}Version`]: network.name,
    mining: {
      coordination: {
        enabled: true,
        limit: config.workLimit,
        updateStreamLimit: config.updateStreamLimit,
        updateStreamTimeout: config.updateStreamMs / 1000,
      },
      nodeMining: { enabled: false },
    },
    headerStream: true,
    serviceApi: { payloadBatchLimit: MAX_BATCH_PAYLOADS },
    backup: { api: { enabled: config.hasBackups } },
    devnet: {
      chains: config.chains.cut.size,
      blockDelay: network.blockDelay,
      proofOfWork: config.chains.checkPow,
      nodeRelease: config.settings.release,
      forkEpoch: config.settings.forkEpoch,
      forkTarget: config.forkTarget,
      anyAccount: config.accounts === null,
      workLifetime: config.workLifetimeMs / 1000,
      headerStreamLimit: config.headerStreamLimit,
      listenLimit: config.listenLimit,
      listenTimeout: config.listenMs / 1000,
    },
  }
}
