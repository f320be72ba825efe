/** JSON encoding of headers (PROTOCOL.md B.7). With base/json.ts, integers are exact in both directions. */
import { decodeHash, encodeBase64Url, readU256LE, u256LE } from '../base/bytes.ts'
import { FormatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { checkDegree, type Header, type WorkFields } from './header.ts'
import { type NetworkCode, versionCode, versionText } from './known-networks.ts'

/** Word in the version field, the path prefix and the version header of a node: `chainweb` or `ledger`. */
export type ProductWord = 'chainweb' | 'ledger'

/** Names in the objects of headers. */
export interface HeaderNames {
  /** The network at hand. Without it, and for other codes, the version is `0x` and eight hex digits. */
  readonly network?: NetworkCode | undefined
  /** Default: `chainweb`. */
  readonly product?: ProductWord | undefined
}

/** Number of bits -> largest value. */
const LARGEST: Readonly<Record<number, bigint>> = { 32: (1n << 32n) - 1n, 63: (1n << 63n) - 1n, 64: (1n << 64n) - 1n }

/**
 * Properties of a header except its hash, in the order in which nodes emit them. Bigints are plain integers on the
 * wire.
 */
export function workToJson(fields: WorkFields, { network, product = 'chainweb' }: HeaderNames = {}) {
  return {
    nonce: fields.nonce.toString(),
    creationTime: fields.creationTime,
    parent: encodeBase64Url(fields.parent),
    adjacents: Object.fromEntries([...fields.adjacents].map(([chain, hash]) => [chain, encodeBase64Url(hash)])),
    target: encodeBase64Url(u256LE(fields.target)),
    payloadHash: encodeBase64Url(fields.payloadHash),
    chainId: fields.chainId,
    weight: encodeBase64Url(u256LE(fields.weight)),
    height: fields.height,
    [`${product}Version`]: versionText(fields.version, network),
    epochStart: fields.epochStart,
    featureFlags: fields.featureFlags,
  }
}

/** JSON object of a header; serialize it with `stringifyJson`. */
export function headerToJson(header: Header, names: HeaderNames = {}) {
  return { ...workToJson(header, names), hash: encodeBase64Url(header.hash) }
}

/**
 * Decodes a header object with either product word. Parse the text with `parseJson`.
 * @param network the network at hand, whose name may have any code
 * @throws FormatError that names the field
 */
export function headerFromJson(json: Json, network?: NetworkCode): Header {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new FormatError('header', 0, 'not a JSON object')
  }
  const object = json as { readonly [key: string]: Json }
  const hash = (field: string) => decodeHash(text(object, field), field)
  const version = text(object, object.ledgerVersion === undefined ? 'chainwebVersion' : 'ledgerVersion')
  const code = versionCode(version, network)
  if (code === undefined) throw new FormatError('version', 0, `unknown network ${JSON.stringify(version)}`)
  return {
    featureFlags: integer(object, 'featureFlags', 64),
    creationTime: integer(object, 'creationTime', 63),
    parent: hash('parent'),
    adjacents: adjacentsFromJson(object.adjacents),
    target: readU256LE(hash('target'), 0),
    payloadHash: hash('payloadHash'),
    chainId: Number(integer(object, 'chainId', 32)),
    weight: readU256LE(hash('weight'), 0),
    height: integer(object, 'height', 64),
    version: code,
    epochStart: integer(object, 'epochStart', 63),
    nonce: decimal(text(object, 'nonce'), 'nonce', 64),
    hash: hash('hash'),
  }
}

function adjacentsFromJson(json: Json | undefined): Map<number, Uint8Array> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new FormatError('adjacents', 0, 'expected an object of chain: hash')
  }
  const keys = Object.keys(json)
  checkDegree(keys.length)
  const adjacents = new Map<number, Uint8Array>()
  let last = -1
  let ascends = true
  for (const key of keys) {
    const value = (json as { readonly [key: string]: Json })[key]
    if (typeof value !== 'string') throw new FormatError('adjacents', 0, `chain ${key} is not a string`)
    const chain = chainOf(key)
    if (chain < last) ascends = false
    last = chain
    adjacents.set(chain, decodeHash(value, 'adjacents'))
  }
  // JavaScript orders small integer keys numerically, so chains of real networks need no sort.
  return ascends ? adjacents : new Map([...adjacents].sort(([a], [b]) => a - b))
}

/** As `decimal`, but avoids bigints for short numbers. */
function chainOf(key: string): number {
  return /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : Number(decimal(key, 'adjacents', 32))
}

function text(object: { readonly [key: string]: Json }, field: string): string {
  const value = object[field]
  if (typeof value !== 'string') throw new FormatError(field, 0, 'expected a string')
  return value
}

/** @param bits 32, 63 or 64 */
function integer(object: { readonly [key: string]: Json }, field: string, bits: number): bigint {
  const value = object[field]
  // Safe integers have 53 bits, so most fields need no bigint arithmetic.
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && bits > 53) return BigInt(value)
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isSafeInteger(value))) {
    throw new FormatError(field, 0, 'expected an integer')
  }
  return inRange(BigInt(value), field, bits)
}

function decimal(digits: string, field: string, bits: number): bigint {
  if (!/^(0|[1-9]\d{0,19})$/.test(digits)) throw new FormatError(field, 0, 'expected decimal digits')
  return inRange(BigInt(digits), field, bits)
}

function inRange(value: bigint, field: string, bits: number): bigint {
  if (value < 0n || value > LARGEST[bits]) throw new FormatError(field, 0, `${value} does not fit ${bits} bits`)
  return value
}
