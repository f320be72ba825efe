/** Power and energy of the devices that search for a miner. Energy is the integral of power over the time that was read. */
import type { RigsEnergy } from '../engine/leader.ts'
import { deviceGroupsOf, type HardwareGroup, type SensorReading, searches } from './hardware.ts'
import type { EngineDevice, Rates } from './rates.ts'

/**
 * Origin of the figures. `package`: the counters of the CPU packages alone, so other programs are in it. `sensors`: cards,
 * and packages where they can be read. `stated`: the figure of the user. `rigs`: the reports of a fleet's rigs.
 */
export type EnergySource = 'package' | 'sensors' | 'stated' | 'rigs'

export interface EnergySnapshot {
  /** Present power draw of the devices that were read; null if none was. */
  readonly watts: number | null
  /** Energy of these devices since the start, over the time that was read; null if none was. */
  readonly joules: number | null
  /** Energy per million hashes at present; null if unknown, or while the devices that were read compute nothing. */
  readonly joulesPerMegahash: number | null
  /** Null if nothing was read. */
  readonly source: EnergySource | null
  /** Searching devices, or rigs of a leader, without a reading. None of the figures includes them. */
  readonly unread: number
  /** Hashes per second of the devices that were read, over 10 s; null if unknown. */
  readonly hashrate: number | null
  /** Why the power of the processor is unknown, and what to do about it; null if it is known or not needed. */
  readonly problem: string | null
}

/** Power that the user states, and what the sensors cannot know. */
export interface StatedPower {
  /** Power of the whole miner while it searches, such as that of a plug meter. Sensors do not count then. */
  readonly watts?: number | undefined
  /** Power of the rest of the machine, which is added to that of the sensors. Default: 0. */
  readonly baseWatts?: number | undefined
}

/** The reading of a device, with the time that its power covers. */
export interface TimedReading {
  readonly readAtMs: number
  /** Length of the time before `readAtMs` for which the power is known; 0 for a first reading and after a gap. */
  readonly spanMs: number
}

/** A longer time between two samples is a gap, in which the power is unknown. */
export const MAX_GAP_MS = 15_000

export const joulesPerMegahash = (watts: number | null, hashrate: number | null): number | null =>
  watts === null || hashrate === null || hashrate <= 0 ? null : (watts * 1e6) / hashrate

/** Power of the miner: readings, and statements of the user. */
export interface PowerPort {
  /** Current sensor readings of this machine. */
  readonly readings: () => readonly (SensorReading & TimedReading)[]
  /** Statements of the user. */
  readonly statedPower: () => StatedPower
  /** Why the power of the processor cannot be read, and what to do about it; null if it can. */
  readonly problem: () => string | null
}

const NOTHING: PowerPort = { readings: () => [], statedPower: () => ({}), problem: () => null }

type MeasuredGroup = HardwareGroup & { readonly reading: (SensorReading & TimedReading) | null }

/** Integrates the power of a miner. */
export class EnergyMeter {
  readonly #port: PowerPort
  readonly #rates: Rates
  /** Null until some time was read. */
  #joules: number | null = null
  /** By engine and name: the time of the last reading that was counted. */
  readonly #countedMs = new Map<string, number>()
  /** Power that applies to all the time between two samples, and the time of the last sample. */
  #steady: { readonly watts: number; readonly atMs: number } | null = null

  constructor(rates: Rates, port: PowerPort = NOTHING) {
    this.#port = port
    this.#rates = rates
  }

  /** Adds the energy since the last sample. */
  sample(nowMs: number, devices: readonly EngineDevice[], paused: boolean): void {
    const groups = this.groupsOf(devices)
    const { watts, baseWatts = 0 } = this.#port.statedPower()
    let steady: number | null = null
    if (watts !== undefined) {
      if (groups.some((group) => searches(group, paused))) steady = watts
    } else {
      for (const group of groups) this.#count(group)
      if (baseWatts > 0 && groups.some(isMeasured)) steady = baseWatts
    }
    const before = this.#steady
    this.#steady = steady === null ? null : { watts: steady, atMs: nowMs }
    if (before === null || steady === null || nowMs - before.atMs > MAX_GAP_MS) return
    this.#add((before.watts * (nowMs - before.atMs)) / 1000)
  }

  /** The devices by hardware, with their readings. */
  groupsOf(devices: readonly EngineDevice[]): readonly MeasuredGroup[] {
    return deviceGroupsOf(devices, this.#port.readings())
  }

  /** @param rigs the sums of a leader's rigs, which replace the devices of this machine */
  snapshot(groups: readonly MeasuredGroup[], paused: boolean, rigs?: RigsEnergy): EnergySnapshot {
    if (rigs !== undefined) return { ...figuresOf(rigs, rigs.watts === null ? null : 'rigs'), problem: null }
    const { watts: stated, baseWatts = 0 } = this.#port.statedPower()
    const joules = this.#joules
    const searching = groups.filter((group) => searches(group, paused))
    if (stated !== undefined) {
      const watts = searching.length > 0 ? stated : null
      const hashrate = this.#rates.total(searching.length > 0)['10s']
      return { ...figuresOf({ watts, joules, hashrate, unread: 0 }, 'stated'), problem: null }
    }
    const read = groups.filter(isMeasured)
    const unread = searching.filter((group) => !isMeasured(group))
    const watts = read.length === 0 ? null : read.reduce((sum, { reading }) => sum + (reading?.watts ?? 0), baseWatts)
    const rates = read.map((group) => this.#rates.ofHardware(group.engine, group.name, searches(group, paused))['10s'])
    const sums = { watts, joules, hashrate: sumOf(rates), unread: unread.length }
    return {
      ...figuresOf(sums, read.length === 0 ? null : read.every(isProcessor) ? 'package' : 'sensors'),
      problem: unread.some(isProcessor) ? this.#port.problem() : null,
    }
  }

  #count({ engine, name, reading }: MeasuredGroup): void {
    if (reading === null || reading.watts === null) return
    const key = `${engine}/${name}`
    if (this.#countedMs.get(key) === reading.readAtMs) return
    this.#countedMs.set(key, reading.readAtMs)
    if (reading.spanMs > 0) this.#add((reading.watts * reading.spanMs) / 1000)
  }

  #add(joules: number): void {
    this.#joules = (this.#joules ?? 0) + joules
  }
}

const isMeasured = ({ reading }: MeasuredGroup) => reading !== null && reading.watts !== null
const isProcessor = ({ name }: HardwareGroup) => name === 'cpu'

/** @returns null for an empty list, or if one is unknown */
function sumOf(rates: readonly (number | null)[]): number | null {
  if (rates.length === 0) return null
  return rates.reduce((sum, rate) => (sum === null || rate === null ? null : sum + rate))
}

function figuresOf(sums: RigsEnergy, source: EnergySource | null): Omit<EnergySnapshot, 'problem'> {
  const { watts, joules, hashrate, unread } = sums
  return { watts, joules, joulesPerMegahash: joulesPerMegahash(watts, hashrate), source, unread, hashrate }
}
