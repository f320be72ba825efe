/** Proofs of outputs of simulated blocks: as long as those of a real network, so that they cost the same gas. */
import { blockHash } from '#ground/chain/block-hash.ts'
import { shortestPath } from '#ground/chain/graph.ts'
import { encodeWork, type Header, type WorkFields } from '#ground/chain/header.ts'
import { graphAt, type Network } from '#ground/chain/network.ts'
import { proveOutput } from '#ground/chain/prove-output.ts'
import { encodeProof } from '#ground/chain/spv.ts'
import { sha512t256 } from '../rules/digest.ts'
import type { StoredPayload } from '../store/payload.ts'

/** A command in a simulated block. */
export interface SimulatedOutput {
  readonly header: Header
  readonly payload: StoredPayload
  /** Position in the block. */
  readonly index: number
}

/** Adds the hash to a header. */
export function sealHeader(work: WorkFields): Header {
  return { ...work, hash: blockHash(encodeWork(work), sha512t256) }
}

/**
 * Proves an output to another chain, through headers that stand for the blocks between.
 * @param heads newest block of each chain below the simulated ones
 * @returns null if the network has no way to that chain
 */
export function proveSimulated(
  network: Network,
  heads: ReadonlyMap<number, Header>,
  { header, payload, index }: SimulatedOutput,
  targetChain: number,
): string | null {
  const path = shortestPath(graphAt(network, Number(header.height)), header.chainId, targetChain)
  if (path === null) return null
  const headers = [header]
  for (const chain of path.slice(1)) {
    const head = heads.get(chain)
    if (head === undefined) return null
    const before = headers[headers.length - 1]
    const adjacents = new Map([...head.adjacents, [before.chainId, before.hash] as const].sort(([a], [b]) => a - b))
    headers.push(sealHeader({ ...head, adjacents, height: before.height + 1n }))
  }
  return encodeProof(proveOutput({ payload, index, headers }, sha512t256))
}
