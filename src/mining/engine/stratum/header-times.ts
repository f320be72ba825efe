/** Creation times of headers: no server issues the same header twice, and no two servers issue the same one. */
import { encodeHex, readI64LE } from '#ground/base/bytes.ts'
import { headerLayout, withCreationTime, withNonce } from '#ground/chain/header.ts'
import { firstOfClass, type HeaderClass } from '#ground/chain/nonce.ts'

/** Microseconds between two headers of a single server. Nodes accept the first header after less than a millisecond. */
export const LONE_MODULUS = 16
/** Maximum number of works with a known newest creation time; as many as there are jobs. */
const MAX_WORKS = 1024

/**
 * A random class, for a single server that does not know its earlier runs.
 * @param random uniform in [0, 1)
 */
export function randomClass(random: () => number): HeaderClass {
  return { residue: Math.floor(random() * LONE_MODULUS), modulus: LONE_MODULUS }
}

export class HeaderTimes {
  readonly #maxWorks: number
  /** Header without creation time and nonce -> its newest issued creation time. */
  readonly #newest = new Map<string, bigint>()
  /** The newest creation time of all evicted works. */
  #forgotten = -1n

  constructor(maxWorks = MAX_WORKS) {
    this.#maxWorks = maxWorks
  }

  /** The next unused creation time of the class for this work: the smallest one that is not before the work's own. */
  next(bytes: Uint8Array, headers: HeaderClass): bigint {
    const own = creationTimeOf(bytes)
    const key = encodeHex(withNonce(withCreationTime(bytes, 0n), 0n))
    // Unknown work may be evicted work.
    const newest = this.#newest.get(key) ?? this.#forgotten
    const time = firstOfClass(newest < own ? own : newest + 1n, headers)
    this.#newest.delete(key)
    this.#newest.set(key, time)
    this.#forget()
    return time
  }

  /** Limits the number of works. */
  #forget(): void {
    if (this.#newest.size <= this.#maxWorks) return
    const [[key, time]] = this.#newest
    this.#newest.delete(key)
    if (time > this.#forgotten) this.#forgotten = time
  }
}

/** The creation time in the given work. */
export function creationTimeOf(work: Uint8Array): bigint {
  return readI64LE(work, headerLayout(0).creationTime)
}
