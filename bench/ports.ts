/**
 * How many operations of each kind this processor starts in a cycle (native/ports.h), and the bound for kernels that
 * follows. No clock frequency is read: a chain of additions in general registers, one cycle each, tells the cycles.
 */

import { tailLayout } from '../src/engine/cpu/kernel.ts'
import type { NativeAddon, NativePorts } from '../src/engine/cpu/native-kernel.ts'
import type { OrderName } from '../src/engine/cpu/names.ts'
import { countOperations, operationGraph } from '../src/engine/cpu/operations.ts'

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
    const clock = Math.max(...Array.from({ length: HEATS }, () => this.clock()))
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

  /** Cycles in a millisecond now, or 0 without native kernels. */
  clock(): number {
    const run = portsOf(this.#addon, 'general')
    if (run === undefined) return 0
    return Math.max(...Array.from({ length: HEATS }, () => heat(run, KINDS.indexOf('addLatency'))))
  }

  /**
   * Hashes in a cycle of a processor that does nothing but the operations of the sweep, or null if unknown. General
   * registers may hash more beside vectors (order `mixed`).
   */
  hashesPerCycle(kernel: string, order: OrderName = 'halves'): number | null {
    const { total } = countOperations(operationGraph(tailLayout(WORK_BYTES)))
    for (const [width, lanes] of WIDTHS[kernel] ?? []) {
      const ports = this.#ports.get(width)
      if (ports === undefined) continue
      const vectors = 2
      const beside = order === 'mixed' ? (vectors * lanes + 1) / (vectors * lanes) : 1
      return (ports.mix / total) * lanes * beside
    }
    return null
  }
}

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

/** @returns operations in a millisecond */
function heat(run: NativePorts, kind: number): number {
  const count = Math.ceil(HEAT_OPERATIONS / Math.max(1, run(kind, 1)) / (kind > KINDS.indexOf('mix') ? 4 : 1))
  const startMs = performance.now()
  const operations = run(kind, count) * count
  return operations / (performance.now() - startMs)
}
