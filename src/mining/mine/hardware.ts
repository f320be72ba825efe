/** The hardware of a miner as users count it: one CPU with all its threads, each GPU, and their sensor readings. */
import type { RateWindows } from './hashrate.ts'
import type { EngineDevice, Rates } from './rates.ts'
import type { DeviceTally, Tally } from './tally.ts'

/** Sensor values; null if unknown. */
export interface SensorValues {
  readonly celsius: number | null
  /** Fan speed in per cent of its maximum. */
  readonly fanPercent: number | null
  /** Power draw. */
  readonly watts: number | null
}

/** Sensor readings of a CPU or a graphics card. */
export interface SensorReading extends SensorValues {
  readonly kind: 'cpu' | 'gpu'
  /** Vendor in lower case, such as `nvidia`. */
  readonly vendor: string
  /** Model name of the card, or null if unknown. */
  readonly model: string | null
  /** PCI address, such as `01:00.0`; null for a CPU or if unknown. */
  readonly pci: string | null
}

export interface HardwareSnapshot extends SensorValues, DeviceTally {
  /** `cpu`, `gpu0`, ...: the name that its devices share, or that of its only device. */
  readonly name: string
  readonly engine: string
  /** Names of its current devices, such as threads. */
  readonly devices: readonly string[]
  readonly model: string | null
  readonly vendor: string | null
  /** PCI address, such as `01:00.0`; null for a CPU or if unknown. */
  readonly pci: string | null
  /** Including devices that are gone. */
  readonly hashes: number
  readonly hashrates: RateWindows
}

interface HardwareParts {
  readonly groups: readonly (HardwareGroup & { readonly reading: SensorReading | null })[]
  /** Devices that are gone. Their counters stay with the hardware that they shared with others. */
  readonly gone: readonly EngineDevice[]
  readonly rates: Rates
  readonly paused: boolean
  readonly tally: Tally
}

const UNKNOWN: SensorValues & { readonly pci: null } = { celsius: null, fanPercent: null, watts: null, pci: null }

/** The devices of one piece of hardware. */
export interface HardwareGroup {
  readonly engine: string
  /** `cpu`, `gpu0`, ...: the name that its devices share, or that of its only device. */
  readonly name: string
  readonly devices: readonly [EngineDevice, ...EngineDevice[]]
}

/** Groups devices by hardware, and assigns the readings to the groups. */
export function deviceGroupsOf<R extends SensorReading>(
  devices: readonly EngineDevice[],
  readings: readonly R[],
): (HardwareGroup & { readonly reading: R | null })[] {
  const groups = new Map<string, [EngineDevice, ...EngineDevice[]]>()
  for (const device of devices) {
    const key = `${device.engine}/${device.hardware ?? device.device}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [device])
    else group.push(device)
  }
  const firstDevices = [...groups.values()].map(([first]) => first)
  const readingOf = readingsFor(firstDevices, readings)
  return [...groups.values()].map((group, index) => {
    const [{ engine, hardware, device }] = group
    return { engine, name: hardware ?? device, devices: group, reading: readingOf[index] ?? null }
  })
}

/** Whether any device of the group searches. */
export function searches({ devices }: HardwareGroup, paused: boolean): boolean {
  return !paused && devices.some(({ state }) => state === undefined)
}

/** The hardware with its counters and readings, the CPU first. */
export function hardwareOf({ groups, gone, rates, paused, tally }: HardwareParts): HardwareSnapshot[] {
  const hardware = groups.map((group): HardwareSnapshot => {
    const { engine, name, devices } = group
    const [{ hardware: sharedName, model = null, vendor = null }] = devices
    const { celsius, fanPercent, watts, pci } = group.reading ?? UNKNOWN
    const names = devices.map(({ device }) => device)
    const former =
      sharedName === undefined
        ? []
        : gone.filter((device) => device.engine === engine && device.hardware === sharedName)
    const { solutions, hardwareErrors } = tally.sum([...names, ...former.map(({ device }) => device)])
    return {
      name,
      engine,
      devices: names,
      model,
      vendor,
      pci,
      celsius,
      fanPercent,
      watts,
      hashes: [...devices, ...former].reduce((sum, { hashes }) => sum + hashes, 0),
      hashrates: rates.ofHardware(engine, name, searches(group, paused)),
      solutions,
      hardwareErrors: hardwareErrors + errorsOf([...devices, ...former]),
    }
  })
  const isProcessor = ({ name }: HardwareSnapshot) => name === 'cpu'
  return [...hardware.filter(isProcessor), ...hardware.filter((group) => !isProcessor(group))]
}

/** Hardware errors that the devices reported themselves, without a claim for the miner to check. */
export function errorsOf(devices: readonly EngineDevice[]): number {
  return devices.reduce((sum, { hardwareErrors = 0 }) => sum + hardwareErrors, 0)
}

/**
 * Assigns readings to devices. Cards match by model, or by vendor if the sensors report no model. Identical cards
 * cannot be distinguished, so they get readings, in order, only if every one of them mines.
 * @returns a reading for each device, or null if none is certainly its own
 */
export function readingsFor<R extends SensorReading>(
  devices: readonly EngineDevice[],
  readings: readonly R[],
): (R | null)[] {
  const processors = readings.filter(({ kind }) => kind === 'cpu')
  const cards = readings.filter(({ kind }) => kind === 'gpu')
  return devices.map((device) => {
    if (device.hardware === 'cpu') return processors[0] ?? null
    if (device.model === undefined) return null
    const candidates = cards.filter((card) => isReadingOf(card, device))
    const rivals = devices.filter((other) => candidates.some((card) => isReadingOf(card, other)))
    return candidates.length === rivals.length ? (candidates[rivals.indexOf(device)] ?? null) : null
  })
}

function isReadingOf({ model, vendor }: SensorReading, device: EngineDevice): boolean {
  if (device.model === undefined) return false
  return model === null ? vendor === device.vendor : model === device.model
}
