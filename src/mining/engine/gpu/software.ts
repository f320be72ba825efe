/** Distinguishes software drivers from real GPUs. Works wherever there is WebGPU. */
/// <reference types="@webgpu/types" />

/** SwiftShader, Mesa's llvmpipe and lavapipe, Windows' WARP, and Dawn's null backend, which computes nothing. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|\bwarp\b|null-backend/i

/**
 * Whether an adapter is a software driver.
 * @param name its name, in addition to its own description
 */
export function isSoftware(adapter: GPUAdapter, name = ''): boolean {
  const { vendor, architecture, device, description } = adapter.info
  return SOFTWARE.test(`${name} ${vendor} ${architecture} ${device} ${description}`) || isFallback(adapter)
}

/** Older versions of WebGPU have this flag in the adapter, newer ones in its info. */
function isFallback(adapter: GPUAdapter): boolean {
  return Reflect.get(adapter.info, 'isFallbackAdapter') === true || Reflect.get(adapter, 'isFallbackAdapter') === true
}
