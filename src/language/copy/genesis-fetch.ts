/**
 * The genesis headers of a forked network. Its file and earlier forks must agree with them. A file of the cache keeps
 * them by the name of the network:
 *
 *     {"genesis":1,"network":"my-net","url":"..","code":77,"time":"2026-11-01T00:00:00.000000Z","firstEpoch":"faked",
 *      "chains":{"0":{"height":0,"hash":"..","target":"00ff..","payload":".."}}}
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { describeError, fileProblem, operatingError } from '#ground/base/errors.ts'
import { fieldOf, parseExactJson, parsePlainJson, unlessMalformed } from '#ground/base/json.ts'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { fakesFirstEpoch, genesisProblem } from '#ground/chain/genesis.ts'
import { decodeHeader, type Header } from '#ground/chain/header.ts'
import { knownNetwork } from '#ground/chain/known-networks.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import { copyErrors } from './errors.ts'
import { networkPath } from './pin.ts'
import { excerpt, type RemoteNode } from './remote-node.ts'

const VERSION = 1

/** Genesis headers as the cache keeps them. */
interface GenesisFile {
  readonly genesis: typeof VERSION
  readonly network: string
  /** Address of the node that had them. */
  readonly url: string
  readonly code: number
  readonly time: string
  readonly firstEpoch: 'faked' | 'plain' | null
  readonly chains: Readonly<Record<string, StoredGenesisHeader>>
}

interface StoredGenesisHeader {
  readonly height: number
  readonly hash: string
  readonly target: string
  readonly payload: string
}

export interface GenesisOptions {
  readonly cacheFolder: string | null
  /** Networks of the user's files. */
  readonly networks?: readonly NetworkDefinition[] | undefined
}

/**
 * Compares the genesis headers of the pinned chains with the file of their network, and with those of earlier forks. The
 * first fork of a network learns them. A private network may start again, so only its file is compared.
 * @param pinned chain -> its pinned header
 * @throws NewcutError NODE_MISBEHAVED, BAD_CONFIG, DATA_UNUSABLE
 */
export async function checkGenesis(
  remote: RemoteNode,
  network: string,
  pinned: ReadonlyMap<number, Header>,
  { cacheFolder, networks }: GenesisOptions,
): Promise<void> {
  const definition = knownNetwork(network, networks)
  if (networks !== undefined && networks.length > 0 && !networks.some(({ name }) => name === network)) {
    const names = networks.map(({ name }) => name).join(', ')
    remote.notice(`the node belongs to ${network}, but \`network-file\` describes ${names}: it has no effect`)
  }
  const [first, ...others] = [...pinned.keys()].sort((a, b) => a - b)
  const read = async (chain: number, count: number) => {
    const headers = await fetchFirst(remote, network, chain, count)
    if (headers === null) return null
    const problem = genesisProblem(headers[0], chain) ?? pinnedProblem(headers[0], pinned.get(chain))
    if (problem !== null) {
      throw operatingError(copyErrors.wrongAnswer, {
        url: remote.url,
        what: `as the genesis header of chain ${chain} a header ${problem}`,
      })
    }
    if (definition !== undefined) expectDefined(remote, headers[0], definition)
    return headers
  }
  const headers = await read(first, 3)
  if (headers === null)
    return remote.notice(`${remote.url} gives no genesis headers: newcut cannot compare its network`)
  const isKept = cacheFolder !== null && (definition?.isPublic ?? true)
  if (!isKept) return
  const file = join(cacheFolder, network, 'genesis.json')
  const stored = readGenesisFile(file, remote)
  const storedHeader = stored?.chains[first]
  if (storedHeader !== undefined) return expectSame(storedHeader, { file, remote, header: headers[0] })
  const more = (await Promise.all(others.map((chain) => read(chain, 1)))).flatMap((each) => each?.[0] ?? [])
  writeGenesisFile(file, remote, { network, headers: [headers[0], ...more], first: headers, before: stored })
}

/** @throws NewcutError DATA_UNUSABLE if an earlier fork saw another genesis block */
function expectSame(
  before: StoredGenesisHeader,
  { file, remote, header }: { readonly file: string; readonly remote: RemoteNode; readonly header: Header },
): void {
  const hash = encodeBase64Url(header.hash)
  if (before.hash === hash) return
  const chain = header.chainId
  throw operatingError(copyErrors.otherGenesis, { url: remote.url, chain, hash, before: before.hash, file })
}

/** @throws NewcutError BAD_CONFIG if the file of the network contradicts a genesis header */
function expectDefined({ url }: RemoteNode, header: Header, definition: NetworkDefinition): void {
  const difference = genesisDifference(header, definition)
  if (difference === null) return
  const [property, defined, actual] = difference
  throw operatingError(copyErrors.otherDefinition, {
    network: definition.name,
    property,
    defined,
    chain: header.chainId,
    url,
    actual,
  })
}

/** The first property of a genesis header that contradicts the file: its name, the value there, and that of the header. */
export function genesisDifference(
  header: Header,
  definition: NetworkDefinition,
): readonly [string, string, string] | null {
  const { code, genesisTime, genesisTarget, genesisPayload, takesAnyGenesisTarget } = definition
  const { version, creationTime, chainId } = header
  const target = takesAnyGenesisTarget ? undefined : genesisTarget?.(chainId)
  const payload = genesisPayload(chainId)
  const payloadHash = encodeBase64Url(header.payloadHash)
  if (code !== undefined && code !== version) return ['code', String(code), String(version)]
  if (genesisTime !== undefined && genesisTime !== creationTime) {
    return ['genesis.time', timeText(genesisTime), timeText(creationTime)]
  }
  if (target !== undefined && target !== header.target) {
    return ['the target', targetText(target), targetText(header.target)]
  }
  return payload !== null && payload !== payloadHash ? ['the payload', payload, payloadHash] : null
}

const pinnedProblem = ({ version }: Header, pinned: Header | undefined) =>
  pinned === undefined || pinned.version === version
    ? null
    : `of version code ${version}, and as the pinned one a header of ${pinned.version}`

async function fetchFirst(
  remote: RemoteNode,
  network: string,
  chain: number,
  count: number,
): Promise<readonly [Header, ...Header[]] | null> {
  const { status, text } = await remote.get(`${networkPath(network)}/chain/${chain}/header?limit=${count}`)
  // A proxy may serve only a part of the interface.
  if (status !== 200) return null
  const headers = unlessMalformed(() => {
    const items = fieldOf(parseExactJson(text), 'items')
    const texts = Array.isArray(items) ? items.filter((item) => typeof item === 'string') : []
    return texts.map((item) => decodeHeader(decodeBase64Url(item, 'header')))
  })
  const [first, ...rest] = headers ?? []
  if (first !== undefined) return [first, ...rest]
  throw operatingError(copyErrors.wrongAnswer, {
    url: remote.url,
    what: `no genesis header of chain ${chain}: ${excerpt(text)}`,
  })
}

function readGenesisFile(file: string, remote: RemoteNode): GenesisFile | null {
  if (!existsSync(file)) return null
  const text = textOfFile(file)
  const genesis = unlessMalformed(() => parsePlainJson(text) as GenesisFile | null)
  if (genesis?.genesis === VERSION && typeof genesis.chains === 'object' && genesis.chains !== null) return genesis
  remote.notice(`${file} is damaged, or of another newcut: newcut fetches the genesis headers again`)
  return null
}

/** @throws NewcutError DATA_UNUSABLE */
function textOfFile(file: string): string {
  try {
    return readUserText(file)
  } catch (error) {
    throw operatingError(copyErrors.unreadableFile, { file, why: fileProblem(error) }, error)
  }
}

interface FetchedGenesis {
  readonly network: string
  /** Genesis header of each chain. */
  readonly headers: readonly Header[]
  /** First headers of one chain. */
  readonly first: readonly Header[]
  /** The file as it is; null if there is none. */
  readonly before: GenesisFile | null
}

function writeGenesisFile(file: string, remote: RemoteNode, { network, headers, first, before }: FetchedGenesis): void {
  const chains = headers.map(({ chainId, height, hash, target, payloadHash }) => {
    const texts = { hash: encodeBase64Url(hash), target: targetText(target), payload: encodeBase64Url(payloadHash) }
    return [String(chainId), { height: Number(height), ...texts }] as const
  })
  const learnt: GenesisFile = {
    genesis: VERSION,
    network,
    url: remote.url,
    code: first[0].version,
    time: timeText(first[0].creationTime),
    firstEpoch: firstEpochOf(first) ?? before?.firstEpoch ?? null,
    chains: { ...before?.chains, ...Object.fromEntries(chains) },
  }
  try {
    makeFolders(dirname(file))
    replaceFile(file, `${JSON.stringify(learnt)}\n`)
  } catch (error) {
    throw operatingError(copyErrors.unwritableFile, { file, why: describeError(error) }, error)
  }
}

/** @returns null if these headers do not show it */
function firstEpochOf(first: readonly Header[]): 'faked' | 'plain' | null {
  const isFaked = fakesFirstEpoch(first)
  if (isFaked === null) return null
  return isFaked ? 'faked' : 'plain'
}

const targetText = (target: bigint) => target.toString(16).padStart(64, '0')

/** ISO 8601 with all six places of the second, as files of networks have it. */
function timeText(microseconds: bigint): string {
  const upToMilliseconds = new Date(Number(microseconds / 1000n)).toISOString().slice(0, -1)
  return `${upToMilliseconds}${String(microseconds % 1000n).padStart(3, '0')}Z`
}
