/** Natives for the points and the pairing of the curve BN254. */
import { bn254_Fr } from '@noble/curves/bn254.js'
import { type ContractError, evalError } from '../../errors.ts'
import type { Run } from '../../machine/ast.ts'
import { type Arguments, isObject, type Native, type NativeHost, native } from '../../machine/native.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { workReduction } from './crypto-work.ts'
import { formatG1, formatG2, isInG2, isPairingOne, type PointCoordinates, type PointFormat } from './curve-points.ts'

/** Milligas of the public network by group (PROTOCOL.md E.5). */
const POINT_ADD = { g1: 5_000, g2: 30_000 }
const SCALAR_MULT = { g1: 360_000, g2: 1_450_000 }
/** Milligas of the public network for a pairing check: without pairs, or a base and an amount for each pair. */
const PAIRING = { none: 100_000, base: 11_600, pair: 3_760 }
/** Work of a pairing check: the final exponentiation, then checks and lines of each pair. */
const PAIRING_WORK = { base: 1_000_000, pair: 750_000 }
/** Work of reading a coefficient. */
const COEFFICIENT_WORK = 25

/** @throws EvalError unless the first argument names a group */
function groupOf(args: Arguments): 'g1' | 'g2' {
  const group = args.text(0).toLowerCase()
  if (group !== 'g1' && group !== 'g2') throw args.typeError()
  return group
}

/** Charges for the coordinates of a point by their lengths. */
function chargeCoordinate<H extends NativeHost>(args: Arguments<H>, coordinate: Value | undefined): void {
  if (typeof coordinate === 'bigint') workReduction(args, coordinate)
  if (!Array.isArray(coordinate)) return
  args.work(COEFFICIENT_WORK * coordinate.length)
  for (const coefficient of coordinate) if (typeof coefficient === 'bigint') workReduction(args, coefficient)
}

function readPoint<H extends NativeHost, F, P>(
  args: Arguments<H>,
  format: PointFormat<F, P>,
  value: Value,
): PointCoordinates<F> {
  if (!isObject(value)) throw args.typeError()
  for (const name of ['x', 'y']) chargeCoordinate(args, value.get(name))
  const coordinates = format.read(value)
  if (coordinates === null) throw args.typeError()
  return coordinates
}

function checkPoint<H extends NativeHost, F, P>(
  args: Arguments<H>,
  format: PointFormat<F, P>,
  coordinates: PointCoordinates<F>,
): P {
  const point = format.onCurve(coordinates)
  if (point === null) throw notOnCurve(args)
  return point
}

function notOnCurve<H extends NativeHost>({ place }: Arguments<H>): ContractError {
  return evalError('Point lies outside of elliptic curve', place, 'Point lies outside of the elliptic curve.')
}

function addPoints<F, P>(args: Arguments, format: PointFormat<F, P>): ObjectValue {
  const [a, b] = [args.object(1), args.object(2)].map((object) => readPoint(args, format, object))
  return format.show(format.add(checkPoint(args, format, a), checkPoint(args, format, b)))
}

function pointAdd(args: Arguments): ObjectValue {
  const group = groupOf(args)
  for (const index of [1, 2]) args.object(index)
  args.charge(POINT_ADD[group], () => `GAZKArgs (PointAdd ZK${group.toUpperCase()})`)
  return group === 'g1' ? addPoints(args, formatG1) : addPoints(args, formatG2)
}

function multiplyPoint<F, P>(args: Arguments, format: PointFormat<F, P>): ObjectValue {
  const point = checkPoint(args, format, readPoint(args, format, args.object(1)))
  const scalar = args.integer(2)
  workReduction(args, scalar)
  return format.show(format.multiply(point, bn254_Fr.create(scalar)))
}

function scalarMult(args: Arguments): ObjectValue {
  const group = groupOf(args)
  args.object(1)
  args.integer(2)
  args.charge(SCALAR_MULT[group], () => `GAZKArgs (ScalarMult ZK${group.toUpperCase()})`)
  return group === 'g1' ? multiplyPoint(args, formatG1) : multiplyPoint(args, formatG2)
}

/** Pairs the points of two lists. The longer list may have more points, which are checked too. */
function pairingCheck(args: Arguments<Run>): boolean {
  const [first, second] = [args.list(0), args.list(1)]
  const most = Math.max(first.length, second.length)
  const price = most === 0 ? PAIRING.none : PAIRING.base + PAIRING.pair * most
  args.charge(price, () => `GAZKArgs (Pairing ${most})`)
  args.work(PAIRING_WORK.base + PAIRING_WORK.pair * most)
  const readG1 = first.map((value) => readPoint(args, formatG1, value))
  const readG2 = second.map((value) => readPoint(args, formatG2, value))
  const g1 = readG1.map((coordinates) => checkPoint(args, formatG1, coordinates))
  const { isLanguage54 } = args.run.block.rules
  const g2 = readG2.map((coordinates) => {
    const point = checkPoint(args, formatG2, coordinates)
    if (isLanguage54 && !isInG2(point)) throw notOnCurve(args)
    return point
  })
  return isPairingOne(g1.slice(0, g2.length).map((point, index) => [point, g2[index]] as const))
}

export const CURVES: readonly Native[] = [native('point-add', 3, 3, pointAdd), native('scalar-mult', 3, 3, scalarMult)]

export const PAIRINGS: readonly Native<Run>[] = [native('pairing-check', 2, 2, pairingCheck)]
