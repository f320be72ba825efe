/**
 * Points of the curve BN254 as objects of the language. G1 has integers as coordinates, G2 lists of integers. The point
 * at infinity has zero for both coordinates.
 */
import { bn254 } from '@noble/curves/bn254.js'
import type { ObjectValue, Value } from '../../values/value.ts'

const { Fp, Fp2, Fp12 } = bn254.fields
const { G1, G2 } = bn254

type PointG1 = typeof G1.Point.BASE
type PointG2 = typeof G2.Point.BASE
/** Element of the field of G2. */
type FieldElement = ReturnType<typeof Fp2.create>

/** Coordinates that need not lie on the curve. */
export interface PointCoordinates<F> {
  readonly x: F
  readonly y: F
}

/** Reads, checks, computes and shows the points of one group. */
export interface PointFormat<F, P> {
  /** @returns null if the object has no coordinates of this group */
  read(object: ObjectValue): PointCoordinates<F> | null
  /** @returns the point, or null if it does not lie on the curve */
  onCurve(coordinates: PointCoordinates<F>): P | null
  add(a: P, b: P): P
  /** @param scalar from 0 up to, but not, the order of the group */
  multiply(point: P, scalar: bigint): P
  show(point: P): ObjectValue
}

function pointObject(x: Value, y: Value): ObjectValue {
  return new Map([
    ['x', x],
    ['y', y],
  ])
}

export const formatG1: PointFormat<bigint, PointG1> = {
  read: (object) => {
    const [x, y] = [object.get('x'), object.get('y')]
    return typeof x === 'bigint' && typeof y === 'bigint' ? { x: Fp.create(x), y: Fp.create(y) } : null
  },
  onCurve: ({ x, y }) => {
    if (Fp.is0(x) && Fp.is0(y)) return G1.Point.ZERO
    const { b } = G1.Point.CURVE()
    return Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), b)) ? G1.Point.fromAffine({ x, y }) : null
  },
  add: (a, b) => a.add(b),
  multiply: (point, scalar) => point.multiplyUnsafe(scalar),
  show: (point) => {
    const { x, y } = point.toAffine()
    return pointObject(x, y)
  },
}

export const formatG2: PointFormat<FieldElement, PointG2> = {
  read: (object) => {
    const [x, y] = [elementOf(object.get('x')), elementOf(object.get('y'))]
    return x === null || y === null ? null : { x, y }
  },
  onCurve: ({ x, y }) => {
    if (Fp2.is0(x) && Fp2.is0(y)) return G2.Point.ZERO
    const { b } = G2.Point.CURVE()
    return Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), b)) ? G2.Point.fromAffine({ x, y }) : null
  },
  add: (a, b) => a.add(b),
  multiply: (point, scalar) => point.multiplyUnsafe(scalar),
  show: (point) => {
    if (point.is0()) return pointObject([0n], [0n])
    const { x, y } = point.toAffine()
    return pointObject(coefficientsOf(x), coefficientsOf(y))
  },
}

/**
 * Reads a polynomial, lowest coefficient first, as an element of the field: the square of its variable is -1.
 * @returns null if the value is not a list of integers
 */
function elementOf(value: Value | undefined): FieldElement | null {
  if (!Array.isArray(value)) return null
  const sums: [c0: bigint, c1: bigint] = [Fp.ZERO, Fp.ZERO]
  for (const [index, coefficient] of (value as readonly Value[]).entries()) {
    if (typeof coefficient !== 'bigint') return null
    const sum = sums[index % 2]
    const reduced = Fp.create(coefficient)
    sums[index % 2] = index % 4 < 2 ? Fp.add(sum, reduced) : Fp.sub(sum, reduced)
  }
  return Fp2.fromBigTuple(sums)
}

/**
 * Coefficients of a coordinate without a zero at the end, as the public network shows them. No coordinate of a finite
 * point is zero.
 */
function coefficientsOf({ c0, c1 }: FieldElement): readonly bigint[] {
  return Fp.is0(c1) ? [c0] : [c0, c1]
}

/** Whether a point of the curve of G2 is in the group itself: the curve has points outside of it. */
export function isInG2(point: PointG2): boolean {
  return point.is0() || point.isTorsionFree()
}

/**
 * Whether the product of the pairings is one. A pair with a point at infinity has no effect.
 * @param pairs points on their curves
 */
export function isPairingOne(pairs: readonly (readonly [g1: PointG1, g2: PointG2])[]): boolean {
  const { calcPairingPrecomputes } = bn254.utils
  const terms = pairs
    .filter(([g1, g2]) => !g1.is0() && !g2.is0())
    .map(([g1, g2]): Parameters<typeof bn254.millerLoopBatch>[0][number] => {
      const { x, y } = g1.toAffine()
      return [calcPairingPrecomputes(g2), x, y]
    })
  return Fp12.eql(Fp12.finalExponentiate(bn254.millerLoopBatch(terms)), Fp12.ONE)
}
