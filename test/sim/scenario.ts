/** The events of a seed: number of nodes, faults of the nodes and of the disk, and kills of the miner. */
import { diceOf } from './dice.ts'
import { type Family, families } from './faults.ts'

/** Faults begin and end between these times. */
export const FAULTS_FROM_MS = 2_000
export const FAULTS_TO_MS = 14_000

export interface Scenario {
  readonly nodes: number
  /** How long a node of higher priority has to be fit before failback. */
  readonly failbackMs: number
  /** Whether the first of several nodes is useless for long, while the others are well. */
  readonly isFirstUseless: boolean
  /** Whether the disk of the journal has faults. */
  readonly hasDiskFaults: boolean
  readonly kill: Kill | null
}

/** A kill of the miner, and its restart. */
export interface Kill {
  /** `write`: in the middle of a journal line. `power`: data that was not synced may be lost. */
  readonly kind: 'moment' | 'write' | 'power'
  readonly atMs: number
  readonly downMs: number
}

/** One node, a healthy disk and no kill. */
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
 * A third of the seeds of each family has several nodes; in half of these the first node is useless for long. Half of
 * all seeds has disk faults, a quarter a kill.
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
