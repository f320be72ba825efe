/** Natives for the curve BN254: points, pairing, and the Poseidon hash over its scalars. */
import { bn254 } from '@noble/curves/bn254.js'
import { describe, expect, it } from 'vitest'
import type { ObjectValue, Value } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'
import { dec, failure, obj, run, runWith } from './native-call.ts'

const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n
const ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n
const INFINITY_G1 = { x: 0n, y: 0n }
/** Multiples of the generators by another path of the library. */
const multipleG1 = (n: bigint) => bn254.G1.Point.BASE.multiply(n).toAffine()
const multipleG2 = (n: bigint) => {
  const { x, y } = bn254.G2.Point.BASE.multiply(n).toAffine()
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] }
}
/** A point on the curve of G2 that is outside of the group. */
const OUTSIDE = {
  x: [
    714174525384625698196324342448018602778427756125896575268723443112276201656n,
    15184454992471448023977227688880154059606923890779081526591309460240767144611n,
  ],
  y: [
    4059636884310975796046572204287767311531424242221074206827231494834828442687n,
    20034115350295064288606382530926850307740152462130073457110526227453661700402n,
  ],
}
const OFF_CURVE = {
  message: 'Point lies outside of elliptic curve',
  wireMessage: 'Point lies outside of the elliptic curve.',
}

const fieldsOf = (value: unknown) => Object.fromEntries(value as ObjectValue)
const point = (fields: Record<string, Value>) => obj(fields)
const add = (group: string, a: Record<string, Value>, b: Record<string, Value>) =>
  fieldsOf(run('point-add', group, point(a), point(b)))
const times = (group: string, a: Record<string, Value>, scalar: bigint) =>
  fieldsOf(run('scalar-mult', group, point(a), scalar))

describe('point-add', () => {
  it('point-add adds points of both groups, whatever the case of the name', () => {
    expect(add('g1', multipleG1(3n), multipleG1(4n))).toEqual(multipleG1(7n))
    expect(add('G2', multipleG2(3n), multipleG2(4n))).toEqual(multipleG2(7n))
    expect(add('g1', multipleG1(5n), multipleG1(5n))).toEqual(multipleG1(10n))
  })

  it('point-add takes the point at infinity, with zero for both coordinates, as neutral element', () => {
    expect(add('g1', multipleG1(3n), INFINITY_G1)).toEqual(multipleG1(3n))
    expect(add('g2', { x: [0n], y: [0n, 0n] }, multipleG2(3n))).toEqual(multipleG2(3n))
    expect(add('g1', INFINITY_G1, INFINITY_G1)).toEqual(INFINITY_G1)
    const { x, y } = multipleG1(3n)
    expect(add('g1', { x, y }, { x, y: -y })).toEqual(INFINITY_G1)
    expect(add('g2', multipleG2(3n), multipleG2(ORDER - 3n))).toEqual({ x: [0n], y: [0n] })
  })

  it('point-add takes coordinates modulo the field, and ignores other fields', () => {
    const { x, y } = multipleG1(3n)
    expect(add('g1', { x: x + P, y: y - 5n * P, note: 'mine' }, multipleG1(4n))).toEqual(multipleG1(7n))
    expect(add('g1', { x: P, y: -P }, multipleG1(4n))).toEqual(multipleG1(4n))
  })

  it('point-add reads longer lists as polynomials: the square of the variable is -1', () => {
    const { x, y } = multipleG2(3n)
    const longer = { x: [x[0] + 7n, x[1] + 9n, 7n, 9n], y: [y[0] + 1n, y[1], 0n, 0n, -1n] }
    expect(add('g2', longer, multipleG2(4n))).toEqual(multipleG2(7n))
  })

  it('point-add shows a coordinate of G2 without a zero at the end', () => {
    const { Fp2 } = bn254.fields
    const x = Fp2.fromBigTuple([1n, 0n])
    const y = Fp2.sqrt(Fp2.add(x, bn254.G2.Point.CURVE().b))
    const shown = { x: [1n], y: [y.c0, y.c1] }
    expect(add('g2', { x: [1n, 0n], y: [y.c0, y.c1] }, { x: [0n], y: [0n] })).toEqual(shown)
  })

  it('point-add refuses points outside of their curve, but not those outside of the group', () => {
    expect(failure('point-add', 'g1', point({ x: 1n, y: 3n }), point(INFINITY_G1))).toMatchObject(OFF_CURVE)
    expect(failure('point-add', 'g1', point(INFINITY_G1), point({ x: 1n, y: 3n }))).toMatchObject(OFF_CURVE)
    expect(failure('point-add', 'g2', point({ x: [1n], y: [3n] }), point(multipleG2(1n)))).toMatchObject(OFF_CURVE)
    expect(failure('point-add', 'g2', point({ x: [], y: [1n] }), point(multipleG2(1n)))).toMatchObject(OFF_CURVE)
    expect(add('g2', OUTSIDE, { x: [0n], y: [] })).toEqual(OUTSIDE)
  })

  it.each([
    ['g3', multipleG1(1n)],
    ['g1', multipleG2(1n)],
    ['g2', multipleG1(1n)],
    ['g1', { x: 1n }],
    ['g2', { x: [1n], y: [dec('1.0')] }],
  ])('point-add refuses arguments of the wrong type: %s %#', (group, bad) => {
    expect(failure('point-add', group, point(bad), point(bad)).message).toBe(
      'Type error: failed to call native function point-add with argument(s) of type(s): string, object, object',
    )
  })
})

describe('scalar-mult', () => {
  it('scalar-mult multiplies points, with scalars modulo the order of the group', () => {
    expect(times('g1', multipleG1(3n), 5n)).toEqual(multipleG1(15n))
    expect(times('g2', multipleG2(3n), 5n)).toEqual(multipleG2(15n))
    expect(times('g1', multipleG1(3n), ORDER + 5n)).toEqual(multipleG1(15n))
    expect(times('g1', multipleG1(3n), -1n)).toEqual(multipleG1(ORDER - 3n))
    expect(times('g1', multipleG1(3n), 0n)).toEqual(INFINITY_G1)
    expect(times('g2', multipleG2(3n), ORDER)).toEqual({ x: [0n], y: [0n] })
    expect(times('g1', INFINITY_G1, 7n)).toEqual(INFINITY_G1)
    expect(times('g1', multipleG1(3n), 1n << 700n)).toEqual(multipleG1((3n << 700n) % ORDER))
  })

  it('scalar-mult multiplies points outside of the group as repeated addition does', () => {
    const twice = add('g2', OUTSIDE, OUTSIDE)
    expect(times('g2', OUTSIDE, 3n)).toEqual(add('g2', twice, OUTSIDE))
  })

  it('scalar-mult refuses points outside of the curve', () => {
    expect(failure('scalar-mult', 'g1', point({ x: 1n, y: 3n }), 0n)).toMatchObject(OFF_CURVE)
    expect(failure('scalar-mult', 'g2', point({ x: [1n], y: [3n] }), 0n)).toMatchObject(OFF_CURVE)
    expect(failure('scalar-mult', 'g2', point({ x: 1n, y: 3n }), 0n).message).toMatch(/^Type error/)
    expect(failure('scalar-mult', 'g1', point(INFINITY_G1), dec('1.0')).message).toMatch(/^Type error/)
  })
})

/** Source text of a value made of integers. */
function source(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(source).join(' ')}]`
  if (typeof value === 'bigint') return String(value)
  const fields = Object.entries(value as object).map(([name, field]) => `"${name}": ${source(field)}`)
  return `{${fields.join(', ')}}`
}

const checkPairing = (g1: readonly unknown[], g2: readonly unknown[], evaluator = evaluatorOn(new Layer())) =>
  outcome(evaluator, `(pairing-check ${source(g1)} ${source(g2)})`)

describe('pairing-check', () => {
  const negative = (n: bigint) => multipleG1(ORDER - n)

  it('pairing-check holds if the product of the pairings is one', () => {
    expect(checkPairing([multipleG1(6n), negative(2n)], [multipleG2(5n), multipleG2(15n)])).toEqual({ value: true })
    expect(checkPairing([multipleG1(6n), negative(2n)], [multipleG2(5n), multipleG2(14n)])).toEqual({ value: false })
    expect(checkPairing([multipleG1(1n)], [multipleG2(1n)])).toEqual({ value: false })
    expect(checkPairing([], [])).toEqual({ value: true })
  })

  it('pairing-check skips pairs with a point at infinity, and points without a partner', () => {
    expect(checkPairing([INFINITY_G1], [multipleG2(5n)])).toEqual({ value: true })
    expect(checkPairing([multipleG1(5n)], [{ x: [0n], y: [0n] }])).toEqual({ value: true })
    expect(checkPairing([multipleG1(5n)], [])).toEqual({ value: true })
    expect(checkPairing([INFINITY_G1], [multipleG2(5n), multipleG2(6n)])).toEqual({ value: true })
  })

  it('pairing-check checks that all points are on the curve, also those without a partner', () => {
    expect(checkPairing([{ x: 1n, y: 3n }], [])).toMatchObject({ error: OFF_CURVE })
    expect(checkPairing([], [{ x: [1n], y: [3n] }])).toMatchObject({ error: OFF_CURVE })
    expect(checkPairing([], [OUTSIDE])).toMatchObject({ error: OFF_CURVE })
    const { message } = (checkPairing([{ x: 1n, y: 3n }], [multipleG1(1n)]) as { error: Error }).error
    expect(message).toMatch(/^Type error: failed to call native function pairing-check /)
  })

  it('pairing-check costs the gas of the public network, and the work that bounds its time', () => {
    const metered = (...lists: readonly (readonly unknown[])[]) => {
      const gas = { ...freeGas(), work: 0 }
      checkPairing(lists[0], lists[1], evaluatorOn(new Layer(), gas))
      return gas
    }
    const [first, second] = [INFINITY_G1, { x: [0n], y: [0n] }]
    const of = (pairs: number) => metered(Array(pairs).fill(first), Array(pairs).fill(second))
    const [two, three, four] = [of(2), of(3), of(4)]
    // The pair, and its items in the lists and in the objects.
    expect(three.used - two.used).toBe(3_760 + 800)
    expect(four.used - three.used).toBe(three.used - two.used)
    expect(three.work - two.work).toBeGreaterThan(700_000)
    expect(metered([first], [second, second]).work - metered([first], [second]).work).toBeGreaterThan(700_000)
    expect(metered([first, first], [second]).work - metered([first], [second]).work).toBeGreaterThan(700_000)
  })

  it('pairing-check fails before it computes if the gas does not suffice', () => {
    const gas = { used: 0, limit: 150_000_000 }
    const list = (each: unknown) => `(make-list 400 ${source(each)})`
    const code = `(pairing-check ${list(multipleG1(1n))} ${list({ x: [1n], y: [3n] })})`
    expect(outcome(evaluatorOn(new Layer(), gas), code)).toMatchObject({
      error: { message: expect.stringMatching(/^Gas limit "150000" exceeded/) },
    })
  })
})

describe('hash-poseidon', () => {
  it.each(['hash-poseidon', 'poseidon-hash-hack-a-chain'])('the native %s takes up to 8 integers by name', (name) => {
    const value = (text: string) => runOn(evaluatorOn(new Layer()), text)
    expect(value(`(${name} 1 2)`)).toBe(7853200120776062878684798364095072458815029376092732009249414926327459813530n)
    expect(value(`(${name} 1)`)).toBe(18586133768512220936620570745912940619677854269274689475585506675881198879027n)
    expect(value(`(${name} 1 2 3 4 5 6 7 8)`)).toBe(
      18604317144381847857886385684060986177838410221561136253933256952257712543953n,
    )
  })

  it('hash-poseidon charges for the list of its arguments too', () => {
    const gas = freeGas()
    runOn(evaluatorOn(new Layer(), gas), '(hash-poseidon 1 2)')
    expect(gas.used).toBe(124_000 + 2 * 38_000 + 4 * 50_000 + 2 * 100)
  })

  it('hash-poseidon takes a list of its arguments', () => {
    const value = runOn(evaluatorOn(new Layer()), '(map hash-poseidon [[1 2] [1]])')
    expect(value).toEqual([
      runOn(evaluatorOn(new Layer()), '(hash-poseidon 1 2)'),
      runOn(evaluatorOn(new Layer()), '(hash-poseidon 1)'),
    ])
  })

  it('hash-poseidon takes integers modulo the order of the group', () => {
    const hash = (...inputs: bigint[]) => run('hash-poseidon', inputs)
    expect(hash(ORDER + 1n, -1n)).toBe(hash(1n, ORDER - 1n))
    expect(hash((1n << 900n) * ORDER + 2n)).toBe(hash(2n))
    expect(hash(0n)).not.toBe(hash(0n, 0n))
  })

  it.each([[''], ['1 2 3 4 5 6 7 8 9'], ['1.0'], ['[1 2]'], ['1 "2"']])(
    'hash-poseidon refuses (hash-poseidon %s)',
    (args) => {
      const text = 'Type error: failed to call native function hash-poseidon with argument(s) of type(s)'
      expect(outcome(evaluatorOn(new Layer()), `(hash-poseidon ${args})`)).toMatchObject({
        error: { message: `${text}: list` },
      })
    },
  )
})

it('natives of curves cost what they cost on the public network', () => {
  const metered = (name: string, ...args: Parameters<typeof run> extends [string, ...infer A] ? A : never) => {
    const meter = { limit: Number.POSITIVE_INFINITY, used: 0, work: 0 }
    runWith(meter, name, ...args)
    return meter
  }
  const cost = (name: string, ...args: Parameters<typeof run> extends [string, ...infer A] ? A : never) => {
    return metered(name, ...args).used
  }
  const [g1, g2] = [point(multipleG1(1n)), point(multipleG2(1n))]
  expect(cost('point-add', 'g1', g1, g1)).toBe(5_000)
  expect(cost('point-add', 'g2', g2, g2) - 30_000).toBeLessThan(1_000)
  expect(cost('scalar-mult', 'g1', g1, 3n)).toBe(360_000)
  expect(cost('scalar-mult', 'g2', g2, 3n) - 1_450_000).toBeLessThan(1_000)
  for (const count of [1, 2, 8]) {
    expect(cost('hash-poseidon', Array(count).fill(1n))).toBe(50_000 * count ** 2 + 38_000 * count)
  }
  const long = metered('point-add', 'g1', point({ x: (P << 100_000n) + 1n, y: 2n }), g1)
  expect(long.used).toBe(5_000)
  expect(long.work).toBeGreaterThan(1_000_000)
})
