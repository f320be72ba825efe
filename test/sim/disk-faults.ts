/** Faults of the journal's disk. */
import { type DiskMode, diskModes, type SimulatedDisk } from './disk.ts'
import { pick } from './faults.ts'
import { FAULTS_FROM_MS, FAULTS_TO_MS } from './scenario.ts'

export interface DiskFault {
  /** `slow`: syncs take seconds, and writes take some time. */
  readonly name: Exclude<DiskMode, 'well'> | 'slow'
  readonly fromMs: number
  readonly toMs: number
}

/** One or two faults, one after the other. */
export function diskFaultsOf(random: () => number): DiskFault[] {
  const names = [...diskModes, 'slow'] as const
  const middle = FAULTS_FROM_MS + random() * (FAULTS_TO_MS - FAULTS_FROM_MS)
  const first = { name: pick(random, names), fromMs: 500 + random() * (middle - 500), toMs: middle }
  if (random() < 0.5) return [first]
  return [first, { name: pick(random, names), fromMs: middle + 1, toMs: middle + random() * (FAULTS_TO_MS - middle) }]
}

export function beginDiskFault(disk: SimulatedDisk, { name }: DiskFault, random: () => number): void {
  if (name !== 'slow') {
    disk.mode = name
    return
  }
  disk.syncMs = [500, 8_000]
  disk.writeMs = Math.floor(random() * 10)
}
