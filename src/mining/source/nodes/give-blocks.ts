/** Gives the blocks of one node to another as peers do, by sending it a cut (PROTOCOL.md E.1). */
import type { NodeClient } from '#client/node/client.ts'
import { NodeRefusal } from '#client/node/errors.ts'
import type { CutHashes, PeerInfo } from '#ground/schema/bodies.ts'

/** Maximum number of blocks per chain, so that one request stays small; a node that lacks more gets them from its peers. */
const MAX_BLOCKS = 20

/**
 * Sends a node the cut of another, with the blocks that it lacks.
 * @returns false if it takes no cuts, such as the service API of live nodes
 * @throws NewcutError
 */
export async function giveBlocks(from: NodeClient, to: NodeClient): Promise<boolean> {
  const cut: CutHashes = { ...(await from.cut()), origin: peerAt(from.http.baseUrl) }
  if (!(await isTaken(to, cut))) return false
  const { hashes } = await to.cut()
  const chains = Object.entries(cut.hashes).filter(([chain, { height }]) => height > (hashes[chain]?.height ?? height))
  const pages = chains.map(([chain, { hash }]) => {
    const bounds = { upper: [hash], lower: [hashes[chain].hash] }
    return from.blockBranch(Number(chain), bounds, { limit: MAX_BLOCKS, encoding: 'object' }).page()
  })
  const blocks = (await Promise.all(pages)).flatMap(({ items }) => items)
  if (blocks.length === 0) return true
  const headers = Object.fromEntries(blocks.map(({ header }) => [header.hash, header]))
  const payloads = Object.fromEntries(
    blocks.map(({ payloadWithOutputs }) => [payloadWithOutputs.payloadHash, payloadWithOutputs]),
  )
  return isTaken(to, { ...cut, headers, payloads })
}

/** Nodes take cuts only from known peers, so the node that has the blocks becomes one. */
async function isTaken(to: NodeClient, cut: CutHashes): Promise<boolean> {
  try {
    await to.putCut(cut).catch(async (error) => {
      if (!(error instanceof NodeRefusal && error.status === 401 && cut.origin)) throw error
      await to.putCutPeer(cut.origin)
      await to.putCut(cut)
    })
    return true
  } catch (error) {
    if (error instanceof NodeRefusal && error.isNodesOwn) return false
    throw error
  }
}

function peerAt(url: string): PeerInfo {
  const { protocol, hostname, port } = new URL(url)
  const usualPort = protocol === 'https:' ? 443 : 80
  return { id: null, address: { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || usualPort } }
}
