import type { Outcome } from './simulation.ts'

/** One line for each violation of a run. */
export function failuresOf({ seed, faults, violations }: Outcome): string[] {
  return violations.map(({ invariant, atMs, detail }) => {
    return `seed ${seed}, ${Math.round(atMs)} ms: ${invariant}: ${detail} (${faults.join('; ')})`
  })
}
