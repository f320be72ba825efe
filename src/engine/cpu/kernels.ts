/** Which kernel a thread uses: of those that pass the self-test the one asked for, or the fastest. */
import { describeError } from '../../core/errors.ts'
import { fastestOf } from './calibrate.ts'
import { createJsKernel } from './js-kernel.ts'
import { type Kernel, type TailLayout, tailLayout } from './kernel.ts'
import { type KernelName, type KernelPreference, kernelNames } from './names.ts'
import { chooseNative, loadChosen } from './native-choice.ts'
import { createNativeKernel, isNative, type NativeAddon, type NativeName } from './native-kernel.ts'
import { selfTest } from './self-test.ts'
import { createWasmKernel } from './wasm-kernel.ts'

type Create = (layout: TailLayout, addon: NativeAddon) => Kernel

const native = (name: NativeName): Create => {
  return (layout, addon) => createNativeKernel(name, layout, addon)
}

const creators: Readonly<Record<KernelName, Create>> = {
  'native-avx512': native('native-avx512'),
  'native-avx2': native('native-avx2'),
  'native-neon': native('native-neon'),
  wasm: createWasmKernel,
  'native-sse41': native('native-sse41'),
  js: createJsKernel,
}

export interface KernelChoice {
  /** null when all were refused. */
  readonly kernel: Kernel | null
  /** Kernels that should have worked but did not, a sentence each. */
  readonly refused: readonly string[]
  /** Why `auto` had no native kernel to choose from; null when it had. */
  readonly note: string | null
}

/**
 * Creates and tests kernels for work of this length: the one asked for, or with `auto` all that may be the fastest,
 * which then race (JavaScript only when nothing else passes: it is never the fastest). `random` returns that many
 * random bytes. Once a kernel is `retired` because it was wrong, any other may be chosen, whatever the preference.
 * `loadAddon` loads the native kernels.
 */
export function chooseKernel(
  workBytes: number,
  preference: KernelPreference,
  random: (bytes: number) => Uint8Array,
  retired: ReadonlySet<KernelName> = new Set(),
  loadAddon: () => NativeAddon = () => loadChosen(chooseNative()),
): KernelChoice {
  const layout = layoutOf(workBytes)
  if (typeof layout === 'string') return { kernel: null, refused: [layout], note: null }
  const wanted = retired.size === 0 ? preference : 'auto'
  const addon = wanted === 'wasm' || wanted === 'js' ? { sweeps: {}, obstacle: null } : loadAddon()
  const note = wanted === 'auto' ? addon.obstacle : null
  const refused = addon.obstacle === null || wanted === 'auto' ? [] : [addon.obstacle]
  const passed: Kernel[] = []
  for (const name of kernelNames) {
    if (retired.has(name) || !isWanted(name, wanted, addon)) continue
    if (passed.length > 0 && (wanted !== 'auto' || name === 'js')) continue
    try {
      const kernel = creators[name](layout, addon)
      const failure = selfTest(kernel, layout, random)
      if (failure === null) passed.push(kernel)
      else refused.push(`kernel ${name} failed its self-test: ${failure}`)
    } catch (error) {
      refused.push(`kernel ${name} does not run here: ${describeError(error)}`)
    }
  }
  return { kernel: passed.length === 0 ? null : fastestOf(passed, () => performance.now()), refused, note }
}

/** A sentence for work that no kernel can search. */
function layoutOf(workBytes: number): TailLayout | string {
  try {
    return tailLayout(workBytes)
  } catch (error) {
    return `no CPU kernel can search this work: ${describeError(error)}`
  }
}

/** A native kernel that this processor cannot run is skipped without a message, unless it was asked for by name. */
function isWanted(name: KernelName, preference: KernelPreference, addon: NativeAddon): boolean {
  if (!isNative(name)) return preference === 'auto' || preference === name
  if (addon.obstacle !== null) return false
  return preference === name || ((preference === 'auto' || preference === 'native') && name in addon.sweeps)
}
