/**
 * An independent implementation of the rules of a chain. It reads all headers of a running node in both encodings and
 * lists every broken rule. It shares nothing with src/, not even the hash functions.
 */
import { createHash } from 'node:crypto'
import { fetchChains } from './checker-fetch.ts'
import { Peer } from './request.ts'

/** A rule that was set by hand. `from` has its first height for each chain. */
export interface HandSetRule {
  readonly from: Readonly<Record<string, number>>
  /** The target of the block at exactly that height. */
  readonly difficulty?: string
  readonly blockDelayMs?: number
}

export interface RuleOptions {
  /** False if any nonce solves a block. */
  readonly pow?: boolean
  /** False if targets never change. */
  readonly adjusts?: boolean
  /** Rules in the order in which they were set. */
  readonly setByHand?: readonly HandSetRule[]
  /** The block delay before any change by hand. Default: the current one in /info. */
  readonly firstBlockDelayMs?: number
  /** True after reorganisations: orphans may be higher than the heads, and blocks below the heads must braid. */
  readonly forks?: boolean
}

export interface CheckerOptions extends RuleOptions {
  readonly url: string
  /** The product word in paths and in the version field. */
  readonly product?: string
  /** Page sizes in headers, for the object and for the plain encoding. */
  readonly pageSizes?: readonly [number, number]
}

export interface Violation {
  readonly chain: number
  readonly height: number
  readonly rule: string
  readonly message: string
}

/** A header as its JSON object. Times are below 2^53. */
export interface HeaderObject {
  nonce: string
  creationTime: number
  parent: string
  adjacents: Record<string, string>
  target: string
  payloadHash: string
  chainId: number
  weight: string
  height: number
  [version: `${string}Version`]: string
  epochStart: number
  featureFlags: number
  hash: string
}

export interface Fetched {
  readonly product: string
  /** Adjacent chains of each chain. */
  readonly graph: ReadonlyMap<number, readonly number[]>
  readonly blockDelay: bigint
  readonly chains: ReadonlyMap<number, readonly { readonly object: HeaderObject; readonly plain: string }[]>
  readonly cut: { readonly hashes: Record<string, { height: number; hash: string }>; height: number; weight: string }
  /** Inconsistencies between pages. */
  readonly pagingViolations: readonly Violation[]
}

export interface Report {
  readonly headers: number
  readonly violations: readonly Violation[]
}

const MAX = (1n << 256n) - 1n
const WINDOW = 120
const VERSION = { name: 'development', code: 2 }

/** Fetches everything from the node and checks it. */
export async function checkNode(options: CheckerOptions): Promise<Report> {
  const peer = new Peer(options.url)
  try {
    const fetched = await fetchChains(peer, options.product ?? 'chainweb', options.pageSizes ?? [7, 11])
    return { headers: [...fetched.chains.values()].flat().length, violations: checkChains(fetched, options) }
  } finally {
    peer.close()
  }
}

/** Every rule that the fetched chains break. */
export function checkChains(fetched: Fetched, options: RuleOptions = {}): Violation[] {
  const violations = [...fetched.pagingViolations]
  const blocks = new Map<string, HeaderObject>()
  for (const list of fetched.chains.values()) for (const { object } of list) blocks.set(object.hash, object)
  for (const [chain, list] of fetched.chains) {
    for (const { object, plain } of list) {
      const fail = (rule: string, message: string) =>
        violations.push({ chain, height: object.height, rule, message: `${object.hash}: ${message}` })
      const same = (rule: string, found: unknown, wanted: unknown) => {
        if (String(found) !== String(wanted)) fail(rule, `${found} instead of ${wanted}`)
      }
      same('encoding', plain, plainOf(object, fetched.product))
      same('hash', object.hash, merkleBlockHash(workOf(object, fetched.product)))
      same('chain', object.chainId, chain)
      same('version', object[`${fetched.product}Version`], VERSION.name)
      if (object.height === 0) checkGenesis(fetched, object, same)
      else checkBlock(fetched, object, blocks, options, same)
    }
  }
  checkCut(fetched, blocks, options, violations)
  if (options.forks === true) checkBraid(fetched, blocks, violations)
  return violations
}

type Same = (rule: string, found: unknown, wanted: unknown) => void

function checkGenesis({ graph }: Fetched, header: HeaderObject, same: Same): void {
  const adjacents = graph.get(header.chainId) ?? []
  same('parent', header.parent, genesisParent(header.chainId))
  same('adjacents', pairs(header.adjacents), pairs(Object.fromEntries(adjacents.map((a) => [a, genesisParent(a)]))))
  same('weight', numberOf(header.weight), 0)
  same('featureFlags', header.featureFlags, 0)
  same('epochStart', header.epochStart, header.creationTime)
  same('nonce', header.nonce, 0)
}

function checkBlock(
  { graph, blockDelay: blockDelayNow, product }: Fetched,
  header: HeaderObject,
  blocks: ReadonlyMap<string, HeaderObject>,
  { pow = true, adjusts = true, setByHand = [], firstBlockDelayMs }: RuleOptions,
  same: Same,
): void {
  const target = numberOf(header.target)
  const powHash = createHash('blake2s256').update(workOf(header, product)).digest()
  if (pow) same('proofOfWork', fromLittleEndian(powHash) <= target, true)
  const parent = blocks.get(header.parent)
  same('parent', parent?.chainId, header.chainId)
  if (parent === undefined) return
  same('height', header.height, parent.height + 1)
  const neighbours = graph.get(header.chainId) ?? []
  same('adjacents', Object.keys(header.adjacents).sort(), neighbours.map(String).sort())
  const parents = [parent]
  for (const [chain, hash] of Object.entries(header.adjacents)) {
    const adjacent = blocks.get(hash)
    same('adjacents', `${adjacent?.chainId} at ${adjacent?.height}`, `${chain} at ${parent.height}`)
    if (adjacent !== undefined) parents.push(adjacent)
  }
  checkVotes(header, parents, same)
  for (const { creationTime, hash } of parents) {
    same('creationTime', header.creationTime > creationTime ? 'later' : `not after ${hash}`, 'later')
  }
  const isFirst = adjusts && header.height % (header.height <= WINDOW + 1 ? WINDOW / 10 : WINDOW) === 0
  const delayMs = setByHand.findLast(
    ({ from, blockDelayMs }) => blockDelayMs !== undefined && from[header.chainId] <= header.height,
  )?.blockDelayMs
  const firstDelay = firstBlockDelayMs === undefined ? blockDelayNow : BigInt(firstBlockDelayMs * 1000)
  const blockDelay = delayMs === undefined ? firstDelay : BigInt(delayMs * 1000)
  const difficultySet = setByHand.findLast(
    ({ from, difficulty }) => difficulty !== undefined && from[header.chainId] === header.height,
  )?.difficulty
  if (difficultySet !== undefined) same('target', target, MAX / BigInt(difficultySet))
  else same('target', target, isFirst ? adjusted(parents, header.height, blockDelay) : numberOf(parent.target))
  // The first epoch of a development network begins with its first mined block, not with genesis.
  const startsAtParent = isFirst || header.height === 2
  same('epochStart', header.epochStart, startsAtParent ? parent.creationTime : parent.epochStart)
  const difficulty = target === 0n ? 0n : MAX / target
  same('weight', numberOf(header.weight), BigInt.asUintN(256, numberOf(parent.weight) + difficulty))
}

/**
 * The first 14,280 blocks of an epoch may vote, and the last 120 count. Two thirds of the votes adopt the next fork.
 */
function checkVotes(header: HeaderObject, [parent, ...adjacents]: readonly HeaderObject[], same: Same): void {
  const [number, votes] = flagsOf(header)
  const [before, inherited] = flagsOf(parent)
  const position = header.height % 14_400
  const isFirst = position === 0
  const isAdopted = isFirst && Math.round(inherited / 1000) >= 9520
  same('forkNumber', number, isAdopted ? before + 1 : before)
  const all = [inherited, ...adjacents.map((each) => flagsOf(each)[1])]
  const mean = Math.floor(all.reduce((sum, each) => sum + each, 0) / all.length)
  const least = isFirst ? 0 : position < 14_280 ? inherited : mean
  const most = position < 14_280 ? least + 1000 : least
  same('forkVotes', votes === least || votes === most, true)
}

/** Fork number, and votes in thousandths. */
function flagsOf({ featureFlags }: HeaderObject): [number, number] {
  return [featureFlags % 2 ** 32, Math.floor(featureFlags / 2 ** 32)]
}

/** The target of an epoch's first block: the mean of the targets that the parents' chains need, at most 2^256 - 1. */
function adjusted(parents: readonly HeaderObject[], height: number, blockDelay: bigint): bigint {
  const planned = BigInt(height <= WINDOW + 1 ? WINDOW / 10 : WINDOW) * blockDelay
  const each = parents.map(({ creationTime, epochStart, target }) => {
    const scaled = BigInt(creationTime - epochStart) * numberOf(target)
    return scaled / planned + (scaled % planned > 0n ? 1n : 0n)
  })
  const mean = each.reduce((sum, one) => sum + one, 0n) / BigInt(each.length)
  return mean > MAX ? MAX : mean
}

/** The heads of the cut exist, are the last blocks of their chains, and braid. */
function checkCut(
  { graph, chains, cut }: Fetched,
  blocks: ReadonlyMap<string, HeaderObject>,
  { forks = false }: RuleOptions,
  found: Violation[],
): void {
  let height = 0
  let weight = 0n
  const fail = (chain: number, message: string) => found.push({ chain, height: cut.height, rule: 'cut', message })
  for (const [chain, neighbours] of graph) {
    const head = blocks.get(cut.hashes[chain]?.hash)
    if (head === undefined || head.chainId !== chain || head.height !== cut.hashes[chain].height) {
      fail(chain, 'the head is no block of the chain at its height')
      continue
    }
    if (!forks && head.height !== Math.max(...(chains.get(chain) ?? []).map(({ object }) => object.height))) {
      fail(chain, 'the head is not the highest block')
    }
    height += head.height
    weight += numberOf(head.weight)
    for (const neighbour of neighbours) {
      if (Math.abs(head.height - (cut.hashes[neighbour]?.height ?? 0)) > 1) fail(chain, `too far from ${neighbour}`)
    }
  }
  if (height !== cut.height) fail(-1, `height ${cut.height} instead of ${height}`)
  if (BigInt.asUintN(256, weight) !== numberOf(cut.weight)) fail(-1, `weight ${cut.weight} instead of ${weight}`)
}

/** Every block below the heads names adjacent blocks that are below the heads too. */
function checkBraid({ cut }: Fetched, blocks: ReadonlyMap<string, HeaderObject>, found: Violation[]): void {
  const below = new Map<string, HeaderObject>()
  for (const { hash } of Object.values(cut.hashes)) {
    let block = blocks.get(hash)
    for (; block !== undefined && !below.has(block.hash); block = blocks.get(block.parent)) below.set(block.hash, block)
  }
  for (const { chainId: chain, height, hash, adjacents } of below.values()) {
    for (const adjacent of height === 0 ? [] : Object.values(adjacents)) {
      if (below.has(adjacent)) continue
      found.push({ chain, height, rule: 'braid', message: `${hash}: adjacent ${adjacent} is not on the branch` })
    }
  }
}

const pairs = (record: Record<string, string>) => JSON.stringify(Object.entries(record).sort())
const bytesOf = (text: string) => Buffer.from(text, 'base64url')
export const numberOf = (text: string) => fromLittleEndian(bytesOf(text))

function fromLittleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}

function littleEndian(value: number | string, size: number): Buffer {
  const hex = BigInt(value).toString(16)
  return Buffer.from(hex.padStart(2 * size, '0'), 'hex').reverse()
}

/** The bytes of a header up to and including its nonce, from its JSON object. */
export function workOf(header: HeaderObject, product = 'chainweb'): Buffer {
  const adjacents = Object.entries(header.adjacents).sort(([a], [b]) => Number(a) - Number(b))
  return Buffer.concat([
    littleEndian(header.featureFlags, 8),
    littleEndian(header.creationTime, 8),
    bytesOf(header.parent),
    littleEndian(adjacents.length, 2),
    ...adjacents.flatMap(([chain, hash]) => [littleEndian(chain, 4), bytesOf(hash)]),
    bytesOf(header.target),
    bytesOf(header.payloadHash),
    littleEndian(header.chainId, 4),
    bytesOf(header.weight),
    littleEndian(header.height, 8),
    littleEndian(header[`${product}Version`] === VERSION.name ? VERSION.code : 0, 4),
    littleEndian(header.epochStart, 8),
    littleEndian(header.nonce, 8),
  ])
}

/** The plain encoding of a header: base64url of its bytes. */
export function plainOf(header: HeaderObject, product = 'chainweb'): string {
  return Buffer.concat([workOf(header, product), bytesOf(header.hash)]).toString('base64url')
}

const sha = (...parts: Uint8Array[]) => createHash('sha512-256').update(Buffer.concat(parts)).digest()

/** Block hash of work bytes: tagged leaves in the order of the protocol, adjacent hashes last. */
export function merkleBlockHash(work: Buffer): string {
  const end = work.length - 128
  const leaf = (tag: number, from: number, size: number) => sha(Buffer.of(0, 0, tag), work.subarray(from, from + size))
  const entries = [
    leaf(0x06, 0, 8),
    leaf(0x07, 8, 8),
    work.subarray(16, 48),
    leaf(0x11, end, 32),
    work.subarray(end + 32, end + 64),
    leaf(0x02, end + 64, 4),
    leaf(0x04, end + 68, 32),
    leaf(0x03, end + 100, 8),
    leaf(0x08, end + 108, 4),
    leaf(0x19, end + 112, 8),
    leaf(0x20, end + 120, 8),
  ]
  for (let at = 50; at < end; at += 36) entries.push(work.subarray(at + 4, at + 36))
  return root(entries).toString('base64url')
}

/** Builds the tree level by level and carries an odd node up. This equals splitting at the largest power of two. */
function root(entries: readonly Buffer[]): Buffer {
  if (entries.length === 1) return entries[0]
  const next: Buffer[] = []
  for (let i = 0; i + 1 < entries.length; i += 2) next.push(sha(Buffer.of(1), entries[i], entries[i + 1]))
  if (entries.length % 2 === 1) next.push(entries[entries.length - 1])
  return root(next)
}

function genesisParent(chain: number): string {
  const leaf = (bytes: Buffer) => sha(Buffer.of(0), bytes)
  const leaves = [
    leaf(Buffer.from('CHAINWEB_GENESIS')),
    leaf(littleEndian(VERSION.code, 4)),
    leaf(littleEndian(chain, 4)),
  ]
  return root(leaves).toString('base64url')
}
