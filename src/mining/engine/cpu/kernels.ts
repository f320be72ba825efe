/** Chooses the kernel of a thread: the requested one, or the fastest that passes the self-test. */
import { describeError } from '#ground/base/errors.ts'
import { fastestOf } from './calibrate.ts'
import { createKernel } from './create-kernel.ts'
import { type Kernel, type TailLayout, tailLayout } from './kernel.ts'
import { type KernelName, type KernelPreference, kernelNames } from './names.ts'
import { chooseNative, loadChosen } from './native-choice.ts'
import { isNativeKernel, type NativeAddon } from './native-kernel.ts'
import { selfTestKernel, testAgreement } from './self-test.ts'

/**
 * No narrow kernel is faster than a wide one, so that it need not race: its self-test and its code take 5 MB a thread.
 */
const WIDE: ReadonlySet<string> = new Set<KernelName>(['native-avx512', 'native-avx2', 'native-neon'])
const NARROW: ReadonlySet<KernelName> = new Set(['wasm', 'native-sse41'])

interface KernelChoice {
  /** Null if all were refused. */
  readonly kernel: Kernel | null
  /** Why kernels that should work did not, a sentence each. */
  readonly refused: readonly string[]
  /** Why `auto` had no native kernel to choose from, or null if it had one. */
  readonly note: string | null
}

/**
 * Creates and tests kernels for work of this length: the requested one or, with `auto`, all candidates for the fastest,
 * which then race. `auto` uses JavaScript, which is never the fastest, only if nothing else passes.
 * @param random returns this number of random bytes
 * @param retired kernels that computed wrong results; if there are any, the preference no longer counts
 * @param loadAddon loads the native kernels
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
    if (retired.has(name) || !isSelected(name, wanted, addon)) continue
    if (passed.length > 0 && (wanted !== 'auto' || name === 'js')) continue
    if (NARROW.has(name) && passed.some((kernel) => WIDE.has(kernel.name))) continue
    for (const variant of variantsOf(name, layout, addon)) {
      const { kernel, failure } = testKernel(layout, variant, random)
      if (failure !== null) refused.push(failure)
      if (kernel === null) continue
      passed.push(kernel)
      break
    }
  }
  return { kernel: passed.length === 0 ? null : fastestOf(passed, () => performance.now()), refused, note }
}

/** A way to make a kernel. */
interface Variant {
  /** Name for people. */
  readonly title: string
  readonly create: () => Kernel
  /** Creates a kernel that must agree with it, or null. */
  readonly judge: (() => Kernel) | null
}

/** The remembered order, and `halves` in case that this one fails. */
function variantsOf(name: KernelName, layout: TailLayout, addon: NativeAddon): readonly Variant[] {
  const usual = { title: `kernel ${name}`, create: () => createKernel(name, layout, addon), judge: null }
  const order = addon.orders?.[name] ?? 'halves'
  if (order === 'halves') return [usual]
  const title = `order ${order} of kernel ${name}`
  return [{ title, create: () => createKernel(name, layout, addon, order), judge: usual.create }, usual]
}

/** Creates and tests a kernel. @returns the failure as a sentence, or null */
function testKernel(
  layout: TailLayout,
  { title: called, create, judge }: Variant,
  random: (bytes: number) => Uint8Array,
): { kernel: Kernel | null; failure: string | null } {
  try {
    const kernel = create()
    const failure =
      selfTestKernel(kernel, layout, random) ?? (judge === null ? null : testAgreement(kernel, judge(), layout, random))
    return failure === null
      ? { kernel, failure }
      : { kernel: null, failure: `${called} failed its self-test: ${failure}` }
  } catch (error) {
    return { kernel: null, failure: `${called} does not run here: ${describeError(error)}` }
  }
}

/** @returns the layout, or why no kernel can search this work, as a sentence */
function layoutOf(workBytes: number): TailLayout | string {
  try {
    return tailLayout(workBytes)
  } catch (error) {
    return `no CPU kernel can search this work: ${describeError(error)}`
  }
}

/**
 * Whether to try a kernel. A native kernel that this processor cannot run is skipped silently, unless requested by
 * name.
 */
function isSelected(name: KernelName, preference: KernelPreference, addon: NativeAddon): boolean {
  if (!isNativeKernel(name)) return preference === 'auto' || preference === name
  if (addon.obstacle !== null) return false
  return preference === name || ((preference === 'auto' || preference === 'native') && name in addon.sweeps)
}
