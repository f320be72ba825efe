/** Codec of work responses (PROTOCOL.md A.1): chain u32 LE (4) || target u256 LE (32) || work. */
import { concatBytes, readU32LE, readU256LE, u256LE, writeU32LE } from '../base/bytes.ts'
import { FormatError } from '../base/errors.ts'
import { decodeWork, WORK_PREFIX_BYTES, type WorkFields } from './header.ts'

const CHAIN_BYTES = 4

/** Work to search: its bytes with an open nonce, and its decoded fields. */
export interface Work {
  /** 178 + 36 x degree bytes. */
  readonly bytes: Uint8Array
  readonly fields: WorkFields
}

/**
 * Decodes work bytes.
 * @throws FormatError
 */
export function workFromBytes(bytes: Uint8Array): Work {
  return { bytes, fields: decodeWork(bytes) }
}

/**
 * Decodes a work response. Chain and target of the prefix must match the work.
 * @throws FormatError
 */
export function decodeWorkResponse(response: Uint8Array): Work {
  if (response.length < WORK_PREFIX_BYTES) {
    throw new FormatError('work response', response.length, `ends after ${response.length} bytes, before the work`)
  }
  const chain = readU32LE(response, 0)
  const target = readU256LE(response, CHAIN_BYTES)
  const work = workFromBytes(response.slice(WORK_PREFIX_BYTES))
  if (chain !== work.fields.chainId) {
    throw new FormatError('chain', 0, `chain ${chain} in front of work for chain ${work.fields.chainId}`)
  }
  if (target !== work.fields.target) {
    throw new FormatError('target', CHAIN_BYTES, 'the target in front differs from the target in the work')
  }
  return work
}

/** Inverse of `decodeWorkResponse`. */
export function encodeWorkResponse(work: Work): Uint8Array {
  return concatBytes(chainBytes(work.fields.chainId), u256LE(work.fields.target), work.bytes)
}

/** Encodes a chain id as u32 LE, the body of a request for update events (PROTOCOL.md A.3). */
export function chainBytes(chain: number): Uint8Array {
  const bytes = new Uint8Array(CHAIN_BYTES)
  writeU32LE(bytes, 0, chain)
  return bytes
}
