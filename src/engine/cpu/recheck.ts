/** Searches a few nonces twice: a processor or compiler may go wrong long after the self-test. */
import type { Midstate } from '../../core/blake2s.ts'
import { createJsKernel } from './js-kernel.ts'
import { type Kernel, tailLayout } from './kernel.ts'

/** Nonces that are compared: a multiple of the lanes of all kernels, and no more than any slice has. */
export const CHECKED_NONCES = 1024
/** One hash in 64 is a candidate: far more than in a search, so that a wrong hash shows. */
const EASY_BOUND = 2 ** 26 - 1

/** Where the nonces begin. */
export interface Spot {
  readonly low: number
  readonly middle: number
  /** A multiple of CHECKED_NONCES. */
  readonly from: number
}

/** Compares a kernel with the JavaScript kernel on nonces of the work that it searches. */
export class Recheck {
  /** Bytes of the work -> the kernel that judges it. */
  readonly #judges = new Map<number, Kernel>()

  /**
   * null when both find the same candidates, else a sentence that says where they do not. The kernel is left with the
   * bound, ready to search on.
   */
  disagreement(kernel: Kernel, mid: Midstate, bound: number, { low, middle, from }: Spot): string | null {
    const judge = this.#judgeOf(mid.totalBytes)
    judge.setWork(mid.state, mid.tail, EASY_BOUND)
    kernel.setWork(mid.state, mid.tail, EASY_BOUND)
    const to = from + CHECKED_NONCES
    try {
      for (let at = from; at < to; ) {
        const first = judge.sweep(low, middle, at, to)
        const expected = first - (first % kernel.lanes)
        const found = kernel.sweep(low, middle, at, to)
        if (found !== expected) {
          const where = `${at} to ${to} of low ${low}, middle ${middle}`
          return `kernel ${kernel.name}: ${where} gave ${found} instead of ${expected}`
        }
        at = expected + kernel.lanes
      }
      return null
    } finally {
      kernel.setWork(mid.state, mid.tail, bound)
    }
  }

  #judgeOf(workBytes: number): Kernel {
    const known = this.#judges.get(workBytes)
    if (known !== undefined) return known
    const judge = createJsKernel(tailLayout(workBytes))
    this.#judges.set(workBytes, judge)
    return judge
  }
}
