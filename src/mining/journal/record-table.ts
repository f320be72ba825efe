/**
 * All solutions of a journal in fixed columns: 100 bytes each, outside the heap of the engine. A row has what selects
 * records; the lines on disk have the rest, at the positions that the row names.
 */
import { mayContinue, type StepFacts, type StepName, stepNames } from '#ground/chain/solution.ts'

/** A hash takes its 43 characters and the quote that follows them in its line. */
const KEY_BYTES = 44
const HASH_LENGTH = KEY_BYTES - 1
const QUOTE = 0x22
const KEY_WORDS = KEY_BYTES / 4
const SEGMENT_BITS = 12
const SEGMENT_ROWS = 1 << SEGMENT_BITS
const ROW_BYTES = KEY_BYTES + 6 * 8 + 4 + 2 + 1 + 1
/** Bytes of a segment, which is 4,096 rows. */
export const SEGMENT_BYTES = SEGMENT_ROWS * ROW_BYTES
const MAX_ORIGINS = 0xffff
const MAX_DEPTH = 0xffff_ffff
const FIRST_SLOTS = 1 << 10

/** Bits of `flags`. */
const MAY_RETURN = 1
const WAS_STOPPED = 2

/** An amount that is unknown, and one that only its line has. */
export const NO_AMOUNT = -1
export const AMOUNT_IN_LINE = -2
/** `rewardAt` of a row without a reward. */
const NOWHERE = -1

/** Who was to be paid, and where. */
export interface SolutionOrigin {
  readonly network: string
  readonly account: string
}

/** The columns of 4,096 rows, in one buffer. */
interface Segment {
  readonly bytes: Uint8Array
  readonly foundAt: Float64Array
  readonly stateAt: Float64Array
  readonly rewardAt: Float64Array
  readonly reward: Float64Array
  readonly fees: Float64Array
  readonly foundMs: Float64Array
  readonly keys: Uint32Array
  readonly depth: Uint32Array
  readonly origin: Uint16Array
  readonly state: Uint8Array
  readonly flags: Uint8Array
}

function segmentOf(bytes: Uint8Array): Segment {
  let next = bytes.byteOffset
  const { buffer } = bytes
  const column = <T>(size: number, of: new (buffer: ArrayBufferLike, from: number, length: number) => T, each = 1) => {
    const from = next
    next += size * each * SEGMENT_ROWS
    return new of(buffer, from, each * SEGMENT_ROWS)
  }
  return {
    bytes,
    foundAt: column(8, Float64Array),
    stateAt: column(8, Float64Array),
    rewardAt: column(8, Float64Array),
    reward: column(8, Float64Array),
    fees: column(8, Float64Array),
    foundMs: column(8, Float64Array),
    keys: column(4, Uint32Array, KEY_WORDS),
    depth: column(4, Uint32Array),
    origin: column(2, Uint16Array),
    state: column(1, Uint8Array),
    flags: column(1, Uint8Array),
  }
}

/** The part of a first line that sums need. */
interface FoundBlockDetails {
  readonly origin: SolutionOrigin
  /** Unix time. */
  readonly foundMs: number
}

export class RecordTable {
  /** Networks and accounts, by their number in the rows. */
  readonly origins: SolutionOrigin[]
  readonly #segments: Segment[]
  #rows: number
  /** Row + 1 by the hash of its key; 0 is free. Linear probing, at most half full. */
  #slots: Uint32Array
  /** Numbers of origins by their text. */
  readonly #numbers = new Map<string, number>()
  /** The latest origin, which mostly is the next one too. */
  #latest: { readonly origin: SolutionOrigin; readonly number: number } | null = null
  readonly #key = new DataView(new ArrayBuffer(KEY_BYTES))

  /** @param bytes the segments of a saved table, which this one takes over */
  constructor(rows = 0, bytes: readonly Uint8Array[] = [], origins: readonly SolutionOrigin[] = []) {
    this.#rows = rows
    this.#segments = bytes.map(segmentOf)
    this.origins = [...origins]
    for (const [number, origin] of origins.entries()) this.#numbers.set(textOf(origin), number)
    this.#slots = new Uint32Array(slotsFor(rows))
    this.#fillSlots()
  }

  get rows(): number {
    return this.#rows
  }

  /** The segments' bytes, to save them. */
  get bytes(): readonly Uint8Array[] {
    return this.#segments.map(({ bytes }) => bytes)
  }

  /** Prepares for this many further rows, so that adding them moves nothing. More may follow. */
  reserve(rows: number): void {
    if (2 * (this.#rows + rows) <= this.#slots.length) return
    this.#slots = new Uint32Array(slotsFor(this.#rows + rows))
    this.#fillSlots()
  }

  /** The row of the key at this offset, or -1. */
  find(from: DataView, offset: number): number {
    const mask = this.#slots.length - 1
    for (let slot = mixOf(from, offset) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] - 1
      if (row === -1 || this.#hasKey(row, from, offset)) return row
    }
  }

  /** The row of a hash, or -1. */
  rowOf(hash: string): number {
    return this.find(this.keyOf(hash), 0)
  }

  /** The key of a hash, valid until the next call. */
  keyOf(hash: string): DataView {
    for (let i = 0; i < HASH_LENGTH; i++) this.#key.setUint8(i, hash.charCodeAt(i))
    this.#key.setUint8(HASH_LENGTH, QUOTE)
    return this.#key
  }

  /**
   * Adds a row in state `found` for a key that has none.
   * @param at position of its line
   * @throws RangeError if the journal has more than 65,535 pairs of a network and an account
   */
  add(from: DataView, offset: number, { origin, foundMs }: FoundBlockDetails, at: number): void {
    this.reserve(1)
    const row = this.#rows++
    const segment = this.#segments[row >>> SEGMENT_BITS] ?? this.#grow()
    const index = row & (SEGMENT_ROWS - 1)
    for (let word = 0; word < KEY_WORDS; word++) {
      segment.keys[index * KEY_WORDS + word] = from.getUint32(offset + 4 * word, true)
    }
    segment.foundAt[index] = at
    segment.stateAt[index] = at
    segment.rewardAt[index] = NOWHERE
    segment.reward[index] = NO_AMOUNT
    segment.fees[index] = NO_AMOUNT
    segment.foundMs[index] = foundMs
    segment.origin[index] = this.#numberOf(origin)
    segment.state[index] = FOUND
    this.#enter(row, mixOf(from, offset))
  }

  /** Notes the newest step of a solution and the position of its line. */
  step(row: number, { step, depth, mayReturn, reason }: StepFacts, at: number): void {
    const segment = this.#segments[row >>> SEGMENT_BITS]
    const index = row & (SEGMENT_ROWS - 1)
    segment.state[index] = stepNames.indexOf(step)
    segment.depth[index] = Math.min(depth ?? 0, MAX_DEPTH)
    segment.flags[index] = (mayReturn ? MAY_RETURN : 0) | (reason === 'stopped' ? WAS_STOPPED : 0)
    segment.stateAt[index] = at
  }

  /** Notes reward and fees of a block in units (units.ts), and the position of their line. */
  reward(row: number, reward: number, fees: number, at: number): void {
    const segment = this.#segments[row >>> SEGMENT_BITS]
    segment.reward[row & (SEGMENT_ROWS - 1)] = reward
    segment.fees[row & (SEGMENT_ROWS - 1)] = fees
    segment.rewardAt[row & (SEGMENT_ROWS - 1)] = at
  }

  stateOf(row: number): StepName {
    return stepNames[this.#segments[row >>> SEGMENT_BITS].state[row & (SEGMENT_ROWS - 1)]]
  }

  /** The number of the network and the account among `origins`. */
  originOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS].origin[row & (SEGMENT_ROWS - 1)]
  }

  networkOf(row: number): string {
    return this.origins[this.originOf(row)].network
  }

  /** Unix time of the solution; NaN if its line names a time that does not exist. */
  foundMsOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS].foundMs[row & (SEGMENT_ROWS - 1)]
  }

  /** Reward in units, or NO_AMOUNT or AMOUNT_IN_LINE. */
  rewardOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS].reward[row & (SEGMENT_ROWS - 1)]
  }

  /** Fees in units, or NO_AMOUNT or AMOUNT_IN_LINE. */
  feesOf(row: number): number {
    return this.#segments[row >>> SEGMENT_BITS].fees[row & (SEGMENT_ROWS - 1)]
  }

  /** Whether later steps may follow. `confirmations`: depth at which a confirmed solution is final. */
  isUnfinished(row: number, confirmations: number): boolean {
    const { depth, flags } = this.#segments[row >>> SEGMENT_BITS]
    const index = row & (SEGMENT_ROWS - 1)
    const mayReturn = (flags[index] & MAY_RETURN) !== 0
    const reason = (flags[index] & WAS_STOPPED) === 0 ? null : 'stopped'
    return mayContinue({ step: this.stateOf(row), depth: depth[index], mayReturn, reason }, confirmations)
  }

  /** Positions of the lines that make up a record, each once; the first line is the first of them. */
  linesOf(row: number): number[] {
    const { foundAt, stateAt, rewardAt } = this.#segments[row >>> SEGMENT_BITS]
    const index = row & (SEGMENT_ROWS - 1)
    return [...new Set([foundAt[index], stateAt[index], rewardAt[index]])].filter((at) => at !== NOWHERE)
  }

  hashOf(row: number): string {
    const { keys } = this.#segments[row >>> SEGMENT_BITS]
    const from = keys.byteOffset + (row & (SEGMENT_ROWS - 1)) * KEY_BYTES
    return Buffer.from(keys.buffer, from, KEY_BYTES - 1).toString('latin1')
  }

  #grow(): Segment {
    const segment = segmentOf(new Uint8Array(SEGMENT_BYTES))
    this.#segments.push(segment)
    return segment
  }

  #numberOf(origin: SolutionOrigin): number {
    if (this.#latest?.origin === origin) return this.#latest.number
    const text = textOf(origin)
    const number = this.#numbers.get(text) ?? this.origins.length
    if (number === MAX_ORIGINS) throw new RangeError(`more than ${MAX_ORIGINS} accounts in a journal`)
    if (number === this.origins.length) {
      this.#numbers.set(text, number)
      this.origins.push(origin)
    }
    this.#latest = { origin, number }
    return number
  }

  #hasKey(row: number, from: DataView, offset: number): boolean {
    const { keys } = this.#segments[row >>> SEGMENT_BITS]
    const first = (row & (SEGMENT_ROWS - 1)) * KEY_WORDS
    for (let word = 0; word < KEY_WORDS; word++) {
      if (keys[first + word] !== from.getUint32(offset + 4 * word, true)) return false
    }
    return true
  }

  #fillSlots(): void {
    for (let row = 0; row < this.#rows; row++) {
      const { keys } = this.#segments[row >>> SEGMENT_BITS]
      const from = keys.byteOffset + (row & (SEGMENT_ROWS - 1)) * KEY_BYTES
      this.#enter(row, mixOf(new DataView(keys.buffer, from, KEY_BYTES), 0))
    }
  }

  #enter(row: number, mix: number): void {
    const mask = this.#slots.length - 1
    let slot = mix & mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
    this.#slots[slot] = row + 1
  }
}

const textOf = ({ network, account }: SolutionOrigin) => JSON.stringify([network, account])

const FOUND = stepNames.indexOf('found')

function slotsFor(rows: number): number {
  let slots = FIRST_SLOTS
  while (slots < 2 * rows) slots *= 2
  return slots
}

/** 32 bits of a key. Its characters are random, but each has only six random bits. */
function mixOf(from: DataView, offset: number): number {
  const first = Math.imul(from.getUint32(offset, true), 0x9e3779b1)
  const second = Math.imul(from.getUint32(offset + 16, true) ^ (first >>> 15), 0x85ebca6b)
  const third = Math.imul(from.getUint32(offset + 32, true) ^ (second >>> 13), 0xc2b2ae35)
  return third ^ (third >>> 16)
}
