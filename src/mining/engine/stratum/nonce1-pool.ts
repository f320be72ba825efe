/**
 * Assigns nonce1 values. A rig has one of two bytes, and tries all nonces with it. A proxy of newcut has one of one
 * byte, which covers 256 values of two bytes for its rigs.
 */
import { MAX_SESSIONS } from './limits.ts'

/** Two-byte values of a proxy. */
export const RIGS_OF_PROXY = 256
const PROXIES = MAX_SESSIONS / RIGS_OF_PROXY
/** With proxies, rigs get first bytes from this half while it has free values, and proxies from the other. */
const HALF = PROXIES / 2

/** The values that begin with certain first bytes. */
interface ValueRange {
  readonly first: number
  readonly firsts: number
  /** Index of the next value to try. */
  next: number
  taken: number
}

export class Nonce1Pool {
  /** By two-byte value; the first byte is the low one. */
  readonly #taken = new Uint8Array(MAX_SESSIONS)
  /** First byte -> number of taken values. */
  readonly #ofFirst = new Uint16Array(PROXIES)
  /** In the order in which rigs get them. */
  readonly #parts: readonly ValueRange[]
  #nextProxy: number

  /** @param start random start, so that no rig repeats an earlier search */
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

  /**
   * Takes the next free value for a rig. It cycles through all values, so none returns soon.
   * @returns null if all are taken
   */
  take(): number | null {
    const part = this.#parts.find(({ taken, firsts }) => taken < firsts * RIGS_OF_PROXY)
    if (part === undefined) return null
    for (;;) {
      const nonce1 = valueAt(part, part.next)
      part.next = (part.next + 1) % (part.firsts * RIGS_OF_PROXY)
      if (this.claim(nonce1)) return nonce1
    }
  }

  /**
   * Takes the next first byte without taken values, for a proxy.
   * @returns null if there is none
   */
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

  /** @returns false if the value is taken */
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

/** The value at an index. Without proxies values ascend; with them the first byte ascends at each step. */
function valueAt({ first, firsts }: ValueRange, place: number): number {
  if (firsts === PROXIES) return place
  return (first + (place % firsts)) | (Math.floor(place / firsts) << 8)
}
