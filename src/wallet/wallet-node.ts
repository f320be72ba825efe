/** What wallets need of a node: a part of NodeClient. */
import type { NodeClient } from '../node/client.ts'

export type WalletNode = Pick<NodeClient, 'info' | 'local' | 'send' | 'poll' | 'waitFor' | 'waitForProof'>
