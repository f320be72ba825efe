/** Stratum servers with a share log on disk, for tests. */
import { join } from 'node:path'
import { systemClock } from '../../../src/ground/platform/clock.ts'
import { Accounts } from '../../../src/mining/accounts/accounts.ts'
import { BlockShares } from '../../../src/mining/accounts/block-shares.ts'
import { LevelStore } from '../../../src/mining/accounts/level-store.ts'
import { ShareRecorder } from '../../../src/mining/accounts/recorder.ts'
import type { LedgerStorage, RigNotice } from '../../../src/mining/accounts/rig-ledger.ts'
import { startedServer } from './servers.ts'

/** A server with a share log in this folder. `append` stands in for that of the store. */
export async function keeping(folder: string, append?: (kept: LevelStore) => LedgerStorage['store']['append']) {
  const store = await LevelStore.open({ folder: join(folder, 'shares'), network: 'net', clock: systemClock })
  const notices: RigNotice[] = []
  const tell = (notice: RigNotice) => void notices.push(notice)
  const accounts = new Accounts({
    onWarning: (message, isWell) => tell({ type: isWell ? 'recovered' : 'warning', message }),
  })
  await accounts.restore(store, store, systemClock.wallMs())
  const blocks = new BlockShares(folder, (message) => tell({ type: 'warning', message }))
  const kept: LedgerStorage = {
    store: append === undefined ? store : { ...storeOf(store), append: append(store) },
    accounts: store,
    has: store.has,
    newestMs: store.newestMs,
    blocks,
  }
  const started = await startedServer(
    {},
    { recorder: (onNotice) => new ShareRecorder(kept, accounts, systemClock, onNotice) },
  )
  started.engine.setNoticeListener(tell)
  return { ...started, store, notices, accounts, blocks }
}

const storeOf = (store: LevelStore): LedgerStorage['store'] => ({
  append: (shares) => store.append(shares),
  refuse: (counts) => store.refuse(counts),
  shares: (range) => store.shares(range),
  refusals: (range) => store.refusals(range),
  close: () => store.close(),
})

/** A write that waits until it is let through. */
export function gate() {
  let letThrough: () => void = () => undefined
  const opening = new Promise<void>((resolve) => {
    letThrough = resolve
  })
  return { opening, letThrough: () => letThrough() }
}
