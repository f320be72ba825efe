/**
 * Which values of nonce1 are taken. A rig has one of two bytes, and tries all nonces that begin with these. A proxy of
 * newcut has one of one byte, and with it all 256 values of two bytes that begin with that: it gives them to its rigs.
 */
import { MAX_SESSIONS } from './limits.ts'

/** Values of two bytes that a proxy has. */
export const RIGS_OF_PROXY = 256
const PROXIES = MAX_SESSIONS / RIGS_OF_PROXY
/** Where there are proxies, rigs keep to this half of the first bytes as long as there is room in it, and proxies to the other. */
const HALF = PROXIES / 2

/** Values that begin with one of these first bytes. */
interface ValueRange {
  readonly first: number
  readonly firsts: number
  /** Place of the value to try next. */
  next: number
  taken: number
}

export class Nonce1Pool {
  /** By value of two bytes; the first byte is the low one. */
  readonly #taken = new Uint8Array(MAX_SESSIONS)
  /** First byte -> values that are taken. */
  readonly #ofFirst = new Uint16Array(PROXIES)
  /** In the order in which rigs get them. */
  readonly #parts: readonly ValueRange[]
  #nextProxy: number

  /** `start`: another at each start, so that no rig searches again what it searched before. */
  constructor(start: number, hasProxies: boolean) {
    const part = (first: number, firsts: number) => ({
      first,
      firsts,
      next: start % (firsts * RIGS_OF_PROXY),
      taken: 0,
    })
    this.#parts = hasProxies ? [part(0, HALF), part(HALF, HALF)] : [part(0, PROXIES)]
    this.#nextProxy = start % HALF
  }

  /** The next free value for a rig, so that none comes back soon; null: all are taken. */
  take(): number | null {
    const part = this.#parts.find(({ taken, firsts }) => taken < firsts * RIGS_OF_PROXY)
    if (part === undefined) return null
    for (;;) {
      const nonce1 = valueAt(part, part.next)
      part.next = (part.next + 1) % (part.firsts * RIGS_OF_PROXY)
      if (this.claim(nonce1)) return nonce1
    }
  }

  /** The next first byte of which no value is taken, for a proxy; null: there is none. */
  takeProxy(): number | null {
    for (let tried = 0; tried < PROXIES; tried++) {
      const half = tried < HALF ? HALF : 0
      const first = half + ((this.#nextProxy + tried) % HALF)
      if (this.#ofFirst[first] > 0) continue
      this.#nextProxy = (this.#nextProxy + tried + 1) % HALF
      for (let second = 0; second < RIGS_OF_PROXY; second++) this.claim(first | (second << 8))
      return first
    }
    return null
  }

  /** False: it is taken already. */
  claim(nonce1: number): boolean {
    if (this.#taken[nonce1] === 1) return false
    this.#count(nonce1, 1)
    return true
  }

  release(nonce1: number): void {
    if (this.#taken[nonce1] === 1) this.#count(nonce1, -1)
  }

  releaseProxy(first: number): void {
    for (let second = 0; second < RIGS_OF_PROXY; second++) this.release(first | (second << 8))
  }

  #count(nonce1: number, change: 1 | -1): void {
    const first = nonce1 & 0xff
    this.#taken[nonce1] += change
    this.#ofFirst[first] += change
    this.#parts[this.#parts.length > 1 && first >= HALF ? 1 : 0].taken += change
  }
}

/** Without proxies all values ascend; with them the first byte does at each step. */
function valueAt({ first, firsts }: ValueRange, place: number): number {
  if (firsts === PROXIES) return place
  return (first + (place % firsts)) | (Math.floor(place / firsts) << 8)
}
