import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'

/** A share for tests. */
export function shareEntry(id: string, timeMs: number, changes: Partial<ShareEntry> = {}): ShareEntry {
  const whom = { user: 'k:abc', worker: 'rig', agent: 'test/1', address: '127.0.0.1' }
  return { id, timeMs, ...whom, chain: 3, height: 7, difficulty: 1e12, blockDifficulty: 1e18, block: null, ...changes }
}
