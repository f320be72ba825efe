/**
 * Makes blocks inside the process, for tests of storage: large numbers of blocks, and blocks that cannot be made over
 * HTTP.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import type { Cut } from '../../src/ground/chain/cut.ts'
import { encodeWork, type Header } from '../../src/ground/chain/header.ts'
import type { Signed } from './command.ts'
import { type Ground, payloadOn } from './ground.ts'

const key = 'a11ce'.padEnd(64, '0')
export const miner = { account: `k:${key}`, predicate: 'keys-all', publicKeys: [key] }

/** The next block of a chain on top of a cut, with any nonce, or undefined if the chain is blocked. */
export function nextBlock(
  ground: Ground,
  chain: number,
  { cut = ground.chains.cut, commandsOf = (_: number): readonly Signed[] => [] } = {},
): { header: Header; payload: StoredPayload } | undefined {
  const { chains } = ground
  const parent = cut.get(chain)
  if (parent === undefined) throw new Error(`no chain ${chain}`)
  if ('blockedBy' in chains.newWork(chain, parent.payloadHash, cut)) return undefined
  const payload = payloadOn(ground, parent, miner, commandsOf(chain))
  const work = chains.newWork(chain, payload.payloadHash, cut)
  return 'blockedBy' in work ? undefined : { header: { ...work, hash: blockHash(encodeWork(work)) }, payload }
}

/**
 * Adds blocks to the cut, on every open chain in turn. `commandsOf` returns the commands of block number `index`, on
 * `chain`.
 */
export function grow(
  ground: Ground,
  count: number,
  commandsOf: (index: number, chain: number) => readonly Signed[] = () => [],
): void {
  const { chains } = ground
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % chains.cut.size) {
    const index = added
    const block = nextBlock(ground, chain, { commandsOf: (chain) => commandsOf(index, chain) })
    if (block === undefined) continue
    const addition = chains.add(block.header, block.payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    added++
  }
}

/** Adds blocks on top of an earlier cut without moving the network's cut. Returns the heads of that branch. */
export function fork(ground: Ground, from: Cut, count: number): Cut {
  const heads = new Map(from)
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % heads.size) {
    const block = nextBlock(ground, chain, { cut: heads })
    if (block === undefined) continue
    const addition = ground.chains.insert(block.header, block.payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    heads.set(chain, block.header)
    added++
  }
  return heads
}

/** A temporary directory for one test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'newcut-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}
