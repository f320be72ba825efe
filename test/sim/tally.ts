/** The totals of many seeds: collected as they end, in any order, and printed at the end. */
import type { Extremes } from './report.ts'
import type { Outcome } from './simulation.ts'

/** Recovery later than this counts as slow. */
const QUICK_MS = 2_000
/** Failing seeds that are printed in full, and slow seeds that are listed. */
const MAX_SHOWN = 50
/** Seeds listed for each kind of failure. */
const MAX_NAMED = 10

export class Tally {
  done = 0
  failed = 0
  readonly #slow: number[] = []
  readonly #recoveries = new Map<string, { seeds: number; late: number; worstMs: number; worst: number }>()
  readonly #kinds = new Map<string, number[]>()
  readonly #verdicts = new Map<string, number>()
  readonly #extremes = new Map<keyof Extremes, { value: number; seed: number }>()

  add(outcome: Outcome): void {
    const { seed, family, extremes, violations, verdicts } = outcome
    this.done++
    for (const [verdict, count] of Object.entries(verdicts)) {
      this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + count)
    }
    for (const [name, value] of Object.entries(extremes) as [keyof Extremes, number][]) {
      if (value > (this.#extremes.get(name)?.value ?? -1)) this.#extremes.set(name, { value, seed })
    }
    const known = this.#recoveries.get(family) ?? { seeds: 0, late: 0, worstMs: 0, worst: seed }
    const { recoveryMs } = extremes
    const isLate = recoveryMs > QUICK_MS
    if (isLate) this.#slow.push(seed)
    this.#recoveries.set(family, {
      seeds: known.seeds + 1,
      late: known.late + Number(isLate),
      worstMs: Math.max(known.worstMs, recoveryMs),
      worst: recoveryMs > known.worstMs ? seed : known.worst,
    })
    if (violations.length > 0 && ++this.failed <= MAX_SHOWN) console.log(describe(outcome))
    for (const name of new Set(violations.map(({ invariant }) => invariant))) {
      const seeds = this.#kinds.get(name) ?? []
      this.#kinds.set(name, seeds)
      seeds.push(seed)
    }
  }

  tell(): void {
    for (const [name, seeds] of this.#kinds) {
      console.log(`${seeds.length} x ${name}: seeds ${firstOf(seeds, MAX_NAMED)}`)
    }
    for (const [family, { seeds: count, late, worstMs, worst }] of this.#recoveries) {
      const share = `${late} of ${count} seeds recovered later than ${QUICK_MS} ms after the end of their faults`
      console.log(`${family}: ${share}; slowest: ${Math.round(worstMs)} ms (seed ${worst})`)
    }
    if (this.#slow.length > 0) console.log(`recovered later: seeds ${firstOf(this.#slow, MAX_SHOWN)}`)
    console.log(`solutions: ${[...this.#verdicts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`)
    for (const [name, { value, seed }] of this.#extremes) {
      console.log(`most ${name}: ${Math.round(value)} (seed ${seed})`)
    }
  }
}

/** The seed, its faults and its violations. */
export function describe({ seed, family, faults, violations }: Outcome): string {
  const lines = violations.map(({ atMs, invariant, detail }) => `    ${Math.round(atMs)} ms: ${invariant}: ${detail}`)
  return [`seed ${seed} (${family}): ${faults.join('; ')}`, ...lines].join('\n')
}

function firstOf(seeds: readonly number[], most: number): string {
  return seeds
    .toSorted((a, b) => a - b)
    .slice(0, most)
    .join(', ')
}
