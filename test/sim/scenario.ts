/** What happens in a seed: how many nodes there are, what goes wrong with them, with the disk, and with the miner. */
import { diceOf } from './dice.ts'
import { type Family, families } from './faults.ts'

/** Faults happen between these times. */
export const FAULTS_FROM_MS = 2_000
export const FAULTS_TO_MS = 14_000

export interface Scenario {
  readonly nodes: number
  /** How long a node of higher priority has to be fit before it gives work again. */
  readonly failbackMs: number
  /** Whether the first of several nodes is of no use for long, while the others are well. */
  readonly isFirstUseless: boolean
  /** Whether the disk of the journal goes wrong. */
  readonly hasDiskFaults: boolean
  readonly kill: Kill | null
}

/** The end of the miner without a warning, and its next start. */
export interface Kill {
  /** `write`: in the middle of a line of the journal. `power`: what the disk has not got yet may be lost. */
  readonly kind: 'moment' | 'write' | 'power'
  readonly atMs: number
  readonly downMs: number
}

/** One node, a disk that is well, and nobody kills the miner. */
export const plainScenario: Scenario = {
  nodes: 1,
  failbackMs: 60_000,
  isFirstUseless: false,
  hasDiskFaults: false,
  kill: null,
}

export function familyOf(seed: number): Family {
  return families[seed % families.length]
}

/**
 * A third of the seeds of each family has several nodes, the first of them of no use for long in a half. A half of all
 * seeds has a disk that goes wrong, a quarter a kill.
 */
export function scenarioOf(seed: number): Scenario {
  const random = diceOf(seed, 'scenario')
  const nodes = Math.floor(seed / families.length) % 3 === 2 ? 2 + Number(random() < 0.4) : 1
  const failbackMs = random() < 0.5 ? 3_000 : 6_000
  const hasDiskFaults = random() < 0.5
  const isKilled = random() < 0.25
  const kind = (['moment', 'write', 'power'] as const)[Math.floor(random() * 3)]
  const atMs = 1_000 + random() * (FAULTS_TO_MS + 3_000)
  const kill = isKilled ? { kind, atMs, downMs: 1_000 + random() * 3_000 } : null
  const isFirstUseless = nodes > 1 && diceOf(seed, 'of no use')() < 0.5
  return { nodes, failbackMs, isFirstUseless, hasDiskFaults, kill }
}
