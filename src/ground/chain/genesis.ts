/** Genesis headers (PROTOCOL.md B.5). */
import { equalBytes } from '../base/bytes.ts'
import { blockHash } from './block-hash.ts'
import { encodeWork, type Header, type WorkFields } from './header.ts'
import { merkleRoot, untaggedLeaf } from './merkle.ts'
import { genesisHeight, graphAt, type Network } from './network.ts'
import { chainBytes } from './work.ts'

const LABEL = new TextEncoder().encode('CHAINWEB_GENESIS')

/** Parent hash of a genesis block: Merkle root of label, version u32 LE and chain u32 LE. */
export function genesisParentHash(versionCode: number, chain: number): Uint8Array {
  return merkleRoot([untaggedLeaf(LABEL), untaggedLeaf(chainBytes(versionCode)), untaggedLeaf(chainBytes(chain))])
}

/** Genesis header of a chain. It is not mined, so its hash need not meet its target. */
export function genesisHeader(network: Network, chain: number, payloadHash: Uint8Array): Header {
  const height = genesisHeight(network, chain)
  const adjacentChains = graphAt(network, height).adjacents[chain]
  const fields: WorkFields = {
    featureFlags: 0n,
    creationTime: network.genesisTime,
    parent: genesisParentHash(network.code, chain),
    adjacents: new Map(adjacentChains.map((adjacent) => [adjacent, genesisParentHash(network.code, adjacent)])),
    target: network.genesisTarget(chain),
    payloadHash,
    chainId: chain,
    weight: 0n,
    height: BigInt(height),
    version: network.code,
    epochStart: network.genesisTime,
    nonce: 0n,
  }
  return { ...fields, hash: blockHash(encodeWork(fields)) }
}

/**
 * Checks that a header is the genesis header of a chain: its parent hashes must be those of its version code, and its hash
 * that of its content.
 * @returns what is wrong, such as "of chain 3", or null
 */
export function genesisProblem(header: Header, chain: number): string | null {
  const { version, adjacents } = header
  if (header.chainId !== chain) return `of chain ${header.chainId}`
  const isOwn = (hash: Uint8Array, parentChain: number) => equalBytes(hash, genesisParentHash(version, parentChain))
  const fits = isOwn(header.parent, chain) && [...adjacents].every(([adjacent, hash]) => isOwn(hash, adjacent))
  if (!fits) return `whose parent hash does not fit its version code ${version}`
  return equalBytes(blockHash(encodeWork(header)), header.hash) ? null : 'whose hash is not that of its content'
}

/**
 * Whether the first epoch begins with block 1, by the headers of a chain.
 * @param headers those of heights 0, 1 and 2
 * @returns null if both are possible
 */
export function fakesFirstEpoch([genesis, first, second]: readonly Header[]): boolean | null {
  if (second === undefined || first.creationTime === genesis.creationTime) return null
  if (second.epochStart === first.creationTime) return true
  return second.epochStart === genesis.creationTime ? false : null
}
