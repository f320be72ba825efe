/**
 * Splits the nonce space, so that no nonce is tried twice for the same work:
 *
 *     nonce = low (16 bits) || middle (32 bits) || high (16 bits), little-endian
 *
 * Each slot (one device) owns a contiguous part of `middle`. `low` cannot separate slots, because a pool may fix all of
 * it. Its free bits are the outermost loop of every slot:
 *
 *     CPU thread:  high, then the next middle of its part, then the next low
 *     GPU:         a few lows for each middle of its part, then the next high, then the next few lows
 *
 * If a pool also fixes bits of `middle`, a slot tries the matching middles of its part.
 *
 * All loops start at a random value and wrap around. Processes that search the same work start at independent points of
 * the 2^64 nonces, so in practice they do not overlap. A search that has tried all its nonces rests until other work
 * arrives.
 */
import type { FixedNonce } from '#ground/chain/nonce.ts'

const LOW_BITS = 16
export const LOWS = 2 ** LOW_BITS
export const MIDDLES = 2 ** 32
export const HIGHS = 2 ** 16

export interface NonceRange {
  /** The slot's part of `middle`, nonce bits 16..47: `first` to `first + count - 1`. */
  readonly first: number
  readonly count: number
  /** Start of the search, relative to `first`. */
  readonly start: number
  readonly low: number
  readonly high: number
}

/**
 * Splits the nonce space among devices.
 * @param slots number of devices, 1 to 2^32
 * @param random uniform in [0, 1)
 */
export function nonceRanges(slots: number, random: () => number): NonceRange[] {
  return rangesWithin(0, MIDDLES, slots, random)
}

/**
 * Splits the nonce space among the devices of several engines. Engines get equal parts, however many devices they have.
 * A GPU needs a larger part than one of many CPU threads, because a batch is cut short at the end of its part.
 * @param counts number of devices of each engine
 * @returns a list of ranges for each engine
 */
export function splitRanges(counts: readonly number[], random: () => number): NonceRange[][] {
  const engines = counts.filter((count) => count > 0).length
  let engine = 0
  return counts.map((count) => {
    if (count === 0) return []
    const [from, to] = [partStart(engine, engines, MIDDLES), partStart(++engine, engines, MIDDLES)]
    return rangesWithin(from, to - from, count, random)
  })
}

function rangesWithin(from: number, size: number, slots: number, random: () => number): NonceRange[] {
  return Array.from({ length: slots }, (_, slot) => {
    const first = partStart(slot, slots, size)
    const count = partStart(slot + 1, slots, size) - first
    const randomBelow = (limit: number) => Math.floor(random() * limit)
    return { first: from + first, count, start: randomBelow(count), low: randomBelow(LOWS), high: randomBelow(HIGHS) }
  })
}

/** Start of a part; sizes differ by at most one. */
function partStart(part: number, parts: number, size: number): number {
  return Math.floor((part * size) / parts)
}

/**
 * The same range with another starting point, for a restarted device: its progress was lost with its thread or process.
 * The points are as far apart as possible (the restart number with its bits reversed). Their distance is at least
 * 1/65,536 of the slot's nonces for one `low`, far more than it tries before the work changes.
 */
export function restartedRange(range: NonceRange, restarts: number): NonceRange {
  let fraction = 0
  for (let bit = 0; bit < 16; bit++) if ((restarts >>> bit) & 1) fraction += 2 ** -(bit + 1)
  return {
    ...range,
    start: (range.start + Math.floor(fraction * range.count)) % range.count,
    high: (range.high + fraction * HIGHS) % HIGHS,
  }
}

/** The middles of a part that have the fixed bits: `stride * (first + n) + fixed` for n below `count`. */
export interface FreeMiddles {
  readonly first: number
  readonly count: number
  /** Start of the search, relative to `first`. */
  readonly start: number
  readonly stride: number
  readonly fixed: number
}

/**
 * The free middles of a range. A range without any takes the next one. There are at least 65,536, more than any machine
 * has slots.
 */
export function freeMiddles({ first, count, start }: NonceRange, { bits, value }: FixedNonce): FreeMiddles {
  const stride = 2 ** Math.max(0, bits - LOW_BITS)
  const [from, to] = [Math.ceil(first / stride), Math.ceil((first + count) / stride)]
  const free = Math.max(1, to - from)
  return { first: from, count: free, start: Math.floor(start / stride) % free, stride, fixed: Math.floor(value / LOWS) }
}

/** The middle with this number, which must be below `count`. */
export function middleAt({ first, stride, fixed }: FreeMiddles, number: number): number {
  return (stride * (first + number) + fixed) % MIDDLES
}

/** Number of values of `low`. */
export function freeLows({ bits }: FixedNonce): number {
  return 2 ** Math.max(0, LOW_BITS - bits)
}

/** `low` with the fixed bits inserted. */
export function lowWith(low: number, { bits, value }: FixedNonce): number {
  const fixed = 2 ** Math.min(bits, LOW_BITS) - 1
  return (low & ~fixed & 0xffff) | (value & fixed)
}

/** Advances the free bits of `low` by this many values; the fixed bits stay. */
export function nextLow(low: number, { bits }: FixedNonce, values = 1): number {
  return (low + values * 2 ** Math.min(bits, LOW_BITS)) % LOWS
}

/** The nonce of its three parts. */
export function nonceOf(low: number, middle: number, high: number): bigint {
  return BigInt(low) | (BigInt(middle >>> 0) << 16n) | (BigInt(high) << 48n)
}
