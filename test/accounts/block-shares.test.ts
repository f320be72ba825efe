/** Shares of blocks that are not yet in the share log. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { BlockShares } from '../../src/mining/accounts/block-shares.ts'
import type { PendingShare } from '../../src/mining/accounts/rig-ledger.ts'
import { idOf, START_MS, shareOf, temporaryFolder } from './shares.ts'

function pendingOf(number: number): PendingShare {
  const { timeMs: foundMs, ...share } = shareOf(number, { block: idOf(number) })
  return { ...share, foundMs }
}

function opened(folder: string | null) {
  const warnings: string[] = []
  return { shares: new BlockShares(folder, (message) => warnings.push(message)), warnings }
}

it('pending block shares survive a restart until the log has them', () => {
  const folder = join(temporaryFolder(), 'state')
  const { shares, warnings } = opened(folder)
  for (const number of [1, 2, 1]) shares.add(pendingOf(number))
  expect([...opened(folder).shares.pending]).toEqual([pendingOf(1), pendingOf(2)])
  shares.remove(idOf(1))
  expect([...shares.pending]).toEqual([pendingOf(2)])
  expect([...opened(folder).shares.pending]).toContainEqual(pendingOf(2))
  shares.remove(idOf(2))
  shares.remove(idOf(3))
  expect([...opened(folder).shares.pending]).toEqual([])
  expect(readFileSync(join(folder, 'block-shares.jsonl'), 'utf8')).toBe('')
  shares.add(pendingOf(4))
  expect([...opened(folder).shares.pending]).toEqual([pendingOf(4)])
  expect(warnings).toEqual([])
})

it('pending block shares keep the verdict of a refused share over a restart', () => {
  const folder = temporaryFolder()
  const late: PendingShare = { ...pendingOf(1), refusedAs: 'stale' }
  opened(folder).shares.add(late)
  expect([...opened(folder).shares.pending]).toEqual([late])
})

it('the file of pending block shares is for its owner alone, because it names accounts and addresses', () => {
  const folder = join(temporaryFolder(), 'state')
  opened(folder).shares.add(pendingOf(1))
  if (process.platform === 'win32') return
  const modes = [folder, join(folder, 'block-shares.jsonl')].map((path) => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600])
})

it('no more than 10,000 block shares are pending: beyond that the oldest is dropped', () => {
  const { shares } = opened(null)
  for (let number = 1; number <= 10_001; number++) shares.add(pendingOf(number))
  const ids = [...shares.pending].map(({ id }) => id)
  expect(ids.length).toBe(10_000)
  expect(ids[0]).toEqual(idOf(2))
  expect(ids.at(-1)).toEqual(idOf(10_001))
})

it('pending block shares include a last line that lost only its newline', () => {
  const folder = temporaryFolder()
  const { shares } = opened(folder)
  for (const number of [1, 2]) shares.add(pendingOf(number))
  const file = join(folder, 'block-shares.jsonl')
  writeFileSync(file, readFileSync(file).subarray(0, -1))
  const again = opened(folder)
  again.shares.add(pendingOf(3))
  for (const { pending } of [again.shares, opened(folder).shares])
    expect([...pending]).toEqual([1, 2, 3].map(pendingOf))
  expect(again.warnings).toEqual([])
})

it('pending block shares skip an unfinished line silently, and a damaged one with a warning', () => {
  const folder = temporaryFolder()
  opened(folder).shares.add(pendingOf(1))
  const file = join(folder, 'block-shares.jsonl')
  appendFileSync(
    file,
    `${JSON.stringify({ ...pendingOf(2), foundMs: 'then' })}\nno JSON\n${JSON.stringify(pendingOf(3)).slice(0, 50)}`,
  )
  const { shares, warnings } = opened(folder)
  expect([...shares.pending]).toEqual([pendingOf(1)])
  expect(warnings).toEqual([`${file}: 2 damaged lines are left out`])
  // The next record starts on a new line.
  shares.add(pendingOf(5))
  expect([...opened(folder).shares.pending]).toEqual([pendingOf(1), pendingOf(5)])
})

it('pending block shares are left out with a warning if a bit of their line flips, or stay as they are', () => {
  const folder = temporaryFolder()
  const { shares } = opened(folder)
  for (const number of [1, 2]) shares.add(pendingOf(number))
  const file = join(folder, 'block-shares.jsonl')
  const whole = readFileSync(file)
  let left = 0
  for (let bit = 0; bit < 8 * whole.length; bit++) {
    const bytes = Buffer.from(whole)
    bytes[bit >> 3] ^= 1 << (bit & 7)
    writeFileSync(file, bytes)
    const { shares: read, warnings } = opened(folder)
    const isSame = isDeepStrictEqual([...read.pending], [pendingOf(1), pendingOf(2)])
    if (warnings.length > 0) left++
    if (!isSame && warnings.length === 0) expect.fail(`bit ${bit} changes the shares silently`)
  }
  expect(left).toBeGreaterThan(7 * whole.length)
})

it('pending block shares are read from lines without seals, as an earlier newcut wrote them', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'block-shares.jsonl'), `${JSON.stringify(pendingOf(1))}\n`)
  const { shares, warnings } = opened(folder)
  expect([...shares.pending]).toEqual([pendingOf(1)])
  expect(warnings).toEqual([])
})

it('pending block shares warn once while the file cannot be written, and stay in memory meanwhile', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'block-shares.jsonl')
  mkdirSync(file)
  const { shares, warnings } = opened(folder)
  shares.add(pendingOf(1))
  shares.add(pendingOf(2))
  expect([...shares.pending]).toHaveLength(2)
  const after = 'a block that is found now is paid to nobody if newcut dies before the share log has its share'
  expect(warnings).toEqual([expect.stringMatching(`^${file}: .*EISDIR.*: ${after}$`)])
  rmSync(file, { recursive: true })
  // A write that fails may leave a part of its line.
  writeFileSync(file, JSON.stringify(pendingOf(2)).slice(0, 50))
  shares.add(pendingOf(3))
  expect([...opened(folder).shares.pending]).toEqual([pendingOf(3)])
  rmSync(file)
  mkdirSync(file)
  shares.add(pendingOf(4))
  expect(warnings).toHaveLength(2)
})

it('pending block shares stay in memory without a folder', () => {
  const { shares } = opened(null)
  shares.add(pendingOf(1))
  expect([...shares.pending]).toEqual([{ ...pendingOf(1), foundMs: START_MS + 1 }])
  shares.remove(idOf(1))
  expect([...shares.pending]).toEqual([])
})
