/** The WebAssembly kernels, the fastest that need only Node.js. They race where one is wanted (kernels.ts). */

import { emitWasm, MEMORY, relaxedSimdProbe, type WasmVectors } from './emit-wasm.ts'
import type { Kernel, TailLayout } from './kernel.ts'
import { operationGraph } from './operations.ts'

/** The used part of the global WebAssembly, which the types of Node 20 do not declare. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

interface SweepExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly sweep: Kernel['sweep']
}

/**
 * Compiles a kernel for a layout of work. V8 optimises it in the background after some calls, but never replaces
 * running code. So call it in slices, never for one giant sweep.
 */
export function createWasmKernel(layout: TailLayout, vectors: WasmVectors): Kernel {
  const relaxed = WebAssembly.validate(relaxedSimdProbe())
  // Every V8 with this type keeps the order of memory accesses.
  const keepsMemoryOrder = 'Float16Array' in globalThis
  const bytes = emitWasm(layout, operationGraph(layout), { relaxed, keepsMemoryOrder, vectors })
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes))
  const { memory, sweep } = instance.exports as SweepExports
  const words = new Uint32Array(memory.buffer)
  return {
    name: 'wasm',
    lanes: 4 * vectors,
    sliceNonces: 32_768,
    setWork(midstate, tail, bound) {
      words.set(midstate, MEMORY.midstate / 4)
      words.set(tail, MEMORY.tail / 4)
      words[MEMORY.bound / 4] = bound
    },
    sweep,
  }
}
