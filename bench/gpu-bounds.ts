/**
 * Upper bound of a card's hashrate by its integer units: lanes times clock divided by instructions per nonce. Available
 * for cards whose figures the platform reports.
 *
 * Instruction counts are static: `newcut bench shader` counts those of AMD, and ptxas 12.4 output for sm_90 gives those
 * of NVIDIA.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Bound {
  /** MH/s. */
  readonly rate: number
  /** Derivation of the bound, as text. */
  readonly text: string
}

/** Lanes per clock of NVIDIA's integer pipe in a multiprocessor. */
const NVIDIA_LANES = 64
/** Instructions per nonce on that pipe. Split sums (shaders/search.wgsl) move work to the multiplication pipe. */
const NVIDIA_INSTRUCTIONS = { plain: 662, split: 596 }

/** The bound of an NVIDIA card. `multiprocessors` and `clockMHz` come from the CUDA driver. */
export function nvidiaBound(multiprocessors: number, clockMHz: number, split: boolean): Bound {
  const instructions = split ? NVIDIA_INSTRUCTIONS.split : NVIDIA_INSTRUCTIONS.plain
  return {
    rate: (NVIDIA_LANES * multiprocessors * clockMHz) / instructions,
    text: `${NVIDIA_LANES} lanes x ${multiprocessors} multiprocessors x ${clockMHz} MHz / ${instructions} instructions`,
  }
}

/** Lanes per SIMD unit and instructions per nonce, by first instruction set version. */
const AMD_GENERATIONS = [
  // RDNA 1 and later.
  { from: 100_000, lanes: 32, instructions: 877 },
  // Vega: three-term sums, but no additional lanes.
  { from: 90_000, lanes: 16, instructions: 878 },
  { from: 0, lanes: 16, instructions: 951 },
]
const AMD_VENDOR = 4098
const NODES = '/sys/class/kfd/kfd/topology/nodes'

/**
 * The bound of this machine's AMD card, from Linux's compute driver.
 * @returns null without figures, and with several cards, because an adapter name does not identify the card
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

/** Reads the properties of each node: lines of name and number. CPU nodes have no SIMD units. */
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

/** A hashrate as a share of its bound. Above 100 % the bound is wrong, and the text says so. */
export function shareOf(rate: number, bound: Bound): string {
  const share = `${Math.round((100 * rate) / bound.rate)} %`
  return rate > bound.rate ? `${share}, so this bound is wrong` : share
}
