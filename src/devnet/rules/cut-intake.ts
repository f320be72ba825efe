/**
 * Accepts the cut of a peer (PROTOCOL.md E.1). An embedded node fetches nothing from its peers: it adopts a cut only if
 * it has the blocks already or they come with the cut.
 */
import { decodeBase64Url, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import type { Json } from '#ground/base/json.ts'
import type { Cut } from '#ground/chain/cut.ts'
import { decodeHeader, type Header } from '#ground/chain/header.ts'
import { headerFromJson } from '#ground/chain/header-json.ts'
import type { NetworkCode } from '#ground/chain/known-networks.ts'
import type { CutHashes, HeaderObject, PayloadData, PayloadWithOutputs } from '#ground/schema/bodies.ts'
import type { StoredPayload } from '../store/payload.ts'
import { payloadFromJson } from '../store/payload-json.ts'
import type { Chains } from './chains.ts'

/** Error of a cut, or of a block that comes with it. */
export interface InvalidCut {
  readonly invalid: string
}

/**
 * Adds the blocks that come with a cut, and adopts the cut if it weighs more than the current one.
 * @returns null if it was accepted, even if nothing changed because a block is missing
 */
export async function takeCut(chains: Chains, cut: CutHashes): Promise<InvalidCut | null> {
  try {
    const headers = Object.values(cut.headers ?? {}).map((json) => readHeader(json, chains.network))
    const payloads = new Map(Object.values(cut.payloads ?? {}).flatMap(readPayload))
    // Parents first: they are lower.
    headers.sort((a, b) => Number(a.height - b.height))
    for (const header of headers) {
      const broken = await insert(chains, header, payloads)
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
    // The heads do not fit together.
    if (error instanceof RangeError) return invalid(error.message)
    throw error
  }
}

/** @returns why a block is invalid, or null if it is in the store now or something that it needs is missing */
async function insert(
  chains: Chains,
  header: Header,
  payloads: ReadonlyMap<string, StoredPayload>,
): Promise<string | null> {
  if (chains.store.get(header.hash) !== undefined) return null
  const payload = payloads.get(encodeBase64Url(header.payloadHash)) ?? chains.store.payloads.get(header.payloadHash)
  if (payload === undefined) return null
  await chains.prepare(header, payload)
  const addition = chains.insert(header, payload)
  if (addition.status !== 'invalid') return null
  const why = addition.why === undefined ? '' : `: ${addition.why}`
  return `block ${encodeBase64Url(header.hash)} breaks the rule of ${addition.rules.join(', ')}${why}`
}

/** @returns the heads that a cut names, or null if the node does not have all of them */
function headsOf(chains: Chains, { hashes }: CutHashes): Cut | null {
  const heads = new Map<number, Header>()
  for (const [chain, { hash }] of Object.entries(hashes)) {
    const block = chains.store.byId(hash, Number(chain))
    if (block === undefined) return null
    heads.set(block.chain, block.header)
  }
  return heads
}

function readHeader(json: string | HeaderObject, network: NetworkCode): Header {
  return typeof json === 'string'
    ? decodeHeader(decodeBase64Url(json, 'header'))
    : headerFromJson(json as Json, network)
}

/** Computes hashes instead of reading them. Skips a payload without outputs, which the store needs. */
function readPayload(json: PayloadWithOutputs | PayloadData): [string, StoredPayload][] {
  if (!('coinbase' in json)) return []
  const payload = payloadFromJson(json)
  return [[encodeBase64Url(payload.payloadHash), payload]]
}
