/** The pin of a fork: a block of the same height on every chain of the forked network, and their headers. */
import { decodeBase64Url, decodeHash, equalBytes } from '#ground/base/bytes.ts'
import { FormatError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { parseJson } from '#ground/base/json.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import { decodeHeader, encodeWork, type Header } from '#ground/chain/header.ts'
import { isNetworkName } from '#ground/chain/network.ts'
import { copyErrors } from './errors.ts'
import { excerpt, type RemoteNode } from './remote-node.ts'

/** The block of each chain where a fork begins. All have the same height. */
export interface Pin {
  /** Name of the forked network. */
  readonly network: string
  /** Height of the pinned block on every chain. */
  readonly height: number
  /** Chain -> hash of its pinned block, base64url. */
  readonly hashes: ReadonlyMap<number, string>
}

/** A cut as a node or a file states it. */
interface NamedCut {
  readonly network: string | null
  readonly heads: ReadonlyMap<number, { readonly height: number; readonly hash: string }>
}

/** Blocks below the lowest head where a fork begins by default: hardly any reorganisation is deeper. */
const MARGIN = 10

/** The pin as JSON text, which `--fork-cut` takes. It has the form of a cut. */
export function pinText({ network, height, hashes }: Pin): string {
  const heads = [...hashes].map(([chain, hash]) => [String(chain), { height, hash }])
  return JSON.stringify({ network, height, hashes: Object.fromEntries(heads) })
}

/**
 * Reads a cut from the text of a pin, or from the answer of a node to `GET /cut`.
 * @param where name of its file or address, for the error
 * @throws NewcutError BAD_INPUT
 */
export function readCut(text: string, where: string): NamedCut {
  try {
    const json = parseJson(text) as { readonly network?: unknown; readonly hashes?: unknown } | null
    const { network = null, hashes } = json ?? {}
    const heads = new Map<number, { height: number; hash: string }>()
    for (const [chain, head] of Object.entries((hashes ?? {}) as Record<string, { height: unknown; hash: unknown }>)) {
      const { height, hash } = head
      if (!/^\d{1,9}$/.test(chain) || typeof height !== 'number' || typeof hash !== 'string') throw new TypeError()
      decodeHash(hash)
      heads.set(Number(chain), { height, hash })
    }
    if (heads.size > 0 && (network === null || isNetworkName(network))) return { network, heads }
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  if (text.trim() === '') throw operatingError(copyErrors.emptyCut, { where })
  throw operatingError(copyErrors.notCut, { where, content: excerpt(text) })
}

/**
 * Reads the text of a pin.
 * @throws NewcutError BAD_INPUT if its blocks are not of one height
 */
export function readPin(text: string, where: string): Pin {
  const { network, heads } = readCut(text, where)
  const [{ height }] = heads.values()
  if (network === null || [...heads.values()].some((head) => head.height !== height)) {
    throw operatingError(copyErrors.notPin, { where })
  }
  return { network, height, hashes: new Map([...heads].map(([chain, { hash }]) => [chain, hash])) }
}

/** Start of the paths of a network in the chainweb interface. */
export const networkPath = (network: string): string => `/chainweb/0.0/${encodeURIComponent(network)}`

/**
 * Asks a node for the name of its network.
 * @throws NewcutError NODE_NOT_RECOGNISED
 */
export async function networkOfNode(remote: RemoteNode): Promise<string> {
  const { status, text } = await remote.get('/info')
  try {
    const { nodeVersion } = parseJson(text) as { readonly nodeVersion?: unknown }
    if (status === 200 && isNetworkName(nodeVersion)) return nodeVersion
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw operatingError(copyErrors.notNode, { url: remote.url, answer: excerpt(text) })
}

/**
 * The current cut of the node.
 * @throws NewcutError NODE_REFUSED, or BAD_INPUT if it is not a cut
 */
export async function currentCut(remote: RemoteNode, network: string): Promise<NamedCut> {
  const { status, text } = await remote.get(`${networkPath(network)}/cut`)
  if (status !== 200) throw refusalError(remote, 'GET /cut', status, text)
  return readCut(text, `${remote.url}: GET /cut`)
}

/** Error of a request that the node refuses. */
export function refusalError({ url }: RemoteNode, what: string, status: number, text: string): NewcutError {
  return operatingError(copyErrors.refusal, { url, what, status, answer: excerpt(text) })
}

/**
 * Chooses the height of a pin.
 * @param wished height that the user names, or null for one a little below the heads
 * @throws NewcutError BAD_OPTION if the chains are not that high
 */
export function pinHeight({ heads }: NamedCut, wished: number | null): number {
  const lowest = Math.min(...[...heads.values()].map(({ height }) => height))
  if (wished === null) return Math.max(0, lowest - MARGIN)
  if (wished <= lowest) return wished
  throw operatingError(copyErrors.tooHigh, { height: wished, lowest })
}

/**
 * Fetches the header at a height of the branch that ends with the head of a chain.
 * @throws NewcutError if the head was orphaned, or the node refuses or returns another header
 */
export async function fetchHeader(
  remote: RemoteNode,
  network: string,
  chain: number,
  { height, head }: { readonly height: number; readonly head: string },
): Promise<Header> {
  const path = `${networkPath(network)}/chain/${chain}/header/branch?minheight=${height}&maxheight=${height}`
  const { status, text } = await remote.post(path, { upper: [head], lower: [] })
  if (status === 404) throw orphanError(remote, chain, head)
  if (status !== 200) throw refusalError(remote, 'header/branch', status, text)
  const { items } = (parseJson(text) ?? {}) as { readonly items?: unknown }
  const header = Array.isArray(items) ? headerIn(items[0]) : null
  if (header !== null && Number(header.height) === height && header.chainId === chain) return header
  throw operatingError(copyErrors.wrongAnswer, {
    url: remote.url,
    what: `no valid header of chain ${chain} at height ${height}: ${excerpt(text)}`,
  })
}

/** The error of a pinned block that the node does not have, or no longer. */
export function orphanError({ url }: Pick<RemoteNode, 'url'>, chain: number, hash: string): NewcutError {
  return operatingError(copyErrors.orphan, { hash, chain, url })
}

/** @returns null for anything but a header in base64url that has its own hash */
export function headerIn(json: unknown): Header | null {
  if (typeof json !== 'string') return null
  try {
    const header = decodeHeader(decodeBase64Url(json, 'header'))
    return hasOwnHash(header) ? header : null
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

/** Whether the hash in a header is that of its content. */
export const hasOwnHash = (header: Header): boolean => equalBytes(blockHash(encodeWork(header)), header.hash)

/**
 * Checks that blocks of one height are of one branch of the network: each names the parents of its neighbours.
 * @param isWhole whether there must be a block of each chain
 * @throws NewcutError BAD_INPUT
 */
export function expectOneBranch(headers: readonly Header[], isWhole: boolean): void {
  const byChain = new Map(headers.map((header) => [header.chainId, header]))
  for (const { chainId, adjacents } of headers) {
    for (const [neighbour, parent] of adjacents) {
      const other = byChain.get(neighbour)
      if (other === undefined ? !isWhole : equalBytes(other.parent, parent)) continue
      const problem =
        other === undefined
          ? `it lacks chain ${neighbour}`
          : `its blocks of chains ${chainId} and ${neighbour} are of different branches`
      throw operatingError(copyErrors.brokenCut, { problem })
    }
  }
}
