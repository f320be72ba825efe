/** Work to measure with: a real header's layout, random fields, and the target of a given difficulty. */
import { randomBytes } from 'node:crypto'
import { graphs } from '../src/core/graph.ts'
import { encodeWork } from '../src/core/header.ts'
import { MAX_TARGET } from '../src/core/target.ts'

/** 286 bytes of work that nobody has searched before. */
export function freshWork(difficulty: bigint): Uint8Array {
  const hash = () => Uint8Array.from(randomBytes(32))
  return encodeWork({
    featureFlags: 0n,
    creationTime: BigInt(Date.now()) * 1000n,
    parent: hash(),
    adjacents: new Map(graphs.twenty.adjacents[0].map((chain) => [chain, hash()])),
    target: MAX_TARGET / difficulty,
    payloadHash: hash(),
    chainId: 0,
    weight: 0n,
    height: 1n,
    version: 2,
    epochStart: 0n,
    nonce: 0n,
  })
}

/** So hard that no benchmark finds a solution. */
export const UNREACHABLE = 1n << 120n
