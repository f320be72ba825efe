/** Creates work for tests: random fields and the target of a given difficulty. */
import { randomBytes } from 'node:crypto'
import { encodeWork } from '../../src/ground/chain/header.ts'
import { FREE_NONCE } from '../../src/ground/chain/nonce.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import type { EngineWork } from '../../src/mining/engine/engine.ts'

/** Creates work with random fields: 178 + 36 x degree bytes. */
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

/** Work for an engine; each sequence is a job of its own. */
export function engineWork(sequence: number, bytes: Uint8Array, target: bigint): EngineWork {
  return { sequence, job: `job ${sequence}`, bytes, target, fixedNonce: FREE_NONCE }
}

/** A difficulty that no test solves. */
export const UNREACHABLE = 1n << 120n
