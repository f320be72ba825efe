/** Checks a kernel during the search: a processor may fail long after the self-test. */
import type { Midstate } from '#ground/chain/blake2s.ts'
import { createJsKernel } from './js-kernel.ts'
import { type Kernel, tailLayout } from './kernel.ts'

/** Number of compared nonces: a multiple of all kernels' lanes, and at most the length of any slice. */
export const CHECKED_NONCES = 2048
/** One hash in 64 is a candidate, far more than in a search, so that wrong hashes show. */
const EASY_BOUND = 2 ** 26 - 1
/**
 * One hash in 2,048 is a candidate. So the first one may be among the last nonces, which a kernel may hash by other
 * means (order `mixed` of native-kernel.ts).
 */
const RARE_BOUND = 2 ** 21 - 1

/** Start of the compared nonces. */
interface NonceWindow {
  readonly low: number
  readonly middle: number
  /** A multiple of CHECKED_NONCES. */
  readonly from: number
}

/** Compares a kernel with the JavaScript kernel on nonces of the current work. */
export class Recheck {
  /** Length of work -> JavaScript kernel. */
  readonly #judges = new Map<number, Kernel>()

  /**
   * Compares both kernels, and then restores the work and bound of `kernel`.
   * @returns null if both find the same candidates, else a sentence about the difference
   */
  findDisagreement(kernel: Kernel, mid: Midstate, bound: number, spot: NonceWindow): string | null {
    const judge = this.#judgeOf(mid.totalBytes)
    try {
      for (const tried of [EASY_BOUND, RARE_BOUND]) {
        judge.setWork(mid.state, mid.tail, tried)
        kernel.setWork(mid.state, mid.tail, tried)
        const sentence = findDifference(kernel, judge, spot)
        if (sentence !== null) return sentence
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

/** Goes from candidate to candidate. @returns null if both find the same */
function findDifference(kernel: Kernel, judge: Kernel, { low, middle, from }: NonceWindow): string | null {
  const to = from + CHECKED_NONCES
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
}
