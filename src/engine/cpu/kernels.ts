/** Which kernel a thread uses: the first of a preference that passes the self-test. */
import { describeError } from '../../core/errors.ts'
import { createJsKernel } from './js-kernel.ts'
import { type Kernel, type KernelName, type TailLayout, tailLayout } from './kernel.ts'
import { selfTest } from './self-test.ts'
import { createWasmKernel } from './wasm-kernel.ts'

export type KernelPreference = 'auto' | KernelName

/** All kernels, fastest first. */
const factories: readonly { readonly name: KernelName; readonly create: (layout: TailLayout) => Kernel }[] = [
  { name: 'wasm', create: createWasmKernel },
  { name: 'js', create: createJsKernel },
]

export const kernelNames: readonly KernelName[] = factories.map(({ name }) => name)

export interface KernelChoice {
  /** null when all were refused. */
  readonly kernel: Kernel | null
  /** Why kernels that come first were not taken, a sentence each. */
  readonly refused: readonly string[]
}

/**
 * Creates and tests kernels for work of this length until one passes. `random` returns that many random bytes. Once a
 * kernel is `retired` for having gone wrong, any other will do, whatever the preference was.
 */
export function chooseKernel(
  workBytes: number,
  preference: KernelPreference,
  random: (bytes: number) => Uint8Array,
  retired: ReadonlySet<KernelName> = new Set(),
): KernelChoice {
  const refused: string[] = []
  for (const { name, create } of factories) {
    if (retired.has(name) || (retired.size === 0 && preference !== 'auto' && preference !== name)) continue
    try {
      const layout = tailLayout(workBytes)
      const kernel = create(layout)
      const failure = selfTest(kernel, layout, random)
      if (failure === null) return { kernel, refused }
      refused.push(`kernel ${name} failed its self-test: ${failure}`)
    } catch (error) {
      refused.push(`kernel ${name} does not run here: ${describeError(error)}`)
    }
  }
  return { kernel: null, refused }
}
