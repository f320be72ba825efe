/** A real embedded node, and what its chains really contain, to check the claims of a miner. */

import { startDevnet } from '../../src/compose/devnet.ts'
import { blockHash } from '../../src/ground/chain/block-hash.ts'
import { type GraphName, graphs } from '../../src/ground/chain/graph.ts'
import { encodeWork } from '../../src/ground/chain/header.ts'

/** Ten chains move within a second; the difficulty adjusts to the miner. */
const BLOCK_DELAY_MS = 400
const FIRST_DIFFICULTY = 2_000n

export class Ground {
  readonly url: string
  readonly chains: number
  /** Hashes of all added blocks, base64url. */
  readonly blocks: ReadonlySet<string>
  readonly close: () => Promise<void>
  readonly #moves: ReadonlyMap<number, number>

  private constructor(parts: Pick<Ground, 'url' | 'chains' | 'blocks' | 'close'>, moves: ReadonlyMap<number, number>) {
    this.url = parts.url
    this.chains = parts.chains
    this.blocks = parts.blocks
    this.close = parts.close
    this.#moves = moves
  }

  static async start(graph: GraphName = 'petersen', blockDelayMs = BLOCK_DELAY_MS): Promise<Ground> {
    const blocks = new Set<string>()
    const moves = new Map<number, number>()
    const { url, close } = await startDevnet({
      port: 0,
      graph,
      blockDelayMs,
      difficulty: FIRST_DIFFICULTY,
      onSolved: (header, { status }) => {
        if (status !== 'added') return
        blocks.add(Buffer.from(blockHash(encodeWork(header))).toString('base64url'))
        moves.set(header.chainId, (moves.get(header.chainId) ?? 0) + 1)
      },
    })
    return new Ground({ url, chains: graphs[graph].adjacents.length, blocks, close }, moves)
  }

  /** Number of added blocks by chain. */
  moves(): ReadonlyMap<number, number> {
    return new Map(this.#moves)
  }

  /** Chains without a new block since `before`. */
  unmovedSince(before: ReadonlyMap<number, number>): number[] {
    const chains = Array.from({ length: this.chains }, (_, chain) => chain)
    return chains.filter((chain) => (this.#moves.get(chain) ?? 0) <= (before.get(chain) ?? 0))
  }
}
