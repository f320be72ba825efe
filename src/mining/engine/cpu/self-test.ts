/**
 * Tests a kernel before it gets work: a faulty one would miss solutions or report wrong ones. The reference is
 * @noble/hashes on whole headers, which shares no code with the kernels.
 */

import { blake2s } from '@noble/hashes/blake2.js'
import { type Midstate, midstate } from '#ground/chain/blake2s.ts'
import { type Kernel, SWEEP_NONCES, type TailLayout } from './kernel.ts'

const HEADERS = 2
/** Minimum number of nonces to test at each end of a sweep. */
const END_NONCES = 32
/** Maximum number of chunks until each lane has had the lowest top word once; 22 on average with 8 lanes. */
const MAX_CHUNKS = 1000
/** The largest word. */
const MAX_U32 = 0xffffffff

/**
 * Compares a kernel with the reference.
 * @param random returns this number of random bytes
 * @returns null if both agree, else a sentence about the difference
 */
export function selfTestKernel(
  kernel: Kernel,
  layout: TailLayout,
  random: (bytes: number) => Uint8Array,
): string | null {
  for (let count = 0; count < HEADERS; count++) {
    const header = Uint8Array.from(random(layout.totalBytes))
    const nonce = new DataView(Uint8Array.from(random(6)).buffer)
    // The first trial has all bits set, which reveals mistakes with signed numbers.
    const [low, middle] = count === 0 ? [0xffff, MAX_U32] : [nonce.getUint16(0), nonce.getUint32(2)]
    const trial = new Trial(kernel, header, low, middle)
    const failure = trial.run(trial.firstChunks()) ?? trial.run(trial.lastChunks())
    if (failure !== null) return failure
  }
  return null
}

/** Like `selfTestKernel`, but takes a few milliseconds: one chunk at each end of one sweep. */
export function testBriefly(kernel: Kernel, layout: TailLayout, random: (bytes: number) => Uint8Array): string | null {
  const trial = new Trial(kernel, Uint8Array.from(random(layout.totalBytes)), 0xffff, MAX_U32)
  return trial.run([trial.chunk(0)]) ?? trial.run([trial.chunk(SWEEP_NONCES - kernel.lanes)])
}

/** Spans of a comparison whose only candidate is in the last chunk; and the most spans until there were so many. */
const LAST_CHUNKS = 4
const MAX_SPANS = 5000

/**
 * Compares a kernel with another that passed `selfTestKernel`. A kernel may search the end of a sweep by other means
 * than its begin, so the comparison goes on until enough sweeps had their first candidate there.
 * @returns null if both agree, else a sentence about the difference
 */
export function testAgreement(
  kernel: Kernel,
  judge: Kernel,
  layout: TailLayout,
  random: (bytes: number) => Uint8Array,
): string | null {
  // The least length of a sweep in which one nonce is hashed beside each chunk.
  const lanes = Math.max(kernel.lanes, judge.lanes)
  const span = lanes * (lanes + 1)
  /** The begin of a chunk in chunks of the wider kernel. */
  const wide = (nonce: number) => nonce - (nonce % lanes)
  // One nonce in a span is a candidate on average.
  const bound = Math.floor(2 ** 32 / span)
  let low = 0
  let last = 0
  for (let count = 0, from = SWEEP_NONCES; count < MAX_SPANS && last < LAST_CHUNKS; count++, from += span) {
    if (from + span > SWEEP_NONCES) {
      const { state, tail } = midstate(Uint8Array.from(random(layout.totalBytes)))
      kernel.setWork(state, tail, bound)
      judge.setWork(state, tail, bound)
      low = tail[0] & 0xffff
      from = 0
    }
    const to = from + span
    const [found, wanted] = [kernel, judge].map((each) => wide(each.sweep(low, MAX_U32, from, to)))
    if (found !== wanted) return `nonces ${from} to ${to}: it returned ${found} instead of ${wanted}`
    if (wanted === to - lanes) last++
  }
  return null
}

/** `lanes` nonces from `start`. */
interface Chunk {
  readonly start: number
  /** The lowest top word of their hashes, and its lane. */
  readonly lowest: number
  readonly lane: number
}

class Trial {
  readonly #kernel: Kernel
  readonly #header: Uint8Array
  readonly #low: number
  readonly #middle: number
  /** Midstate of the header, with its own nonce in the tail: the kernel must ignore that. */
  readonly #mid: Midstate

  constructor(kernel: Kernel, header: Uint8Array, low: number, middle: number) {
    this.#kernel = kernel
    this.#header = header
    this.#low = low
    this.#middle = middle
    this.#mid = midstate(header)
  }

  /** Chunks until each lane has had the lowest top word once. */
  firstChunks(): readonly Chunk[] {
    const { lanes } = this.#kernel
    const chunks: Chunk[] = []
    const seen = new Set<number>()
    while ((seen.size < lanes || chunks.length * lanes < END_NONCES) && chunks.length < MAX_CHUNKS) {
      const chunk = this.chunk(chunks.length * lanes)
      chunks.push(chunk)
      seen.add(chunk.lane)
    }
    return chunks
  }

  lastChunks(): readonly Chunk[] {
    const { lanes } = this.#kernel
    const count = Math.ceil(END_NONCES / lanes)
    return Array.from({ length: count }, (_, i) => this.chunk(SWEEP_NONCES - (count - i) * lanes))
  }

  /** Tests the kernel on consecutive chunks. */
  run(chunks: readonly Chunk[]): string | null {
    for (const { start, lowest } of chunks) {
      const end = start + this.#kernel.lanes
      const failure = this.#expect(lowest, start, end, start) ?? this.#expect(lowest - 1, start, end, end)
      if (failure !== null) return failure
    }
    const middling = chunks.map(({ lowest }) => lowest).sort((a, b) => a - b)[chunks.length >> 1]
    for (const bound of [0, middling, 0x7fffffff, 0x80000000, MAX_U32]) {
      const failure = this.#walk(chunks, bound)
      if (failure !== null) return failure
    }
    return null
  }

  /** Goes from candidate to candidate as a miner does, and resumes after each chunk. */
  #walk(chunks: readonly Chunk[], bound: number): string | null {
    const { lanes } = this.#kernel
    const starts = chunks.filter(({ lowest }) => lowest <= bound).map(({ start }) => start)
    const end = chunks[chunks.length - 1].start + lanes
    let from = chunks[0].start
    for (const wanted of [...starts, end]) {
      const failure = this.#expect(bound, from, end, wanted)
      if (failure !== null) return failure
      from = wanted + lanes
    }
    return null
  }

  #expect(bound: number, from: number, to: number, wanted: number): string | null {
    // No bound is below a lowest top word of 0, and a sweep with `from` after `to` is empty.
    if (bound < 0 || from > to) return null
    this.#kernel.setWork(this.#mid.state, this.#mid.tail, bound)
    const found = this.#kernel.sweep(this.#low, this.#middle, from, to)
    if (found === wanted) return null
    return `nonces ${from} to ${to} with bound ${bound}: it returned ${found} instead of ${wanted}`
  }

  chunk(start: number): Chunk {
    const tops = Array.from({ length: this.#kernel.lanes }, (_, lane) => this.#topWord(start + lane))
    const lowest = Math.min(...tops)
    return { start, lowest, lane: tops.indexOf(lowest) }
  }

  /** Bytes 28..31 of the hash of the header with the nonce `low || middle || swept`. */
  #topWord(swept: number): number {
    const header = new DataView(this.#header.slice().buffer)
    const nonce = header.byteLength - 8
    header.setUint16(nonce, this.#low, true)
    header.setUint32(nonce + 2, this.#middle, true)
    header.setUint16(nonce + 6, swept, true)
    const hash = blake2s(new Uint8Array(header.buffer))
    return new DataView(hash.buffer, hash.byteOffset).getUint32(28, true)
  }
}
