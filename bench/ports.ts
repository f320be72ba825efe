/**
 * How many operations of each kind this processor starts in a cycle (native/ports.h), and the bound for kernels that
 * follows. No clock frequency is read: a chain of additions in general registers, one cycle each, measures the cycles.
 */

import { tailLayout } from '../src/mining/engine/cpu/kernel.ts'
import type { ScheduleName } from '../src/mining/engine/cpu/names.ts'
import type { NativeAddon, NativePorts } from '../src/mining/engine/cpu/native-kernel.ts'
import { countOperations, operationGraph } from '../src/mining/engine/cpu/operations.ts'

/** In the order of the kinds in ports.h. */
const KINDS = [
  'add',
  'xor',
  'rotate16',
  'rotate12',
  'rotate8',
  'rotate7',
  'mix',
  'addLatency',
  'xorLatency',
  'rotateLatency',
] as const
type Kind = (typeof KINDS)[number]

/** Operations that start in a cycle. A rotation counts as one, even where it takes several instructions. */
export type Ports = Readonly<Record<Kind, number>>

export const widths = ['avx512', 'avx2', 'avx', 'sse41', 'neon', 'general'] as const
export type Width = (typeof widths)[number]

/** Operations in a heat: some microseconds of work. */
const HEAT_OPERATIONS = 100_000
/** Operations of a window beside a window of a kernel: about half a millisecond. */
const WINDOW_OPERATIONS = 8_000_000
/** A disturbance only makes heats slower, so the best counts. */
const HEATS = 8
const WORK_BYTES = 286

/** The width of a kernel's operations and the nonces in a vector, the first that this machine has. */
const WIDTHS: Readonly<Record<string, readonly (readonly [width: Width, lanes: number])[]>> = {
  'native-avx512': [['avx512', 16]],
  'native-avx2': [['avx2', 8]],
  'native-sse41': [['sse41', 4]],
  'native-neon': [['neon', 4]],
  wasm: [
    ['avx', 4],
    ['sse41', 4],
    ['neon', 4],
  ],
  js: [['general', 1]],
}

export class PortBound {
  readonly #addon: NativeAddon
  readonly #ports: ReadonlyMap<Width, Ports>

  /** Measures all widths of this processor, for some 20 ms. */
  constructor(addon: NativeAddon) {
    this.#addon = addon
    const clock = cyclesPerMs(addon)
    this.#ports = new Map(
      widths.flatMap((width) => {
        const run = portsOf(addon, width)
        return run === undefined ? [] : [[width, measure(run, clock)] as const]
      }),
    )
  }

  get ports(): ReadonlyMap<Width, Ports> {
    return this.#ports
  }

  /**
   * Measures the bound now: the hashes in a millisecond of a processor that does nothing but the operations of the
   * sweep. Null if this width has no measurement. A neighbour slows this as it slows the kernel, so a share of the
   * bound takes both from alternating windows. General registers may hash more beside vectors (order `mixed`).
   */
  window(kernel: string, order: ScheduleName = 'halves'): number | null {
    for (const [width, lanes] of WIDTHS[kernel] ?? []) {
      const run = portsOf(this.#addon, width)
      if (run === undefined) continue
      const beside = order === 'mixed' ? 1 / (vectorsOf(width) * lanes) : 0
      return (heat(run, KINDS.indexOf('mix'), WINDOW_OPERATIONS) / OPERATIONS) * lanes * (1 + beside)
    }
    return null
  }
}

/** Operations of a hash in a sweep. */
const OPERATIONS = countOperations(operationGraph(tailLayout(WORK_BYTES))).total

/** Vectors that the order `mixed` hashes beside one nonce in general registers. */
const vectorsOf = (width: Width): number => (width === 'avx512' ? 2 : 1)

function portsOf({ exported = {} }: NativeAddon, width: Width): NativePorts | undefined {
  return exported[`ports ${width}`] as NativePorts | undefined
}

function measure(run: NativePorts, clock: number): Ports {
  const best = KINDS.map(() => 0)
  for (let round = 0; round < HEATS; round++) {
    for (const kind of KINDS.keys()) best[kind] = Math.max(best[kind], heat(run, kind) / clock)
  }
  return Object.fromEntries(KINDS.map((kind, index) => [kind, best[index]])) as Ports
}

/** Cycles in a millisecond, or 0 without native kernels. */
function cyclesPerMs(addon: NativeAddon): number {
  const run = portsOf(addon, 'general')
  if (run === undefined) return 0
  return Math.max(...Array.from({ length: HEATS * HEATS }, () => heat(run, KINDS.indexOf('addLatency'))))
}

/** @returns operations in a millisecond */
function heat(run: NativePorts, kind: number, operationCount = HEAT_OPERATIONS): number {
  const count = Math.ceil(operationCount / Math.max(1, run(kind, 1)) / (kind > KINDS.indexOf('mix') ? 4 : 1))
  const startMs = performance.now()
  const operations = run(kind, count) * count
  return operations / (performance.now() - startMs)
}
