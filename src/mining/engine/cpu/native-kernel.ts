/** The native kernels: compiled from native/kernel.c for several vector widths. native-choice.ts finds the file. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describeError } from '#ground/base/errors.ts'
import type { Kernel, TailLayout } from './kernel.ts'
import { type KernelName, type ScheduleName, scheduleNames } from './names.ts'

export type NativeName = Extract<KernelName, `native-${string}`>

interface Width {
  /** Instruction set that the processor needs. */
  readonly instructions: string
  /** Lanes of two vectors. */
  readonly lanes: number
  readonly sliceNonces: number
}

/** The widest first. On Zen 4: 110, 70 and 31 million nonces per second and core. NEON is not measured. */
const WIDTHS: Readonly<Record<NativeName, Width>> = {
  'native-avx512': { instructions: 'AVX-512', lanes: 32, sliceNonces: 16_384 },
  'native-avx2': { instructions: 'AVX2', lanes: 16, sliceNonces: 32_768 },
  'native-sse41': { instructions: 'SSE4.1', lanes: 8, sliceNonces: 16_384 },
  'native-neon': { instructions: 'NEON', lanes: 8, sliceNonces: 16_384 },
}

export const nativeNames = Object.keys(WIDTHS) as readonly NativeName[]

export function isNativeKernel(name: KernelName): name is NativeName {
  return name in WIDTHS
}

/** `struct job` of native/kernel.c, by index of u32 words. */
const JOB = { midstate: 0, message: 8, bound: 24, totalBytes: 25, swept: 26, words: 27 } as const

/** `job` as above; `from`, `to` and the result as in kernel.ts. */
type NativeSweep = (job: Uint32Array, from: number, to: number) => number

/** Executes `count` times the operations of a kind (native/ports.h). @returns how many one time has */
export type NativePorts = (kind: number, count: number) => number

/** The order of each kernel; `halves` for others. */
export type KernelSchedules = Readonly<Partial<Record<KernelName, ScheduleName>>>

/** The loaded file. */
export interface NativeAddon {
  /** The kernels that run on this processor, in the order `halves`. */
  readonly sweeps: Readonly<Partial<Record<NativeName, NativeSweep>>>
  /** Everything that the file exports, by name (native/kernel.c). Tests leave it out. */
  readonly exported?: Readonly<Record<string, unknown>>
  /** The orders to use. */
  readonly orders?: KernelSchedules
  /** Why there is no native kernel at all, as a sentence, or null. */
  readonly obstacle: string | null
}

/**
 * Loads the compiled file in this thread. A missing file, or one for another system or processor, gives an `obstacle`.
 */
export function loadNative(file: string): NativeAddon {
  if (!existsSync(file)) return { sweeps: {}, obstacle: 'kernel native is not built' }
  try {
    const exported: Record<string, unknown> = createRequire(import.meta.url)(file)
    const present = nativeNames.filter((name) => exported[name] !== undefined)
    const sweeps: NativeAddon['sweeps'] = Object.fromEntries(present.map((name) => [name, exported[name]]))
    if (present.length > 0) return { sweeps, exported, obstacle: null }
    const wanted = nativeNames.map((name) => WIDTHS[name].instructions).join(', ')
    return { sweeps, obstacle: `kernel native does not run here: this processor has none of ${wanted}` }
  } catch (error) {
    return { sweeps: {}, obstacle: `kernel native does not load: ${describeError(error)}` }
  }
}

/** The orders of a kernel in this file, `halves` first. */
export function schedulesIn(addon: NativeAddon, name: NativeName): readonly ScheduleName[] {
  return scheduleNames.filter((order) => sweepOf(addon, name, order) !== undefined)
}

function sweepOf(
  { sweeps, exported = {} }: NativeAddon,
  name: NativeName,
  order: ScheduleName,
): NativeSweep | undefined {
  return order === 'halves' ? sweeps[name] : (exported[`${name} ${order}`] as NativeSweep | undefined)
}

/** @throws an Error whose message continues "kernel NAME does not run here: " */
export function createNativeKernel(
  name: NativeName,
  layout: TailLayout,
  addon: NativeAddon,
  order: ScheduleName = 'halves',
): Kernel {
  const run = sweepOf(addon, name, order)
  const { instructions, lanes, sliceNonces } = WIDTHS[name]
  if (run === undefined) throw new Error(addon.obstacle ?? `this processor has no ${instructions}`)
  const nonce = JOB.message + layout.nonceWord
  const job = new Uint32Array(JOB.words)
  job[JOB.totalBytes] = layout.totalBytes
  job[JOB.swept] = layout.nonceWord + 2
  return {
    name,
    lanes,
    sliceNonces,
    setWork(midstate, tail, bound) {
      job.set(midstate, JOB.midstate)
      job.set(tail, JOB.message)
      job[JOB.bound] = bound
    },
    sweep(low, middle, from, to) {
      job[nonce] = (job[nonce] & 0xffff) | (low << 16)
      job[nonce + 1] = middle
      return run(job, from, to)
    },
  }
}
