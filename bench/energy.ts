/** Energy of hashes in benchmarks: that of the CPU packages, and that of a card. */
import type { AdapterInfo } from '../src/mining/engine/gpu/messages.ts'
import { HWMON_FOLDER, readHwmon } from '../src/mining/sensors/hwmon.ts'
import { askNvidia } from '../src/mining/sensors/nvidia.ts'
import {
  joulesBetween,
  type PackageCounter,
  POWERCAP_FOLDER,
  type PowercapProblem,
  problemText,
  readPackages,
} from '../src/mining/sensors/powercap.ts'

/** Timeout of a tool that reads cards. */
const TOOL_MS = 5000

/** Reads the counters of all packages. */
export type ReadPackages = () => Promise<readonly PackageCounter[] | PowercapProblem>

export const packagesHere: ReadPackages = () => readPackages(POWERCAP_FOLDER)

/** Energy of all CPU packages by contender. It includes that of idle cores and other programs. */
export class PackageEnergy {
  readonly #read: ReadPackages
  /** Why there are no figures, as a sentence, or null. */
  readonly problem: string | null
  readonly #samples = new Map<string, number[]>()
  #before: readonly PackageCounter[] | null = null

  private constructor(read: ReadPackages, problem: string | null) {
    this.#read = read
    this.problem = problem
  }

  static async open(read: ReadPackages): Promise<PackageEnergy> {
    const first = await read()
    return new PackageEnergy(read, 'problem' in first ? problemText(first) : null)
  }

  async start(): Promise<void> {
    this.#before = await this.#counters()
  }

  /** Adds a sample of a contender: the energy since start(), for this many hashes. */
  async end(name: string, hashes: number): Promise<void> {
    const after = await this.#counters()
    const joules = this.#before === null || after === null ? null : joulesBetween(this.#before, after)
    if (joules === null || hashes === 0) return
    const samples = this.#samples.get(name) ?? []
    samples.push((joules * 1e6) / hashes)
    this.#samples.set(name, samples)
  }

  /** @returns joules per million hashes of each sample, or null if none could be read */
  samplesOf(name: string): readonly number[] | null {
    return this.#samples.get(name) ?? null
  }

  async #counters(): Promise<readonly PackageCounter[] | null> {
    if (this.problem !== null) return null
    const counters = await this.#read()
    return 'problem' in counters ? null : counters
  }
}

/**
 * Reads the power of the only card of a vendor in watts. With several, the measured one is unknown.
 * @param env environment of nvidia-smi, with the PATH to find it
 * @param hwmon folder of the sensors of other cards
 */
export async function cardWatts(
  { vendor }: Pick<AdapterInfo, 'vendor'>,
  env: NodeJS.ProcessEnv = process.env,
  hwmon = HWMON_FOLDER,
): Promise<number | null> {
  const answer = vendor === 'nvidia' ? await askNvidia({ env, timeoutMs: TOOL_MS }) : await readHwmon(hwmon)
  const cards = typeof answer === 'string' ? [] : answer.filter((each) => each.kind === 'gpu' && each.vendor === vendor)
  return cards.length === 1 ? cards[0].watts : null
}

/** Why the power of a card is unknown, as a sentence. */
export function cardProblem({ name, software }: Pick<AdapterInfo, 'name' | 'software'>): string {
  return software
    ? `${name} is a software driver, which has no power of its own`
    : `no power of ${name} alone can be read: neither nvidia-smi nor hwmon has it, or there are several cards`
}
