/** Fast algorithms give what slow, plain ones give. */
import { describe, expect, it } from 'vitest'
import { codePoints } from '../../src/language/contracts/natives/data/code-points.ts'
import { holdsText } from '../../src/language/contracts/natives/data/search.ts'
import { bitLength, lengthOrMore, logarithm2 } from '../../src/language/contracts/values/bits.ts'
import { compareText } from '../../src/language/contracts/values/compare.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { inWireOrder } from '../../src/language/contracts/values/field-order.ts'
import { directivesOf } from '../../src/language/contracts/values/time-directives.ts'
import { emptyFields, timeFromFields } from '../../src/language/contracts/values/time-fields.ts'
import { formatTime, ISO_MICROS, ISO_SECONDS, parseTime } from '../../src/language/contracts/values/time-text.ts'
import { Time } from '../../src/language/contracts/values/value.ts'
import { obj, run } from './native-call.ts'

/** Repeatable random numbers. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

function integer(random: (below: number) => number, bits: number): bigint {
  const hex = times(Math.ceil(bits / 4) + 1, () => random(16).toString(16)).join('')
  return BigInt(`0x${hex}`) & ((1n << BigInt(bits)) - 1n)
}

const binary = (n: bigint) => (n === 0n ? 0 : (n < 0n ? -n : n).toString(2).length)

describe('bit length', () => {
  const random = numbers(1)
  const lengths = [1, 2, 31, 52, 53, 54, 63, 64, 65, 511, 512, 513, 1022, 1023, 1024, 1025, 4096, 8192, 65_536, 65_537]
  const edges = [...lengths, 131_072, 262_144, 499_999, 524_287, 524_288, 524_289, 1_048_577].flatMap((bits) => {
    const power = 1n << BigInt(bits)
    return [power, power - 1n, power + 1n]
  })
  const some = [0n, ...edges, ...times(500, (i) => integer(random, random(i % 10 === 0 ? 30_000 : 1500)))]

  it('the bit length is that of the binary digits', () => {
    for (const n of some) for (const m of [n, -n]) expect(bitLength(m)).toBe(binary(m))
  })

  it('the bit length without a copy is right for positive numbers, and at most one more for others', () => {
    for (const n of some) {
      expect(lengthOrMore(n)).toBe(binary(n))
      expect([binary(n), binary(n) + 1]).toContain(lengthOrMore(-n))
    }
    expect(lengthOrMore(-(1n << 100_000n) + 1n)).toBe(100_001)
  })

  it('the bit length gives the logarithm', () => {
    expect(logarithm2(1n)).toBe(0)
    expect(logarithm2(1n << 400_000n)).toBe(400_000)
    for (const n of times(200, () => integer(random, 900) + 1n)) {
      expect(logarithm2(n)).toBeCloseTo(Math.log2(Number(n)), 9)
    }
  })
})

describe('decimals', () => {
  const random = numbers(2)
  const some = times(2000, (i) => {
    const mantissa = integer(random, random(900)) * 10n ** BigInt(random(i % 2 === 0 ? 300 : 4))
    return new Decimal(i % 3 === 0 ? -mantissa : mantissa, random(256))
  })

  it('decimals lose their zeros as if one by one', () => {
    const exact = times(256, (places) => new Decimal(10n ** BigInt(places) * 7n, 255))
    for (const one of [...some, ...exact]) {
      let { mantissa, places } = one
      while (places > 0 && mantissa % 10n === 0n) {
        mantissa /= 10n
        places--
      }
      expect(one.normalise()).toEqual(new Decimal(mantissa, places))
    }
  })

  it('decimals become the double of their digits', () => {
    for (const one of some) expect(one.toNumber()).toBe(Number(one.toString()))
    for (const bits of [1023, 1024, 1025, 1026, 5000]) {
      for (const places of [0, 1, 255]) {
        const [above, below] = [1n, -1n].map((sign) => new Decimal(sign << BigInt(bits), places))
        for (const one of [above, below]) expect(one.toNumber()).toBe(Number(one.toString()))
      }
    }
  })

  it('decimals divide exactly as the product of quotient and divisor shows', () => {
    for (const a of [0, 1, -6, 15, 640]) {
      for (const b of [1, -2, 3, 0.5, -0.25]) {
        const quotient = Decimal.fromNumberExact(a).div(Decimal.fromNumberExact(b))
        expect(
          quotient.mul(Decimal.fromNumberExact(b)).round(20).compare(Decimal.fromNumberExact(a)),
          `${a}/${b}`,
        ).toBe(0)
        expect(quotient).toEqual(quotient.normalise())
      }
    }
  })
})

describe('texts', () => {
  const random = numbers(3)
  const text = (length: number, alphabet: readonly string[]) =>
    times(length, () => alphabet[random(alphabet.length)]).join('')

  it('the search for a text finds what the engine finds', () => {
    for (let i = 0; i < 3000; i++) {
      const [whole, part] = [text(random(200), ['a', 'b']), text(random(40), i % 2 === 0 ? ['a', 'b'] : ['a'])]
      expect(holdsText(whole, part), `${part} in ${whole}`).toBe(whole.includes(part))
      const at = random(whole.length + 1)
      expect(holdsText(whole, whole.slice(at, at + random(100)))).toBe(true)
    }
    const worst = `${'a'.repeat(3000)}b${'a'.repeat(3000)}`
    expect(holdsText('a'.repeat(9000), worst)).toBe(false)
    expect(holdsText(`${'a'.repeat(9000)}b${'a'.repeat(9000)}`, worst)).toBe(true)
  })

  it('texts have as many characters as code points', () => {
    const alphabets = [['a', 'z'], ['é', 'a'], ['😀', 'a', '\ud83d', '\ude00'], ['中']]
    for (const alphabet of alphabets) {
      for (const length of [0, 1, 19, 20, 21, 22, 999, 1000, 1001, 3000]) {
        const one = text(length, alphabet)
        for (let again = 0; again < 2; again++) expect(codePoints(one)).toBe([...one].length)
      }
    }
    const many = times(9, (i) => `${'é'.repeat(2000)}${'😀'.repeat(i)}`)
    for (const one of [...many, ...many]) expect(codePoints(one)).toBe([...one].length)
  })

  it('texts are ordered by their code points', () => {
    const points = (one: string) => [...one].map((each) => each.codePointAt(0) ?? 0)
    for (let i = 0; i < 2000; i++) {
      const common = text(random(600), ['a', '😀', '\uffff'])
      const [a, b] = times(2, () => common + text(random(4), ['a', '\ud83d\ude00', '\uffff', '\ue000', 'b']))
      const [x, y] = [points(a), points(b)]
      const at = x.findIndex((point, index) => point !== y[index])
      const order = at < 0 ? x.length - y.length : at >= y.length ? 1 : x[at] - y[at]
      expect(Math.sign(compareText(a, b))).toBe(Math.sign(order))
    }
  })

  it('texts become integers as if digit by digit', () => {
    for (let base = 2; base <= 16; base++) {
      for (const length of [1, 12, 13, 14, 26, 27, 512]) {
        const digits = times(length, () => random(base))
        const plain = digits.reduce((sum, digit) => sum * BigInt(base) + BigInt(digit), 0n)
        const written = digits.map((digit) => digit.toString(16)).join('')
        expect(run('str-to-int', BigInt(base), written)).toBe(plain)
        expect(run('str-to-int', BigInt(base), written.toUpperCase())).toBe(plain)
      }
    }
  })
})

describe('objects', () => {
  const random = numbers(4)
  const START = 0xdc36_d161_5b74_00a4n

  it('objects have their fields in the order of the hash of their names', () => {
    const hash = (name: string) => {
      let value = START
      for (let at = 0; at < name.length; at++) {
        const unit = name.charCodeAt(at)
        for (const byte of [unit & 0xff, unit >> 8]) value = BigInt.asUintN(64, value * 16_777_619n) ^ BigInt(byte)
      }
      return [...value.toString(16).padStart(16, '0')].reverse().join('')
    }
    const names = times(400, () =>
      times(1 + random(random(8) === 0 ? 300 : 12), () => 'abé中😀-'[random(7)] ?? 'z').join(''),
    )
    const fields = [...new Set(names)].map((name, i) => [name, i] as const)
    const sorted = fields.toSorted(([a], [b]) => (hash(a) < hash(b) ? -1 : 1))
    expect(inWireOrder(fields)).toEqual(sorted)
  })

  it('an object is split by names as a filter splits it', () => {
    const whole = obj(Object.fromEntries(times(30, (i) => [`f${i}`, BigInt(i)])))
    for (let i = 0; i < 100; i++) {
      const names = times(random(20), () => `f${random(40)}`)
      const filtered = (wanted: boolean) => new Map([...whole].filter(([name]) => names.includes(name) === wanted))
      expect(run('take', names, whole)).toEqual(filtered(true))
      expect(run('drop', names, whole)).toEqual(filtered(false))
    }
  })
})

describe('times', () => {
  const random = numbers(5)

  it('times in ISO format are those of the directives', () => {
    const farthest = 8_640_000_000_000_000_000n
    const some = times(
      3000,
      (i) => BigInt(random(2 ** 31)) * 1_000_003n * BigInt(1 + random(2000)) * (i % 2 === 0 ? 1n : -1n),
    )
    const days = times(3000, (i) => BigInt(i - 1500) * 86_400_000_000n * 97n)
    for (const micros of [0n, -1n, 1n, 999n, farthest, -farthest, ...days, ...some]) {
      const time = new Time(micros)
      // Another format with the same directives is written by directive.
      for (const format of [ISO_SECONDS, ISO_MICROS]) {
        expect(formatTime(format, time)).toBe(formatTime(`-${format}`, time).slice(1))
      }
    }
  })

  /** Tries all ways in order. */
  function plainParse(format: string, text: string): Time | null {
    const steps = directivesOf(format)
    if (steps === null) return null
    const read = (ways: readonly number[]): Time | null | undefined => {
      const fields = emptyFields()
      let at = 0
      for (const [index, step] of steps.entries()) {
        if (at < 0) return undefined
        if (index === ways.length) {
          if (step[1] === undefined) return read([...ways, 0])
          const first = read([...ways, 0])
          return first === undefined ? read([...ways, 1]) : first
        }
        at = (step[ways[index]] ?? step[0])(text, at, fields)
      }
      return at >= 0 && /^\s*$/.test(text.slice(at)) ? timeFromFields(fields) : undefined
    }
    return read([]) ?? null
  }

  it('times are parsed as if by trying all ways', () => {
    const pieces = ['%Y', '%k', '%l', '%e', '%m', '%d', '%H', ' ', '-', '%G', '%Q', '%B']
    const letters = ['1', '2', '0', '12', '2020', ' ', ' 1', '-', '.5', 'May']
    let matched = 0
    for (let i = 0; i < 4000; i++) {
      const format = times(1 + random(6), () => pieces[random(pieces.length)]).join('')
      const text = times(1 + random(8), () => letters[random(letters.length)]).join('')
      const plain = plainParse(format, text)
      if (plain !== null) matched++
      expect(parseTime(format, text), `${format} of ${text}`).toEqual(plain)
    }
    expect(matched).toBeGreaterThan(50)
  })
})
