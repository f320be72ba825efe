/** Work to measure and test with: random fields, and the target of a given difficulty. */
import { randomBytes } from 'node:crypto'
import { encodeWork } from '../src/core/header.ts'
import { MAX_TARGET } from '../src/core/target.ts'

/** Work that nobody has searched before: 178 + 36 x degree bytes. */
export function freshWork(difficulty: bigint, degree = 3): Uint8Array {
  const hash = () => Uint8Array.from(randomBytes(32))
  return encodeWork({
    featureFlags: 0n,
    creationTime: BigInt(Date.now()) * 1000n,
    parent: hash(),
    adjacents: new Map(Array.from({ length: degree }, (_, chain) => [chain + 1, hash()])),
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
