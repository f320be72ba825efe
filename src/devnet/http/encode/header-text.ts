/**
 * Writes headers as JSON straight from their bytes, without an object in between. The text of headerObjectWriter is
 * that of stringifyJson(headerToJson(...)), byte for byte.
 */
import { readI64LE, readU64LE } from '#ground/base/bytes.ts'
import { ADJACENT_BYTES, headerLayout } from '#ground/chain/header.ts'
import type { ProductWord } from '#ground/chain/header-json.ts'
import { type NetworkCode, versionText } from '#ground/chain/known-networks.ts'
import { JsonBytes } from './json-bytes.ts'

/** Writes a header, or a part of it, as a JSON value. Takes the encoded header. */
type HeaderWriter = (bytes: Uint8Array, out: JsonBytes) => void

const HASH_BYTES = 32
const TWO_TO_32 = 2 ** 32
/** Numbers with a lower high half are below 2^53. */
const SAFE_HIGH = 2 ** 21

/** Writes the encoded header in base64url. */
export const writeHeaderText: HeaderWriter = (bytes, out) => {
  out.ascii('"')
  out.base64url(bytes)
  out.ascii('"')
}

/** Writes the block hash in base64url. */
export const writeHash: HeaderWriter = (bytes, out) => {
  out.ascii('"')
  out.base64url(bytes, bytes.length - HASH_BYTES)
  out.ascii('"')
}

/** Text between the values of a header object. */
const text = {
  nonce: Buffer.from('{"nonce":"'),
  creationTime: Buffer.from('","creationTime":'),
  parent: Buffer.from(',"parent":"'),
  adjacents: Buffer.from('","adjacents":{'),
  firstAdjacent: Buffer.from('"'),
  nextAdjacent: Buffer.from('","'),
  adjacentHash: Buffer.from('":"'),
  endOfAdjacents: Buffer.from('"}'),
  noAdjacents: Buffer.from('}'),
  target: Buffer.from(',"target":"'),
  payloadHash: Buffer.from('","payloadHash":"'),
  chainId: Buffer.from('","chainId":'),
  weight: Buffer.from(',"weight":"'),
  height: Buffer.from('","height":'),
  epochStart: Buffer.from('","epochStart":'),
  featureFlags: Buffer.from(',"featureFlags":'),
  hash: Buffer.from(',"hash":"'),
  end: Buffer.from('"}'),
}

/** @returns a writer of headers with `degree` adjacents as objects (PROTOCOL.md B.7) */
export function headerObjectWriter(degree: number, product: ProductWord, network: NetworkCode): HeaderWriter {
  const at = headerLayout(degree)
  const version = Buffer.from(`,"${product}Version":"`)
  return (bytes, out) => {
    putNumber(out, text.nonce, readUnsigned(bytes, at.nonce))
    putNumber(out, text.creationTime, readSigned(bytes, at.creationTime))
    putHash(out, text.parent, bytes, at.parent)
    out.bytes(text.adjacents)
    // Adjacent records are sorted by chain, the order that JavaScript gives the numeric keys of an object.
    for (let offset = at.adjacents; offset < at.target; offset += ADJACENT_BYTES) {
      putNumber(out, offset === at.adjacents ? text.firstAdjacent : text.nextAdjacent, readU32(bytes, offset))
      putHash(out, text.adjacentHash, bytes, offset + 4)
    }
    out.bytes(degree === 0 ? text.noAdjacents : text.endOfAdjacents)
    putHash(out, text.target, bytes, at.target)
    putHash(out, text.payloadHash, bytes, at.payloadHash)
    putNumber(out, text.chainId, readU32(bytes, at.chainId))
    putHash(out, text.weight, bytes, at.weight)
    putNumber(out, text.height, readUnsigned(bytes, at.height))
    out.bytes(version)
    out.ascii(versionText(readU32(bytes, at.version), network))
    putNumber(out, text.epochStart, readSigned(bytes, at.epochStart))
    putNumber(out, text.featureFlags, readUnsigned(bytes, at.featureFlags))
    putHash(out, text.hash, bytes, at.hash)
    out.bytes(text.end)
  }
}

function putNumber(out: JsonBytes, before: Uint8Array, value: number | bigint): void {
  out.bytes(before)
  out.ascii(value.toString())
}

function putHash(out: JsonBytes, before: Uint8Array, bytes: Uint8Array, offset: number): void {
  out.bytes(before)
  out.base64url(bytes, offset, offset + HASH_BYTES)
}

/** @returns the output of a writer for one header */
export function textOf(writer: HeaderWriter, bytes: Uint8Array): string {
  const out = new JsonBytes()
  writer(bytes, out)
  return out.take().toString('latin1')
}

function readUnsigned(bytes: Uint8Array, offset: number): number | bigint {
  const high = readU32(bytes, offset + 4)
  return high < SAFE_HIGH ? high * TWO_TO_32 + readU32(bytes, offset) : readU64LE(bytes, offset)
}

function readSigned(bytes: Uint8Array, offset: number): number | bigint {
  const high = readU32(bytes, offset + 4)
  // A negative number has the highest bit set.
  return high < SAFE_HIGH ? high * TWO_TO_32 + readU32(bytes, offset) : readI64LE(bytes, offset)
}

/** Replaces readU32LE, whose DataView took a quarter of the time for a page. */
function readU32(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] | (bytes[offset + 1] << 8) | (bytes[offset + 2] << 16) | (bytes[offset + 3] << 24)) >>> 0
}
