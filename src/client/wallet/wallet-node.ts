import type { NodeClient } from '../node/client.ts'

/** The part of NodeClient that wallets need. */
export type WalletNode = Pick<NodeClient, 'info' | 'network' | 'local' | 'send' | 'poll' | 'waitFor' | 'waitForProof'>
