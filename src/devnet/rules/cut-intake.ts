/**
 * Takes the cut of a peer (PROTOCOL.md E.1). An embedded node fetches nothing from its peers: it moves to a cut only if
 * it has the blocks already or they come with the cut.
 */
import { decodeBase64Url, encodeBase64Url } from '../../core/bytes.ts'
import type { Cut } from '../../core/cut.ts'
import { FormatError } from '../../core/errors.ts'
import { decodeHeader, type Header } from '../../core/header.ts'
import { headerFromJson } from '../../core/header-json.ts'
import type { Json } from '../../core/json.ts'
import { payloadHashes } from '../../core/payload.ts'
import type { CutHashes, HeaderObject, PayloadData, PayloadWithOutputs } from '../../schema/bodies.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { Chains } from './chains.ts'

/** What is wrong with a cut, or with a block that it brings along. */
export interface InvalidCut {
  readonly invalid: string
}

/**
 * Adds the blocks that a cut brings along and moves to it if it weighs more than the present one. null: taken, even if
 * nothing changed because a block is missing.
 */
export function takeCut(chains: Chains, cut: CutHashes): InvalidCut | null {
  try {
    const headers = Object.values(cut.headers ?? {}).map(readHeader)
    const payloads = new Map(Object.values(cut.payloads ?? {}).flatMap(readPayload))
    // A block needs its parents, which are lower.
    headers.sort((a, b) => Number(a.height - b.height))
    for (const header of headers) {
      const broken = insert(chains, header, payloads)
      if (broken !== null) return invalid(broken)
    }
  } catch (error) {
    if (error instanceof FormatError) return invalid(error.message)
    throw error
  }
  return adopt(chains, cut)
}

const invalid = (why: string): InvalidCut => ({ invalid: why })

function adopt(chains: Chains, cut: CutHashes): InvalidCut | null {
  const heads = headsOf(chains, cut)
  if (heads === null) return null
  try {
    chains.adopt(heads)
    return null
  } catch (error) {
    // Heads that do not fit together.
    if (error instanceof RangeError) return invalid(error.message)
    throw error
  }
}

/** What is wrong with a block; null: it is in the store now, or something that it needs is missing. */
function insert(chains: Chains, header: Header, payloads: ReadonlyMap<string, StoredPayload>): string | null {
  if (chains.store.get(header.hash) !== undefined) return null
  const payload = payloads.get(encodeBase64Url(header.payloadHash)) ?? chains.store.payloads.get(header.payloadHash)
  if (payload === undefined) return null
  const addition = chains.insert(header, payload)
  if (addition.status !== 'invalid') return null
  const why = addition.why === undefined ? '' : `: ${addition.why}`
  return `block ${encodeBase64Url(header.hash)} breaks the rule of ${addition.rules.join(', ')}${why}`
}

/** The heads that a cut names; null when the node does not have them all. */
function headsOf(chains: Chains, { hashes }: CutHashes): Cut | null {
  const heads = new Map<number, Header>()
  for (const [chain, { hash }] of Object.entries(hashes)) {
    const block = chains.store.byId(hash, Number(chain))
    if (block === undefined) return null
    heads.set(block.chain, block.header)
  }
  return heads
}

function readHeader(json: string | HeaderObject): Header {
  return typeof json === 'string' ? decodeHeader(decodeBase64Url(json, 'header')) : headerFromJson(json as Json)
}

/** Hashes are computed, not read. A payload without outputs is left out: this node cannot execute its transactions. */
function readPayload(json: PayloadWithOutputs | PayloadData): [string, StoredPayload][] {
  if (!('coinbase' in json)) return []
  const parts = {
    minerData: decodeBase64Url(json.minerData, 'minerData'),
    coinbase: decodeBase64Url(json.coinbase, 'coinbase'),
    transactions: json.transactions.map(([transaction, output]) => ({
      transaction: decodeBase64Url(transaction, 'transaction'),
      output: decodeBase64Url(output, 'output'),
    })),
  }
  const hashes = payloadHashes(parts)
  return [[encodeBase64Url(hashes.payloadHash), { ...parts, ...hashes }]]
}
