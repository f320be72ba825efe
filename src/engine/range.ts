/**
 * How the nonce space is split (no nonce is tried twice for the same work):
 *
 *     nonce = low (16 bits) || middle (32 bits) || high (16 bits), little-endian
 *
 * Each slot (one device) owns a contiguous part of `middle`. `low` cannot tell slots apart, since a pool may fix all of
 * it; its free bits are the outermost loop of every slot instead:
 *
 *     CPU thread:  high, then the next middle of its part, then the next low
 *     GPU:         a few lows for each middle of its part, then the next high, then the next few lows
 *
 * Where a pool fixes bits of `middle` as well, a slot tries those middles of its part that have them.
 *
 * All loops start at a random value and wrap around. Processes that search the same work start at independent points of
 * the 2^64 nonces, so they do not meet in practice. A search that has tried all its nonces rests until there is other work.
 */
import type { FixedNonce } from '../core/nonce.ts'

const LOW_BITS = 16
export const LOWS = 2 ** LOW_BITS
export const MIDDLES = 2 ** 32
export const HIGHS = 2 ** 16

export interface NonceRange {
  /** The slot's part of `middle`, nonce bits 16..47: `first` to `first + count - 1`. */
  readonly first: number
  readonly count: number
  /** Where the search begins: `start` counts from `first`. */
  readonly start: number
  readonly low: number
  readonly high: number
}

/** Splits the nonce space among `slots` devices (1..2^32). `random` is uniform in [0, 1). */
export function nonceRanges(slots: number, random: () => number): NonceRange[] {
  return rangesWithin(0, MIDDLES, slots, random)
}

/**
 * Splits the nonce space among the devices of several engines, `counts[i]` for engine i: a list for each engine.
 * Engines get equal shares, however many devices they have: a GPU needs a larger part than one of many CPU threads,
 * since a batch is cut short at the end of its part.
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
    const below = (limit: number) => Math.floor(random() * limit)
    return { first: from + first, count, start: below(count), low: below(LOWS), high: below(HIGHS) }
  })
}

/** Where part number `part` of `parts` begins: sizes differ by one at most. */
function partStart(part: number, parts: number, size: number): number {
  return Math.floor((part * size) / parts)
}

/**
 * The same range with another starting point, for a device that restarts: its progress was lost with its thread or
 * process. The starting points are as far apart as possible (the restart number with its bits reversed). The distance
 * to the next is at least 1/65,536 of the slot's nonces under one `low`, far more than it tries before the work
 * changes.
 */
export function restartedRange(range: NonceRange, restarts: number): NonceRange {
  let share = 0
  for (let bit = 0; bit < 16; bit++) if ((restarts >>> bit) & 1) share += 2 ** -(bit + 1)
  return {
    ...range,
    start: (range.start + Math.floor(share * range.count)) % range.count,
    high: (range.high + share * HIGHS) % HIGHS,
  }
}

/** The middles of a part that have the fixed bits: `stride * (first + n) + fixed` for n below `count`. */
export interface FreeMiddles {
  readonly first: number
  readonly count: number
  /** Where the search begins: counts from `first`. */
  readonly start: number
  readonly stride: number
  readonly fixed: number
}

/** Those of a range. One that has none takes the next: of 65,536 that there are at least, no machine has as many slots. */
export function freeMiddles({ first, count, start }: NonceRange, { bits, value }: FixedNonce): FreeMiddles {
  const stride = 2 ** Math.max(0, bits - LOW_BITS)
  const [from, to] = [Math.ceil(first / stride), Math.ceil((first + count) / stride)]
  const free = Math.max(1, to - from)
  return { first: from, count: free, start: Math.floor(start / stride) % free, stride, fixed: Math.floor(value / LOWS) }
}

/** The middle of a number below `count`. */
export function middleAt({ first, stride, fixed }: FreeMiddles, number: number): number {
  return (stride * (first + number) + fixed) % MIDDLES
}

/** How many values `low` takes. */
export function freeLows({ bits }: FixedNonce): number {
  return 2 ** Math.max(0, LOW_BITS - bits)
}

/** `low` with the fixed bits in place. */
export function lowWith(low: number, { bits, value }: FixedNonce): number {
  const fixed = 2 ** Math.min(bits, LOW_BITS) - 1
  return (low & ~fixed & 0xffff) | (value & fixed)
}

/** The value of the free bits of `low` after this many others, with the fixed ones as they are. */
export function nextLow(low: number, { bits }: FixedNonce, values = 1): number {
  return (low + values * 2 ** Math.min(bits, LOW_BITS)) % LOWS
}

/** The nonce of its three parts. */
export function nonceOf(low: number, middle: number, high: number): bigint {
  return BigInt(low) | (BigInt(middle >>> 0) << 16n) | (BigInt(high) << 48n)
}
