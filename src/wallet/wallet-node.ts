import type { NodeClient } from '../node/client.ts'

/** What wallets need of a node: a part of NodeClient. */
export type WalletNode = Pick<NodeClient, 'info' | 'local' | 'send' | 'poll' | 'waitFor' | 'waitForProof'>
