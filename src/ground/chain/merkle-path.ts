/**
 * Merkle paths (PROTOCOL.md B.8): the sibling hashes from an entry of a tree to its root. A root that is an entry of
 * another tree continues there, so one path may cross many trees.
 *
 *     path = steps u32 BE (4) || position of the first entry in its tree, u64 BE (8) || step || step || ...
 *     step = side (1) || sibling (32)
 */
import { sha512_256 } from '@noble/hashes/sha2.js'
import { concatBytes } from '../base/bytes.ts'
import { FormatError } from '../base/errors.ts'
import { type Digest, merkleRoot } from './merkle.ts'

/** One step up a tree. */
export interface MerkleStep {
  /** Side of the sibling: `left` gives node(sibling, hash), `right` gives node(hash, sibling). */
  readonly side: 'left' | 'right'
  /** 32 bytes. */
  readonly sibling: Uint8Array
}

/** Path from an entry of a tree to a root (PROTOCOL.md B.8). */
export interface MerklePath {
  /** Index of the first entry in its own tree. It does not affect the root. */
  readonly position: bigint
  /** In order from the entry to the root. */
  readonly steps: readonly MerkleStep[]
}

const HASH_BYTES = 32
const PREFIX_BYTES = 12
const STEP_BYTES = 1 + HASH_BYTES
const POSITION_AT = 4
/** Side byte -> side. */
const SIDES = ['left', 'right'] as const
/** Maximum length of a path; enough for a block with a million outputs in any graph of 256 chains. */
export const MAX_STEPS = 1024

/**
 * Computes the steps from the entry at `index` to the root over 32-byte entries.
 * @throws RangeError if there is no such entry
 */
export function merkleSteps(entries: readonly Uint8Array[], index: number, digest: Digest = sha512_256): MerkleStep[] {
  if (!(index >= 0 && index < entries.length)) throw new RangeError(`entry ${index} of ${entries.length}`)
  if (entries.length === 1) return []
  let left = 1
  while (2 * left < entries.length) left *= 2
  const [a, b] = [entries.slice(0, left), entries.slice(left)]
  return index < left
    ? [...merkleSteps(a, index, digest), { side: 'right', sibling: merkleRoot(b, digest) }]
    : [...merkleSteps(b, index - left, digest), { side: 'left', sibling: merkleRoot(a, digest) }]
}

/** Computes the root from an entry and its steps. */
export function rootOf(entry: Uint8Array, steps: readonly MerkleStep[], digest: Digest = sha512_256): Uint8Array {
  let hash = entry
  for (const { side, sibling } of steps) {
    const [a, b] = side === 'left' ? [sibling, hash] : [hash, sibling]
    hash = digest(concatBytes(Uint8Array.of(1), a, b))
  }
  return hash
}

export function encodePath({ position, steps }: MerklePath): Uint8Array {
  const bytes = new Uint8Array(PREFIX_BYTES + STEP_BYTES * steps.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, steps.length)
  view.setBigUint64(POSITION_AT, position)
  steps.forEach(({ side, sibling }, i) => {
    const at = PREFIX_BYTES + STEP_BYTES * i
    bytes[at] = SIDES.indexOf(side)
    bytes.set(sibling, at + 1)
  })
  return bytes
}

/**
 * @param field name of the bytes in errors
 * @throws FormatError
 */
export function decodePath(bytes: Uint8Array, field = 'path'): MerklePath {
  if (bytes.length < PREFIX_BYTES) {
    throw new FormatError(field, bytes.length, `ends after ${bytes.length} bytes, before the first step`)
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = view.getUint32(0)
  if (count > MAX_STEPS) throw new FormatError(field, 0, `${count} steps, at most ${MAX_STEPS}`)
  const expected = PREFIX_BYTES + STEP_BYTES * count
  if (bytes.length !== expected) {
    throw new FormatError(field, 0, `${count} steps take ${expected} bytes, got ${bytes.length}`)
  }
  const steps = Array.from({ length: count }, (_, i) => decodeStep(bytes, PREFIX_BYTES + STEP_BYTES * i, field))
  return { position: view.getBigUint64(POSITION_AT), steps }
}

function decodeStep(bytes: Uint8Array, at: number, field: string): MerkleStep {
  const side = SIDES[bytes[at]]
  if (side === undefined) throw new FormatError(field, at, `side ${bytes[at]}, expected 0 (left) or 1 (right)`)
  return { side, sibling: bytes.slice(at + 1, at + STEP_BYTES) }
}
