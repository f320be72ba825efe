/** Creates a kernel by its name and order. */
import { createJsKernel } from './js-kernel.ts'
import type { Kernel, TailLayout } from './kernel.ts'
import type { KernelName, ScheduleName } from './names.ts'
import { createNativeKernel, isNativeKernel, type NativeAddon, schedulesIn } from './native-kernel.ts'
import { createWasmKernel } from './wasm-kernel.ts'

/** The orders of a kernel, `halves` first. A kernel with one way only has that order. */
export function schedulesOf(name: KernelName, addon: NativeAddon): readonly ScheduleName[] {
  if (isNativeKernel(name)) return schedulesIn(addon, name)
  return name === 'wasm' ? ['halves', 'single'] : ['halves']
}

/**
 * @param order one of `schedulesOf`
 * @throws an Error whose message continues "kernel NAME does not run here: "
 */
export function createKernel(
  name: KernelName,
  layout: TailLayout,
  addon: NativeAddon,
  order: ScheduleName = 'halves',
): Kernel {
  if (isNativeKernel(name)) return createNativeKernel(name, layout, addon, order)
  return name === 'wasm' ? createWasmKernel(layout, order === 'single' ? 1 : 2) : createJsKernel(layout)
}
