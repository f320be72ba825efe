/** Genesis headers (PROTOCOL.md B.5). */
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
