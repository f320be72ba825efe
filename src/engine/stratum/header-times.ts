/** Creation times of headers: no server hands out the same header twice, and no two servers hand out the same one. */
import { encodeHex, readI64LE } from '../../core/bytes.ts'
import { headerLayout, withCreationTime, withNonce } from '../../core/header.ts'
import { firstOfClass, type HeaderClass } from '../../core/nonce.ts'

/** Microseconds between two headers of a server that is alone: nodes take the first header after less than a millisecond. */
export const LONE_MODULUS = 16
/** Works whose newest creation time is known. */
const MAX_WORKS = 1024

/** A class for a server that is alone and does not know about its earlier starts. `random` is uniform in [0, 1). */
export function randomClass(random: () => number): HeaderClass {
  return { residue: Math.floor(random() * LONE_MODULUS), modulus: LONE_MODULUS }
}

export class HeaderTimes {
  readonly #maxWorks: number
  /** Header without its creation time and nonce -> the newest creation time that was handed out. */
  readonly #newest = new Map<string, bigint>()
  /** The newest creation time of all works that are forgotten. */
  #forgotten = -1n

  constructor(maxWorks = MAX_WORKS) {
    this.#maxWorks = maxWorks
  }

  /** A creation time of the class that no header of this work has had, the least one that is no earlier than the work's. */
  next(bytes: Uint8Array, headers: HeaderClass): bigint {
    const own = creationTimeOf(bytes)
    const key = encodeHex(withNonce(withCreationTime(bytes, 0n), 0n))
    // Work that is not known may be one that was forgotten.
    const newest = this.#newest.get(key) ?? this.#forgotten
    const time = firstOfClass(newest < own ? own : newest + 1n, headers)
    this.#newest.delete(key)
    this.#newest.set(key, time)
    this.#forget()
    return time
  }

  /** Keeps the number of works bounded. */
  #forget(): void {
    const [oldest] = this.#newest
    if (this.#newest.size <= this.#maxWorks) return
    const [key, time] = oldest
    this.#newest.delete(key)
    if (time > this.#forgotten) this.#forgotten = time
  }
}

/** That of the work as it was given. */
export function creationTimeOf(work: Uint8Array): bigint {
  return readI64LE(work, headerLayout(0).creationTime)
}
