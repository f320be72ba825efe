/** Names of the CPU kernels, without the kernels: options and help need only these. */

/** All kernels, the fastest first. On Zen 4, SSE4.1 reaches 0.90 of WebAssembly, which uses AVX even without AVX2. */
export const kernelNames = ['native-avx512', 'native-avx2', 'native-neon', 'wasm', 'native-sse41', 'js'] as const
export type KernelName = (typeof kernelNames)[number]

/** `auto`: the fastest of all. `native`: the widest native one. A name: only that kernel. */
export type KernelPreference = 'auto' | 'native' | KernelName
export const kernelPreferences: readonly KernelPreference[] = ['auto', 'native', ...kernelNames]
