/** Tells drivers that compute on the CPU from real GPUs. Runs wherever there is WebGPU. */
/// <reference types="@webgpu/types" />

/** SwiftShader, Mesa's llvmpipe and lavapipe, Windows' WARP, and Dawn's null backend, which computes nothing at all. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|\bwarp\b|null-backend/i

/** Whether an adapter is a software driver. `name`: what it is called beside its own description. */
export function isSoftware(adapter: GPUAdapter, name = ''): boolean {
  const { vendor, architecture, device, description } = adapter.info
  return SOFTWARE.test(`${name} ${vendor} ${architecture} ${device} ${description}`) || isFallback(adapter)
}

/** Older versions of WebGPU have this flag in the adapter, newer ones in its info. */
function isFallback(adapter: GPUAdapter): boolean {
  return Reflect.get(adapter.info, 'isFallbackAdapter') === true || Reflect.get(adapter, 'isFallbackAdapter') === true
}
