/** Names of the CPU kernels, without the kernels: options and help need only these. */

/** All kernels, the fastest first. On Zen 4, SSE4.1 reaches 0.90 of WebAssembly, which uses AVX even without AVX2. */
export const kernelNames = ['native-avx512', 'native-avx2', 'native-neon', 'wasm', 'native-sse41', 'js'] as const
export type KernelName = (typeof kernelNames)[number]

/** `auto`: the fastest of all. `native`: the widest native one. A name: only that kernel. */
export type KernelPreference = 'auto' | 'native' | KernelName
export const kernelPreferences: readonly KernelPreference[] = ['auto', 'native', ...kernelNames]

/**
 * Orders of the operations of a native kernel. The results are the same, the fastest differs between processors.
 *
 *     halves      two vectors alternate every half round
 *     single      one vector, which needs half the registers
 *     steps       two vectors go step by step, the second seven steps behind
 *     staggered   one vector in assembly; each G of a half round starts one step after the G before it
 *     mixed       general registers hash one more nonce: beside `steps` of AVX-512, and beside `staggered` of others
 */
export const scheduleNames = ['halves', 'single', 'steps', 'staggered', 'mixed'] as const
export type ScheduleName = (typeof scheduleNames)[number]
