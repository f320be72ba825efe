/** Makes blocks inside the process, for tests of storage: many at once, and blocks that cannot be made over HTTP. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { blockHash } from '../../src/core/block-hash.ts'
import type { Cut } from '../../src/core/cut.ts'
import { encodeWork, type Header } from '../../src/core/header.ts'
import { payloadHashes } from '../../src/core/payload.ts'
import type { Chains } from '../../src/devnet/rules/chains.ts'
import type { Payload } from '../../src/devnet/store/payload.ts'
import { blockPayload } from './block-payload.ts'

const miner = { account: 'k:a11ce', predicate: 'keys-all', publicKeys: ['a11ce'] }

/** A payload for the block on top of `parent` with these signed commands in it. */
export function payloadFor(parent: Header, commands: readonly object[] = []): Payload {
  const parts = {
    ...blockPayload(miner, parent),
    transactions: commands.map((command) => ({
      transaction: new TextEncoder().encode(JSON.stringify(command)),
      output: new TextEncoder().encode('{}'),
    })),
  }
  return { ...parts, ...payloadHashes(parts) }
}

/** The next block of a chain on top of a cut, with any nonce. undefined: the chain is blocked. */
export function nextBlock(
  chains: Chains,
  chain: number,
  { cut = chains.cut, commands = [] as object[] } = {},
): { header: Header; payload: Payload } | undefined {
  const parent = cut.get(chain)
  if (parent === undefined) throw new Error(`no chain ${chain}`)
  const payload = payloadFor(parent, commands)
  const work = chains.newWork(chain, payload.payloadHash, cut)
  return 'blockedBy' in work ? undefined : { header: { ...work, hash: blockHash(encodeWork(work)) }, payload }
}

/** Adds blocks to the cut, on every open chain in turn. */
export function grow(chains: Chains, count: number, commandsOf: (index: number) => object[] = () => []): void {
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % chains.cut.size) {
    const block = nextBlock(chains, chain, { commands: commandsOf(added) })
    if (block === undefined) continue
    const addition = chains.add(block.header, block.payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    added++
  }
}

/** Puts blocks on top of an earlier cut without moving the cut. Returns the heads of that branch. */
export function fork(chains: Chains, from: Cut, count: number): Cut {
  const heads = new Map(from)
  for (let added = 0, chain = 0; added < count; chain = (chain + 1) % heads.size) {
    const block = nextBlock(chains, chain, { cut: heads })
    if (block === undefined) continue
    const addition = chains.insert(block.header, block.payload)
    if (addition.status !== 'added') throw new Error(JSON.stringify(addition))
    heads.set(chain, block.header)
    added++
  }
  return heads
}

/** A directory of its own for one test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'newcut-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}
