/** Files that version 0.1.0 wrote, from test/fixtures/0.1.0, open. devnet/older-data has its data directory and journal. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { BlockShares } from '../src/mining/accounts/block-shares.ts'
import { LevelStore } from '../src/mining/accounts/level-store.ts'
import { readTuningFile } from '../src/mining/engine/cache-folder.ts'
import { readTuning } from '../src/mining/engine/gpu/tuning.ts'
import { readTunedSettings } from '../src/mining/tune/efficiency-file.ts'
import { PayoutJournal, readPayoutFile } from '../src/pool/payouts/payout-journal.ts'
import { listOf, START_MS, shareOf, temporaryFolder } from './accounts/shares.ts'
import { exec, local, makeBlocks, ok } from './devnet/commands-common.ts'
import { start } from './devnet/common.ts'
import { VirtualClock } from './mine/virtual-clock.ts'
import { accountOf, blockOf } from './payouts/memory-shares.ts'

const fixtures = fileURLToPath(new URL('fixtures/0.1.0/', import.meta.url))

/** A copy of a folder or file of the fixtures. Opening it may change it. */
function copyOf(name: string): string {
  const copy = join(temporaryFolder(), name)
  cpSync(join(fixtures, name), copy, { recursive: true })
  return copy
}

it('an older journal of payouts is read, and gets seals with its next line', () => {
  const folder = copyOf('payouts')
  const { lines, unsealed } = readPayoutFile(folder)
  expect(lines.map(({ type }) => type)).toEqual(['credit', 'credit', 'order', 'result', 'orphaned'])
  expect(unsealed).toBe(5)
  expect(lines[0]).toMatchObject({ block: blockOf('A'), reward: '2.0', parts: [{ amount: '1.5' }, { amount: '0.48' }] })
  const journal = PayoutJournal.open(folder, () => 0)
  journal.append({ at: journal.now(), type: 'orphaned', block: blockOf('A') })
  journal.close()
  expect(readPayoutFile(folder)).toMatchObject({ lines: { length: 6 }, unsealed: 0 })
})

it('an older log of shares, and the shares of blocks, are read', async () => {
  const folder = copyOf('shares')
  const warnings: string[] = []
  const onWarning = (message: string) => warnings.push(message)
  const blocks = new BlockShares(folder, onWarning)
  const { timeMs: foundMs, ...share } = shareOf(1, { block: blockOf('s') })
  expect([...blocks.pending]).toMatchObject([{ ...share, foundMs }, { height: 1002 }])
  const store = await LevelStore.open({ folder, network: 'development', clock: new VirtualClock(), onWarning })
  try {
    expect(await listOf(store.shares())).toEqual(Array.from({ length: 9 }, (_, i) => shareOf(i)))
    expect(await listOf(store.refusals())).toMatchObject([{ user: accountOf('a'), verdict: 'stale', count: 3 }])
    expect(await store.load()).toMatchObject({
      ...{ throughMs: START_MS, savedMs: START_MS + 8 },
      accounts: [{ user: accountOf('a'), worker: 'w', accepted: 4, refused: { stale: 3 } }],
    })
  } finally {
    await store.close()
  }
  expect(warnings).toEqual([])
})

it('older measured values of kernels, GPUs and efficiency are read', () => {
  const folder = copyOf('tuning')
  const kernels = readTuningFile(join(folder, 'kernel-tuning.json'))
  const key = 'native-avx2|AMD EPYC|gcc 12.2.0|0123456789abcdef'
  expect(kernels).toEqual({ entries: new Map([[key, 'halves']]), problem: null })
  expect(readTuning(join(folder, 'gpu-tuning.json'), 'vulkan|card')).toMatchObject({ workgroup: 256, split: true })
  const chosen = { threads: 3, kernel: 'native-avx2', batchMs: 25 }
  expect(readTunedSettings(join(folder, 'efficiency-tuning.json'), 'machine')).toEqual({ chosen, why: null })
})

const settings = { graph: undefined, difficulty: undefined, autoMine: { kind: 'on-demand' } } as const
const balances = exec('(map (coin.get-balance) ["sender00" "sender01"])')

it('an older fork is read with its cache, without the node that it forked', async () => {
  const [dataDir, cacheFolder] = [copyOf('fork'), copyOf('fork-cache')]
  const notices: string[] = []
  const onNotice = (text: string) => notices.push(text)
  const fork = { url: 'http://127.0.0.1:9', cacheFolder }
  const { devnet, peer } = await start({ ...settings, dataDir, fork, onNotice })
  expect((await ok(local(peer, balances))).result).toEqual({
    status: 'success',
    data: [{ decimal: '99999984.99999494' }, 110_000_015],
  })
  const before = devnet.cut.get(0)?.height ?? 0n
  await makeBlocks(peer, { 0: 1, 1: 1 })
  expect(devnet.cut.get(0)?.height).toBe(before + 1n)
  expect(notices.join()).not.toMatch(/damaged/)
})

it('the older state of a network is read with a pending transaction', async () => {
  // The transaction expires eight hours after it was written.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-30T00:30:00Z') })
  onTestFinished(() => void vi.useRealTimers())
  const { devnet, peer } = await start({ ...settings, stateFile: copyOf('network.state') })
  expect([...devnet.cut.values()].map(({ height }) => height)).toEqual([6n, 5n])
  expect((await ok(local(peer, exec('(coin.get-balance "sender01")')))).result.data).toBe(110_000_002.5)
  const pending = await fetch(`${devnet.url}/chainweb/0.0/development/chain/0/mempool/getPending`, { method: 'POST' })
  expect(((await pending.json()) as { hashes: unknown[] }).hashes).toHaveLength(1)
})
