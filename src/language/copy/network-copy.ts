/** A fork of another network: its pin, and the state of its chains as far as it is fetched. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { makeFolders } from '#ground/base/replace-file.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { decodeHeader, encodeHeader, type Header } from '#ground/chain/header.ts'
import type { LanguageRules } from '../contracts/machine/environment.ts'
import { CopyCache } from './cache.ts'
import { ChainCopy, type ChainCopyOptions } from './chain-copy.ts'
import { entriesIn } from './entries.ts'
import { copyErrors } from './errors.ts'
import { checkGenesis, type GenesisOptions } from './genesis-fetch.ts'
import {
  currentCut,
  expectOneBranch,
  fetchHeader,
  hasOwnHash,
  networkOfNode,
  type Pin,
  pinHeight,
  pinText,
  readCut,
} from './pin.ts'
import { RemoteNode } from './remote-node.ts'

/** How to fork. */
export interface NetworkCopyOptions extends Pick<GenesisOptions, 'networks'> {
  /** Address of a node of the network. */
  readonly url: string
  /** Height, text of a pin or cut, or name of a file with one; null pins a little below the heads. */
  readonly cut: string | null
  /** Chains to pin; null pins all. */
  readonly chains: readonly number[] | null
  /** Folder of the cache; null keeps it in memory. */
  readonly cacheFolder: string | null
  /** Maximum number of requests to the node in a second. */
  readonly perSecond: number
  readonly timeoutMs: number
  readonly tableRows: number
  readonly pactKeys: readonly string[]
  readonly onNotice?: ((message: string) => void) | undefined
  readonly onProgress?: OnProgress | undefined
  /** Rules by which sizes of modules are measured; default: those of nodes. */
  readonly rules?: LanguageRules | undefined
}

/** Default limits. Public nodes refuse clients that send many requests in a second. */
export const COPY_LIMITS = { perSecond: 20, timeoutMs: 30_000, tableRows: 10_000 } as const

/**
 * Life cycle of a fork:
 *
 * 1. `openCopy` chooses a cut: the one that the user names, the cached one of a height, or blocks below the node's heads.
 * 2. It fetches the header of each chain at the height of the pin, and checks that all are of one branch.
 * 3. It compares the genesis headers with those of the network's file and of earlier forks.
 * 4. It saves the pin. From here on the pin never changes, and chains fetch entries as runs miss them.
 * 5. `reopenCopy` opens the same pin again, without a request.
 */
export class NetworkCopy {
  readonly remote: RemoteNode
  readonly pin: Pin
  /** Chain -> its pinned header. */
  readonly headers: ReadonlyMap<number, Header>
  readonly #chains: ReadonlyMap<number, ChainCopy>

  constructor(
    remote: RemoteNode,
    pin: Pin,
    headers: ReadonlyMap<number, Header>,
    chains: ReadonlyMap<number, ChainCopy>,
  ) {
    this.remote = remote
    this.pin = pin
    this.headers = headers
    this.#chains = chains
  }

  /** @throws RangeError for a chain that is not pinned */
  chain(chain: number): ChainCopy {
    const copy = this.#chains.get(chain)
    if (copy === undefined) throw new RangeError(`chain ${chain} is not forked`)
    return copy
  }
}

/** Opens a fork whose pinned headers are known elsewhere. Makes no request. */
export function reopenCopy(options: NetworkCopyOptions, pin: Pin): NetworkCopy {
  const { url, perSecond, timeoutMs, onNotice, onProgress } = options
  const remote = new RemoteNode({ url, perSecond, timeoutMs, onNotice, onProgress })
  const { network, height } = pin
  const chains = [...pin.hashes].map(([chain, hash]) => {
    return [chain, new ChainCopy(remote, { network, chain, height, hash }, options)] as const
  })
  return new NetworkCopy(remote, pin, new Map(), new Map(chains))
}

/** A pin whose hashes are to be found: blocks at a height below these heads. */
interface PinRequest {
  readonly network: string
  readonly height: number
  readonly heads: ReadonlyMap<number, { readonly height: number; readonly hash: string }>
  /** Whether the node chooses the blocks. If not, the user named their hashes. */
  readonly isByHeight: boolean
}

/**
 * Pins a network. Needs no request if the pin and its headers are cached.
 * @throws NewcutError if the node does not answer, the cut is wrong, or the cache cannot be used
 */
export async function openCopy(options: NetworkCopyOptions): Promise<NetworkCopy> {
  const { url, perSecond, timeoutMs, onNotice, onProgress, cacheFolder } = options
  const remote = new RemoteNode({ url, perSecond, timeoutMs, onNotice, onProgress })
  const wanted = await requestedPin(remote, options)
  const { network, height } = wanted
  const chains = options.chains ?? [...wanted.heads.keys()].sort((a, b) => a - b)
  const pinned = await Promise.all(chains.map((chain) => pinChain(remote, wanted, chain, options)))
  expectOneBranch(
    pinned.map(({ header }) => header),
    options.chains === null,
  )
  const headers = new Map(pinned.map(({ header, fork }) => [fork.block.chain, header]))
  // No other network has a block of the same hash.
  if (wanted.isByHeight) await checkGenesis(remote, network, headers, options)
  const pin: Pin = {
    network,
    height,
    hashes: new Map([...headers].map(([chain, header]) => [chain, encodeBase64Url(header.hash)])),
  }
  if (cacheFolder !== null && hasAllChains(headers)) savePin(cacheFolder, pin)
  return new NetworkCopy(remote, pin, headers, new Map(pinned.map(({ fork }) => [fork.block.chain, fork])))
}

/** Whether all neighbours of these chains are among them. The user may have named some chains alone. */
const hasAllChains = (headers: ReadonlyMap<number, Header>) =>
  [...headers.values()].every(({ adjacents }) => [...adjacents.keys()].every((neighbour) => headers.has(neighbour)))

async function requestedPin(remote: RemoteNode, { cut, cacheFolder }: NetworkCopyOptions): Promise<PinRequest> {
  const height = cut !== null && /^\d+$/.test(cut) ? Number(cut) : null
  const named = namedCut(cut, height, cacheFolder)
  if (named !== null) {
    const { network, heads } = readCut(named.text, named.where)
    const lowest = Math.min(...[...heads.values()].map((head) => head.height))
    return { network: network ?? (await networkOfNode(remote)), height: lowest, heads, isByHeight: false }
  }
  const network = await networkOfNode(remote)
  const current = await currentCut(remote, network)
  return { network, height: pinHeight(current, height), heads: current.heads, isByHeight: true }
}

/** The cut that the user or the cache names. @returns null if the node chooses the blocks */
function namedCut(cut: string | null, height: number | null, cacheFolder: string | null): CutString | null {
  if (height !== null) return cachedPin(cacheFolder, height)
  return cut === null ? null : cutText(cut)
}

/** A cut, and where it stands. */
interface CutString {
  readonly text: string
  /** Name of the file or option, for errors. */
  readonly where: string
}

/**
 * The text of a cut: as given, or in a file.
 * @throws NewcutError BAD_INPUT if the file cannot be read
 */
export function cutText(cut: string): CutString {
  if (cut.trimStart().startsWith('{')) return { text: cut, where: '`fork.cut`' }
  try {
    return { text: readUserText(cut), where: cut }
  } catch (error) {
    throw operatingError(copyErrors.unreadableCut, { cut, why: fileProblem(error) }, error)
  }
}

const pinsIn = (folder: string) => join(folder, 'pins')

/** File of a pin of all chains in the cache. */
export function pinFile(folder: string, { network, height }: Pick<Pin, 'network' | 'height'>): string {
  return join(pinsIn(folder), `${network}-${height}.json`)
}

/** The only cached pin at a height, so that a fork with a full cache needs no node. */
function cachedPin(folder: string | null, height: number): CutString | null {
  if (folder === null || !existsSync(pinsIn(folder))) return null
  const files = readdirSync(pinsIn(folder)).filter((name) => name.endsWith(`-${height}.json`))
  return files.length === 1 ? cutText(join(pinsIn(folder), files[0])) : null
}

function savePin(folder: string, pin: Pin): void {
  makeFolders(pinsIn(folder))
  writeFileSync(pinFile(folder, pin), `${pinText(pin)}\n`)
}

/** Finds the pinned header of a chain, cached or at the node. */
async function pinChain(
  remote: RemoteNode,
  { network, height, heads }: PinRequest,
  chain: number,
  options: ChainCopyOptions,
) {
  const head = heads.get(chain)
  if (head === undefined) throw operatingError(copyErrors.missingChain, { chain })
  const known = head.height === height ? cachedHeader(options, { network, chain, height, hash: head.hash }) : null
  const header = known ?? (await fetchHeader(remote, network, chain, { height, head: head.hash }))
  const block = { network, chain, height, hash: encodeBase64Url(header.hash) }
  if (head.height === height && block.hash !== head.hash) {
    const what = `another block of chain ${chain} than the pinned ${head.hash}`
    throw operatingError(copyErrors.wrongAnswer, { url: remote.url, what })
  }
  const fork = new ChainCopy(remote, block, options, head.height === height ? null : head.height)
  const encoded = encodeBase64Url(encodeHeader(header))
  if (fork.entries.header.get() !== encoded) {
    fork.entries.header.put(encoded)
    fork.entries.save()
  }
  return { header, fork }
}

function cachedHeader(
  { cacheFolder, onNotice }: Pick<NetworkCopyOptions, 'cacheFolder' | 'onNotice'>,
  block: ChainCopy['block'],
): Header | null {
  const cached = cacheFolder === null ? undefined : entriesIn(new CopyCache(cacheFolder, block, onNotice)).header.get()
  const header = cached === undefined ? null : decodeHeader(decodeBase64Url(cached, 'header'))
  return header !== null && encodeBase64Url(header.hash) === block.hash && hasOwnHash(header) ? header : null
}
