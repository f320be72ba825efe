/** Creates a kernel by its name and order. */
import { createJsKernel } from './js-kernel.ts'
import type { Kernel, TailLayout } from './kernel.ts'
import type { KernelName, OrderName } from './names.ts'
import { createNativeKernel, isNativeKernel, type NativeAddon, ordersIn } from './native-kernel.ts'
import { createWasmKernel } from './wasm-kernel.ts'

/** The orders of a kernel, `halves` first. A kernel with one way only has that order. */
export function ordersOf(name: KernelName, addon: NativeAddon): readonly OrderName[] {
  if (isNativeKernel(name)) return ordersIn(addon, name)
  return name === 'wasm' ? ['halves', 'single'] : ['halves']
}

/**
 * @param order one of `ordersOf`
 * @throws an Error whose message continues "kernel NAME does not run here: "
 */
export function createKernel(
  name: KernelName,
  layout: TailLayout,
  addon: NativeAddon,
  order: OrderName = 'halves',
): Kernel {
  if (isNativeKernel(name)) return createNativeKernel(name, layout, addon, order)
  return name === 'wasm' ? createWasmKernel(layout, order === 'single' ? 1 : 2) : createJsKernel(layout)
}
