import type { Outcome } from './simulation.ts'

/** One line for each thing that must not happen and did. */
export function failuresOf({ seed, faults, violations }: Outcome): string[] {
  return violations.map(({ invariant, atMs, detail }) => {
    return `seed ${seed}, ${Math.round(atMs)} ms: ${invariant}: ${detail} (${faults.join('; ')})`
  })
}
