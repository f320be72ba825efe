/** Chooses the file of native kernels: the first that fits this machine and passes a short test. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tailLayout } from './kernel.ts'
import { findNative, type NativeFiles, type NativeOrigin, nativeOrigins, originFault } from './native-files.ts'
import { createNativeKernel, type KernelSchedules, loadNative, type NativeAddon, nativeNames } from './native-kernel.ts'
import { testBriefly } from './self-test.ts'

/** Plain data, which threads can receive as a message. */
export interface NativeChoice {
  /** The file to load, or null. */
  readonly file: string | null
  readonly origin: NativeOrigin | null
  /** Why there is no native kernel at all, as a sentence, or null. */
  readonly obstacle: string | null
  /** Why existing files are not used, a sentence each. */
  readonly passedOver: readonly string[]
  /** The measured orders of its kernels (native-order.ts). */
  readonly orders?: KernelSchedules
}

const ORIGINS: Readonly<Record<NativeOrigin, string>> = {
  prebuilt: 'the prebuilt native kernel',
  installed: 'the native kernel that was compiled at installation',
  cached: 'the native kernel in the cache',
}

/** For callers that need no native kernel. */
export const NO_NATIVE: NativeChoice = {
  file: null,
  origin: null,
  obstacle: 'kernel native is not built',
  passedOver: [],
}

/** Length of work on networks with ten or more chains. */
const WORK_BYTES = 286

/**
 * Loads the files in this thread, one by one, until one is usable. Each search thread tests its kernel again in depth
 * (self-test.ts).
 */
export function chooseNative(files: NativeFiles = findNative(process.env)): NativeChoice {
  const passedOver: string[] = []
  let { obstacle } = NO_NATIVE
  for (const origin of nativeOrigins) {
    const file = files[origin]
    if (!existsSync(file)) continue
    const fault = faultOf(file, origin)
    if (fault === null) return { file, origin, obstacle: null, passedOver }
    obstacle = fault
    passedOver.push(`${ORIGINS[origin]} is not used: ${fault}`)
  }
  return { file: null, origin: null, obstacle, passedOver }
}

/** Loads the chosen file in this thread. */
export function loadChosen({ file, obstacle, orders }: NativeChoice): NativeAddon {
  if (file === null) return { sweeps: {}, obstacle }
  return { ...loadNative(file), ...(orders !== undefined && { orders }) }
}

/** Why a file cannot be used, or null if it can. */
function faultOf(file: string, origin: NativeOrigin): string | null {
  const fault = originFault(file, origin)
  if (fault !== null) return fault
  const addon = loadNative(file)
  if (addon.obstacle !== null) return addon.obstacle
  const layout = tailLayout(WORK_BYTES)
  for (const name of nativeNames.filter((each) => each in addon.sweeps)) {
    const failure = testBriefly(createNativeKernel(name, layout, addon), layout, randomBytes)
    if (failure !== null) return `kernel ${name} failed its self-test: ${failure}`
  }
  return null
}
