/** Equality, text and decimals of values (Pact/Core/PactValue.hs; Data.Decimal). */
import type { Dec, Guard, Value } from './terms.ts'

export function sameValues(a: Value, b: Value): boolean {
  if (a.v === 'modref') return b.v === 'modref' && a.module === b.module
  if (a.v === 'decimal' && b.v === 'decimal') return compareDecimals(a.d, b.d) === 0
  return canonical(a) === canonical(b)
}

/** A text that equal values share, for comparisons that cost nothing. */
function canonical(value: Value): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return `${part}n`
    if (part instanceof Map) return [...part]
    if (isDec(part)) return canonicalDecimal(part)
    return part
  })
}

function isDec(part: unknown): part is Dec {
  return typeof part === 'object' && part !== null && 'm' in part && 'p' in part && Object.keys(part).length === 2
}

function canonicalDecimal(d: Dec): string {
  const { m, p } = normalise(d)
  return `${m}/${p}`
}

const tenTo = (p: number): bigint => 10n ** BigInt(p)

/** Without trailing zeros (normalizeDecimal). */
export function normalise({ m, p }: Dec): Dec {
  let [mantissa, places] = [m, p]
  while (places > 0 && mantissa % 10n === 0n) {
    mantissa /= 10n
    places--
  }
  return { m: mantissa, p: places }
}

const scaled = ({ m, p }: Dec, places: number): bigint => m * tenTo(places - p)

export function compareDecimals(a: Dec, b: Dec): number {
  const places = Math.max(a.p, b.p)
  const [x, y] = [scaled(a, places), scaled(b, places)]
  return x < y ? -1 : x > y ? 1 : 0
}

export function addDecimals(a: Dec, b: Dec): Dec {
  const places = Math.max(a.p, b.p)
  return { m: scaled(a, places) + scaled(b, places), p: places }
}

const floorOf = (a: bigint, b: bigint): bigint => {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/** Half to even. */
const nearest = (a: bigint, b: bigint): bigint => {
  const down = floorOf(a, b)
  const twice = 2n * (a - down * b)
  const size = b < 0n ? -b : b
  const isUp = twice > size || (twice === size && down % 2n !== 0n)
  return isUp ? down + 1n : down
}

const MAX_PLACES = 255

export function multiplyDecimals(a: Dec, b: Dec): Dec {
  const [m, p] = [a.m * b.m, a.p + b.p]
  if (p <= MAX_PLACES) return normalise({ m, p })
  return normalise({ m: nearest(m, tenTo(p - MAX_PLACES)), p: MAX_PLACES })
}

export function divideDecimals(a: Dec, b: Dec): Dec {
  const sign = b.m < 0n ? -1n : 1n
  return normalise({
    m: nearest(sign * a.m * tenTo(b.p + MAX_PLACES), sign * b.m * tenTo(a.p)),
    p: MAX_PLACES,
  })
}

const ROUNDING = {
  round: nearest,
  floor: floorOf,
  ceiling: (a: bigint, b: bigint): bigint => -floorOf(-a, b),
} as const

export function roundDecimal(how: keyof typeof ROUNDING, d: Dec, places: number): Dec {
  if (d.m === 0n || d.p <= places) return { m: scaledUp(d, places), p: places }
  return { m: ROUNDING[how](d.m, tenTo(d.p - places)), p: places }
}

const scaledUp = ({ m, p }: Dec, places: number): bigint => (m === 0n ? 0n : m * tenTo(places - p))

export function divideFloor(a: bigint, b: bigint): bigint {
  return floorOf(a, b)
}

export function decimalText({ m, p }: Dec): string {
  const digits = (m < 0n ? -m : m).toString().padStart(p + 1, '0')
  const sign = m < 0n ? '-' : ''
  return p === 0 ? sign + digits : `${sign}${digits.slice(0, -p)}.${digits.slice(-p)}`
}

/** The text of `show` and `format` (pactValueToText). */
export function render(value: Value): string {
  switch (value.v) {
    case 'string':
      return `"${value.s}"`
    case 'integer':
      return String(value.n)
    case 'decimal':
      return value.d.p === 0 ? `${decimalText(value.d)}.0` : decimalText(value.d)
    case 'bool':
      return String(value.b)
    case 'unit':
      return '()'
    case 'time':
      return `"${timeText(value.micros)}"`
    case 'list':
      return listText(value.items)
    case 'object':
      return `{${[...value.fields].map(([field, each]) => `"${field}": ${render(each)}`).join(',')}}`
    case 'guard':
      return guardText(value.g)
    case 'modref':
      return value.module
    case 'token': {
      const args = value.args.map((arg) => ` ${render(arg)}`).join('')
      return `CapToken(${value.fqn.m}.${value.fqn.n}${args})`
    }
    case 'table':
      return `${value.module}_${value.name}`
  }
}

const listText = (items: readonly Value[]): string => `[${items.map(render).join(', ')}]`

function guardText(g: Guard): string {
  switch (g.g) {
    case 'keyset':
      return `KeySet {keys: [${g.keys.join(', ')}],pred: ${g.pred}}`
    case 'keyset-ref':
      return `'${g.name}`
    case 'user':
      return `UserGuard {fun: ${g.fun},args: ${listText(g.args)}}`
    case 'capability':
      return `CapabilityGuard {name: ${g.name},args: ${listText(g.args)},pactId: ${g.pact ?? ''}}`
    case 'module':
      return `ModuleGuard {module: ${g.module},name: ${g.name}}`
    case 'pact':
      return `PactGuard {pactId: ${g.pact},name: ${g.name}}`
  }
}

export function timeText(micros: bigint): string {
  return `${new Date(Number(floorOf(micros, 1000n))).toISOString().slice(0, 19)}Z`
}
