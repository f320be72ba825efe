/** Names of the CPU kernels, apart from the kernels themselves: options and help need no more. */

/** All kernels, fastest first. On Zen 4 SSE4.1 is 0.90 of WebAssembly, which uses AVX where there is no AVX2. */
export const kernelNames = ['native-avx512', 'native-avx2', 'native-neon', 'wasm', 'native-sse41', 'js'] as const
export type KernelName = (typeof kernelNames)[number]

/** 'auto': the fastest of all; 'native': the widest native one; a name: that kernel or none. */
export type KernelPreference = 'auto' | 'native' | KernelName
export const kernelPreferences: readonly KernelPreference[] = ['auto', 'native', ...kernelNames]
