/** The JavaScript kernel, a fallback where WebAssembly SIMD is missing or fails its self-test. */

import { emitJs } from './emit-js.ts'
import type { Kernel, TailLayout } from './kernel.ts'
import { operationGraph } from './operations.ts'

/**
 * Compiles a kernel for a layout of work. It computes one nonce at a time; two alternating ones gain nothing (1.00 to
 * 1.02).
 */
export function createJsKernel(layout: TailLayout): Kernel {
  const graph = operationGraph(layout)
  const midstateWords = new Int32Array(8)
  const tailWords = new Int32Array(16)
  const boundWord = new Uint32Array(1)
  const compile = new Function('H', 'M', 'U', 'B', emitJs(layout, graph))
  const sweep: Kernel['sweep'] = compile(midstateWords, tailWords, new Int32Array(graph.shared.length), boundWord)
  return {
    name: 'js',
    lanes: 1,
    sliceNonces: 8192,
    setWork(midstate, tail, bound) {
      midstateWords.set(midstate)
      tailWords.set(tail)
      boundWord[0] = bound
    },
    sweep,
  }
}
