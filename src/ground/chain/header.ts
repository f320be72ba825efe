/**
 * Codec of headers and work (PROTOCOL.md B.1), for graphs of any degree.
 *
 *     work   = all fields up to and including the nonce:   178 + 36 x degree bytes
 *     header = work || block hash (32 bytes)
 */
import {
  equalBytes,
  readI64LE,
  readU16LE,
  readU32LE,
  readU64LE,
  readU256LE,
  writeI64LE,
  writeU16LE,
  writeU32LE,
  writeU64LE,
  writeU256LE,
} from '../base/bytes.ts'
import { FormatError } from '../base/errors.ts'

/** Bytes of one adjacent record: chain u32 LE || hash. */
export const ADJACENT_BYTES = 36
/** Bytes in front of the work in a work response (PROTOCOL.md A.1): chain u32 LE || target u256 LE. */
export const WORK_PREFIX_BYTES = 36
const HASH_BYTES = 32
const NONCE_BYTES = 8
/**
 * Maximum number of adjacent chains, above that of any known graph (Hoffman-Singleton: 7). It limits the effect of a
 * malformed count, and the buffers that engines reserve for work.
 */
export const MAX_DEGREE = 9

/** Byte offsets of all fields, and the sizes in bytes. All codecs use this table. */
export interface HeaderLayout {
  readonly featureFlags: number
  readonly creationTime: number
  readonly parent: number
  readonly adjacentCount: number
  readonly adjacents: number
  readonly target: number
  readonly payloadHash: number
  readonly chainId: number
  readonly weight: number
  readonly height: number
  readonly version: number
  readonly epochStart: number
  readonly nonce: number
  readonly hash: number
  readonly workBytes: number
  readonly headerBytes: number
}

/** Offsets for a graph of this degree. */
export function headerLayout(degree: number): HeaderLayout {
  const end = 50 + ADJACENT_BYTES * degree
  return {
    featureFlags: 0,
    creationTime: 8,
    parent: 16,
    adjacentCount: 48,
    adjacents: 50,
    target: end,
    payloadHash: end + 32,
    chainId: end + 64,
    weight: end + 68,
    height: end + 100,
    version: end + 108,
    epochStart: end + 112,
    nonce: end + 120,
    hash: end + 128,
    workBytes: end + 128,
    headerBytes: end + 160,
  }
}

/** Offsets of the adjacent count and of the first adjacent record; the same for every degree. */
const { adjacentCount: COUNT_AT, adjacents: ADJACENTS_AT } = headerLayout(0)
/** Size of the largest accepted work: 502 bytes. */
export const MAX_WORK_BYTES = headerLayout(MAX_DEGREE).workBytes

/** A header without its hash. Hashes are 32 bytes; times are microseconds since the UNIX epoch. */
export interface WorkFields {
  readonly featureFlags: bigint
  readonly creationTime: bigint
  readonly parent: Uint8Array
  /** Adjacent chain -> hash of its parent block, ascending by chain. */
  readonly adjacents: ReadonlyMap<number, Uint8Array>
  readonly target: bigint
  readonly payloadHash: Uint8Array
  readonly chainId: number
  readonly weight: bigint
  readonly height: bigint
  /** Network version code (core/network.ts). */
  readonly version: number
  readonly epochStart: bigint
  readonly nonce: bigint
}

export interface Header extends WorkFields {
  readonly hash: Uint8Array
}

/**
 * Graph degree for this byte length, regardless of the content. A work response is as long as work of the next degree.
 * @returns null if the length matches no degree
 */
export function degreeOfSize(bytes: number, record: 'work' | 'header' | 'workResponse'): number | null {
  const { workBytes, headerBytes } = headerLayout(0)
  const least = { work: workBytes, header: headerBytes, workResponse: WORK_PREFIX_BYTES + workBytes }[record]
  const degree = (bytes - least) / ADJACENT_BYTES
  return Number.isInteger(degree) && degree >= 0 ? degree : null
}

/**
 * Layout of work bytes, by their adjacent count.
 * @throws FormatError if the length does not match the count
 */
export function workLayout(work: Uint8Array): HeaderLayout {
  return checkedLayout(work, 'workBytes', 'work')
}

function checkedLayout(bytes: Uint8Array, size: 'workBytes' | 'headerBytes', what: string): HeaderLayout {
  if (bytes.length < ADJACENTS_AT) {
    throw new FormatError(what, bytes.length, `ends after ${bytes.length} bytes, before the number of adjacents`)
  }
  const degree = readU16LE(bytes, COUNT_AT)
  checkDegree(degree)
  const layout = headerLayout(degree)
  if (bytes.length !== layout[size]) {
    const expected = `a ${what} with ${degree} adjacents has ${layout[size]} bytes`
    throw new FormatError('adjacentCount', COUNT_AT, `${expected}, got ${bytes.length}`)
  }
  return layout
}

/** @throws FormatError if the degree exceeds MAX_DEGREE */
export function checkDegree(degree: number): void {
  if (degree <= MAX_DEGREE) return
  throw new FormatError('adjacentCount', COUNT_AT, `${degree} adjacents, at most ${MAX_DEGREE}`)
}

/**
 * Decodes work bytes, including the nonce.
 * @throws FormatError that names field and offset
 */
export function decodeWork(work: Uint8Array): WorkFields {
  return decodeFields(work, workLayout(work))
}

/**
 * Decodes header bytes. Does not check the hash; core/block-hash.ts computes the right one.
 * @throws FormatError
 */
export function decodeHeader(header: Uint8Array): Header {
  const layout = checkedLayout(header, 'headerBytes', 'header')
  return Object.assign(decodeFields(header, layout), { hash: header.slice(layout.hash, layout.headerBytes) })
}

function decodeFields(bytes: Uint8Array, at: HeaderLayout): WorkFields {
  return {
    featureFlags: readU64LE(bytes, at.featureFlags),
    creationTime: readI64LE(bytes, at.creationTime),
    parent: bytes.slice(at.parent, at.parent + HASH_BYTES),
    adjacents: decodeAdjacents(bytes, at),
    target: readU256LE(bytes, at.target),
    payloadHash: bytes.slice(at.payloadHash, at.payloadHash + HASH_BYTES),
    chainId: readU32LE(bytes, at.chainId),
    weight: readU256LE(bytes, at.weight),
    height: readU64LE(bytes, at.height),
    version: readU32LE(bytes, at.version),
    epochStart: readI64LE(bytes, at.epochStart),
    nonce: readU64LE(bytes, at.nonce),
  }
}

function decodeAdjacents(bytes: Uint8Array, at: HeaderLayout): Map<number, Uint8Array> {
  const adjacents = new Map<number, Uint8Array>()
  let last = -1
  for (let offset = at.adjacents; offset < at.target; offset += ADJACENT_BYTES) {
    const chain = readU32LE(bytes, offset)
    if (chain <= last) {
      throw new FormatError('adjacents', offset, `chain ${chain} after chain ${last}: chains must ascend`)
    }
    adjacents.set(chain, bytes.slice(offset + 4, offset + ADJACENT_BYTES))
    last = chain
  }
  return adjacents
}

/**
 * Encodes work bytes.
 * @throws FormatError if a field does not fit its size
 */
export function encodeWork(fields: WorkFields): Uint8Array {
  const at = headerLayout(fields.adjacents.size)
  const bytes = new Uint8Array(at.workBytes)
  encodeFields(bytes, at, fields)
  return bytes
}

/**
 * Encodes header bytes.
 * @throws FormatError
 */
export function encodeHeader(header: Header): Uint8Array {
  const at = headerLayout(header.adjacents.size)
  const bytes = new Uint8Array(at.headerBytes)
  encodeFields(bytes, at, header)
  putHash(bytes, at.hash, header.hash, 'hash')
  return bytes
}

function encodeFields(bytes: Uint8Array, at: HeaderLayout, fields: WorkFields): void {
  const { adjacents } = fields
  checkDegree(adjacents.size)
  writeU64LE(bytes, at.featureFlags, fits(fields.featureFlags, 0n, 64, 'featureFlags', at.featureFlags))
  writeI64LE(bytes, at.creationTime, fits(fields.creationTime, 1n << 63n, 64, 'creationTime', at.creationTime))
  putHash(bytes, at.parent, fields.parent, 'parent')
  writeU16LE(bytes, at.adjacentCount, adjacents.size)
  let offset = at.adjacents
  for (const [chain, hash] of [...adjacents].sort(([a], [b]) => a - b)) {
    writeU32LE(bytes, offset, fitsU32(chain, 'adjacents', offset))
    putHash(bytes, offset + 4, hash, 'adjacents')
    offset += ADJACENT_BYTES
  }
  writeU256LE(bytes, at.target, fits(fields.target, 0n, 256, 'target', at.target))
  putHash(bytes, at.payloadHash, fields.payloadHash, 'payloadHash')
  writeU32LE(bytes, at.chainId, fitsU32(fields.chainId, 'chainId', at.chainId))
  writeU256LE(bytes, at.weight, fits(fields.weight, 0n, 256, 'weight', at.weight))
  writeU64LE(bytes, at.height, fits(fields.height, 0n, 64, 'height', at.height))
  writeU32LE(bytes, at.version, fitsU32(fields.version, 'version', at.version))
  writeI64LE(bytes, at.epochStart, fits(fields.epochStart, 1n << 63n, 64, 'epochStart', at.epochStart))
  writeU64LE(bytes, at.nonce, fits(fields.nonce, 0n, 64, 'nonce', at.nonce))
}

/** @param bias 2^63 for signed 64-bit fields, otherwise 0 */
function fits(value: bigint, bias: bigint, bits: number, field: string, offset: number): bigint {
  if (value + bias < 0n || value + bias >= 1n << BigInt(bits)) {
    throw new FormatError(field, offset, `${value} does not fit ${bits} bits`)
  }
  return value
}

function fitsU32(value: number, field: string, offset: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw new FormatError(field, offset, `${value} does not fit 32 bits`)
  }
  return value
}

function putHash(bytes: Uint8Array, offset: number, hash: Uint8Array, field: string): void {
  if (hash.length !== HASH_BYTES) throw new FormatError(field, offset, `${hash.length} bytes, expected ${HASH_BYTES}`)
  bytes.set(hash, offset)
}

/** Copies `work` with another nonce. */
export function withNonce(work: Uint8Array, nonce: bigint): Uint8Array {
  const copy = work.slice()
  writeU64LE(copy, copy.length - NONCE_BYTES, nonce)
  return copy
}

/** Copies `work` with another creation time, in microseconds. */
export function withCreationTime(work: Uint8Array, creationTime: bigint): Uint8Array {
  const copy = work.slice()
  writeI64LE(copy, headerLayout(0).creationTime, creationTime)
  return copy
}

/** Copies `work` with other feature flags (u64). */
export function withFeatureFlags(work: Uint8Array, featureFlags: bigint): Uint8Array {
  const copy = work.slice()
  writeU64LE(copy, headerLayout(0).featureFlags, featureFlags)
  return copy
}

/**
 * True if two works extend the same blocks, on their chain and on the adjacent chains. Then neither makes the other
 * stale.
 *
 * Different adjacents mean a reorg of an adjacent chain: the cut accepts only one of the two.
 */
export function sameParents(a: WorkFields, b: WorkFields): boolean {
  if (a.chainId !== b.chainId || !equalBytes(a.parent, b.parent) || a.adjacents.size !== b.adjacents.size) return false
  for (const [chain, hash] of a.adjacents) {
    const other = b.adjacents.get(chain)
    if (other === undefined || !equalBytes(hash, other)) return false
  }
  return true
}
