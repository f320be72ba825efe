/**
 * The hash rate that the integer units of a card allow at most: how many instructions they take at once, times their
 * clock, by the instructions of the search. For cards whose figures the platform tells; all others have no bound.
 *
 * The instructions are counted, not measured: those of AMD by `newcut bench shader`, those of NVIDIA in what ptxas 12.4
 * makes of the same search for sm_90.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Bound {
  /** Million hashes a second. */
  readonly rate: number
  /** What it is made of. */
  readonly text: string
}

/** NVIDIA: instructions of the pipe for integer arithmetic, of which a multiprocessor takes 64 lanes a clock. */
const NVIDIA_LANES = 64
/** Split sums (shaders/search.wgsl) leave more to the pipe for multiplications. */
const NVIDIA_INSTRUCTIONS = { plain: 662, split: 596 }

/** `multiprocessors` and `clockMHz` as the CUDA driver tells them. */
export function nvidiaBound(multiprocessors: number, clockMHz: number, split: boolean): Bound {
  const instructions = split ? NVIDIA_INSTRUCTIONS.split : NVIDIA_INSTRUCTIONS.plain
  return {
    rate: (NVIDIA_LANES * multiprocessors * clockMHz) / instructions,
    text: `${NVIDIA_LANES} lanes x ${multiprocessors} multiprocessors x ${clockMHz} MHz / ${instructions} instructions`,
  }
}

/** First version of the instruction set, and what holds from it on: lanes of a SIMD unit and instructions a nonce. */
const AMD_GENERATIONS = [
  // RDNA 1 and later.
  { from: 100_000, lanes: 32, instructions: 877 },
  // Vega: sums of three terms, but no more lanes than before.
  { from: 90_000, lanes: 16, instructions: 878 },
  { from: 0, lanes: 16, instructions: 951 },
]
const AMD_VENDOR = 4098
const NODES = '/sys/class/kfd/kfd/topology/nodes'

/**
 * The bound of this machine's AMD card, by the figures of Linux's compute driver; null where there are none, and where
 * there are several cards: the name of an adapter does not say which one it is.
 */
export function amdBound(folder = NODES): Bound | null {
  const [card, ...others] = nodesIn(folder).filter((figures) => figures.get('vendor_id') === AMD_VENDOR)
  if (card === undefined || others.length > 0) return null
  const [units, clockMHz] = [card.get('simd_count') ?? 0, card.get('max_engine_clk_fcompute') ?? 0]
  const version = card.get('gfx_target_version') ?? 0
  const generation = AMD_GENERATIONS.find(({ from }) => version >= from)
  if (units === 0 || clockMHz === 0 || generation === undefined) return null
  const { lanes, instructions } = generation
  return {
    rate: (lanes * units * clockMHz) / instructions,
    text: `${lanes} lanes x ${units} SIMD units x ${clockMHz} MHz / ${instructions} instructions`,
  }
}

/** The figures of each node: lines of a name and a number. Processors are nodes without SIMD units. */
function nodesIn(folder: string): Map<string, number>[] {
  try {
    return readdirSync(folder)
      .map((node) => readFileSync(join(folder, node, 'properties'), 'utf8'))
      .map((text) => new Map(text.split('\n').map((line) => [line.split(' ')[0], Number(line.split(' ')[1])])))
      .filter((figures) => (figures.get('simd_count') ?? 0) > 0)
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** The share of a bound that a rate is. Above 100 % the bound is wrong, and says so. */
export function shareOf(rate: number, bound: Bound): string {
  const share = `${Math.round((100 * rate) / bound.rate)} %`
  return rate > bound.rate ? `${share}, so this bound is wrong` : share
}
