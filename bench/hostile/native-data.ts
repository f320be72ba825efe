/** Data for natives that read encoded messages, proofs and points. */
import { bn254 } from '@noble/curves/bn254.js'
import { encodeProof } from '../../src/ground/chain/spv.ts'
import { listOf, long } from './case.ts'

const { G1, G2 } = bn254
const PAIRS = 10
const MAX_STEPS = 1024

/** Coordinates of G1 are modulo this number. */
export const G1_ORDER = bn254.fields.Fp.ORDER

const int = (n: bigint) => ({ int: n.toString() })

/** A message of Hyperlane: an amount, a chain, and a keyset of many keys as the recipient. */
export function tokenMessage(): string {
  const recipient = { pred: 'keys-all', keys: listOf(1000, (i) => i.toString(16).padStart(64, '0')) }
  const bytes = Buffer.concat([Buffer.alloc(34, 1), Buffer.from(JSON.stringify(recipient))])
  return bytes.toString('base64url')
}

/** A proof with a long output and the longest path. The root is unknown, as it is hashed only at last. */
export function proof(): unknown {
  const steps = listOf(MAX_STEPS, () => ({ side: 'left', sibling: new Uint8Array(32) }) as const)
  const output = new TextEncoder().encode(JSON.stringify({ result: { status: 'success', data: long(100_000) } }))
  const text = encodeProof({ chain: 0, output, position: 1n, steps })
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}

/** Points of both groups, for pairs. */
export function points(): Readonly<Record<string, unknown>> {
  const g1 = listOf(PAIRS, (i) => G1.Point.BASE.multiply(BigInt(i + 1)).toAffine())
  const g2 = listOf(PAIRS, (i) => G2.Point.BASE.multiply(BigInt(i + 1)).toAffine())
  return {
    g1: g1.map(({ x, y }) => ({ x: int(x), y: int(y) })),
    g2: g2.map(({ x, y }) => ({ x: [int(x.c0), int(x.c1)], y: [int(y.c0), int(y.c1)] })),
  }
}
