/** Searches a slice again with the JavaScript kernel: a processor or compiler may go wrong long after the self-test. */
import type { Midstate } from '../../core/blake2s.ts'
import { createJsKernel } from './js-kernel.ts'
import { type Kernel, tailLayout } from './kernel.ts'

/** A call of Kernel.sweep and its result. */
export interface Slice {
  readonly low: number
  readonly middle: number
  readonly from: number
  readonly to: number
  readonly result: number
}

/** null when the slice was searched correctly, else a sentence with the result that was expected. */
export function disagreement(kernel: Kernel, mid: Midstate, bound: number, slice: Slice): string | null {
  if (kernel.name === 'js') return null
  const { low, middle, from, to, result } = slice
  const judge = createJsKernel(tailLayout(mid.totalBytes))
  judge.setWork(mid.state, mid.tail, bound)
  const first = judge.sweep(low, middle, from, to)
  const expected = first - (first % kernel.lanes)
  if (result === expected) return null
  return `kernel ${kernel.name}: ${from} to ${to} of low ${low}, middle ${middle} gave ${result} instead of ${expected}`
}
