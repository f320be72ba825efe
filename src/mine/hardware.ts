/** What a miner mines with, as people count it: the processor with all its threads, each GPU; and how warm it is. */
import type { RateWindows } from './hashrate.ts'
import type { EngineDevice, Rates } from './rates.ts'
import type { DeviceTally, Tally } from './tally.ts'

/** Figures of sensors; null: not known. */
export interface Sensed {
  readonly celsius: number | null
  /** Speed of the fan in per cent of its highest. */
  readonly fanPercent: number | null
  /** Power drawn. */
  readonly watts: number | null
}

/** What the sensors of a processor or a card tell. */
export interface Reading extends Sensed {
  readonly kind: 'cpu' | 'gpu'
  /** Who made the card, in lower case, such as `nvidia`. */
  readonly vendor: string
  /** Name of the card; null: not known. */
  readonly model: string | null
  /** Place on the PCI bus, such as `01:00.0`; null: not known, or a processor. */
  readonly pci: string | null
}

export interface HardwareSnapshot extends Sensed, DeviceTally {
  /** `cpu`, `gpu0`, ...: the name that devices share, or that of the only device. */
  readonly name: string
  readonly engine: string
  /** Names of its present devices, such as threads. */
  readonly devices: readonly string[]
  readonly model: string | null
  readonly vendor: string | null
  /** Place on the PCI bus, such as `01:00.0`; null: not known, or a processor. */
  readonly pci: string | null
  /** With those of its devices that are gone. */
  readonly hashes: number
  readonly hashrates: RateWindows
}

interface HardwareParts {
  readonly devices: readonly EngineDevice[]
  /** Devices that are no longer there: what they did counts for the hardware that others shared with them. */
  readonly gone: readonly EngineDevice[]
  readonly rates: Rates
  readonly paused: boolean
  readonly tally: Tally
  readonly readings: readonly Reading[]
}

const UNKNOWN: Sensed & { readonly pci: null } = { celsius: null, fanPercent: null, watts: null, pci: null }

/** The devices by what they run on, the processor first. */
export function hardwareOf({ devices, gone, rates, paused, tally, readings }: HardwareParts): HardwareSnapshot[] {
  const groups = new Map<string, [EngineDevice, ...EngineDevice[]]>()
  for (const device of devices) {
    const key = `${device.engine}/${device.hardware ?? device.device}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [device])
    else group.push(device)
  }
  const all = [...groups.values()]
  const read = readingsFor(
    all.map(([first]) => first),
    readings,
  )
  const hardware = all.map((group, index): HardwareSnapshot => {
    const [{ engine, hardware: shared, device, model = null, vendor = null }] = group
    const name = shared ?? device
    const searches = !paused && group.some(({ state }) => state === undefined)
    const { celsius, fanPercent, watts, pci } = read[index] ?? UNKNOWN
    const names = group.map((each) => each.device)
    const former = gone.filter((each) => each.engine === engine && shared !== undefined && each.hardware === shared)
    const { solutions, hardwareErrors } = tally.sum([...names, ...former.map((each) => each.device)])
    return {
      ...{ name, engine, devices: names, model, vendor, pci, celsius, fanPercent, watts },
      hashes: [...group, ...former].reduce((sum, { hashes }) => sum + hashes, 0),
      hashrates: rates.ofHardware(engine, name, searches),
      solutions,
      hardwareErrors: hardwareErrors + errorsOf([...group, ...former]),
    }
  })
  const isProcessor = ({ name }: HardwareSnapshot) => name === 'cpu'
  return [...hardware.filter(isProcessor), ...hardware.filter((each) => !isProcessor(each))]
}

/** Claims that did not solve, and that the miner was not given to judge. */
export function errorsOf(devices: readonly EngineDevice[]): number {
  return devices.reduce((sum, { hardwareErrors = 0 }) => sum + hardwareErrors, 0)
}

/**
 * The reading for each device; null where none is surely its own. Cards are told apart by name, or by vendor where the
 * sensors tell no name. Of several alike, the first device has the first reading, but only where all of them mine:
 * otherwise nobody knows which do.
 */
export function readingsFor(devices: readonly EngineDevice[], readings: readonly Reading[]): (Reading | null)[] {
  const processors = readings.filter(({ kind }) => kind === 'cpu')
  const cards = readings.filter(({ kind }) => kind === 'gpu')
  return devices.map((device) => {
    if (device.hardware === 'cpu') return processors[0] ?? null
    if (device.model === undefined) return null
    const fitting = cards.filter((card) => fits(card, device))
    const rivals = devices.filter((other) => fitting.some((card) => fits(card, other)))
    return fitting.length === rivals.length ? (fitting[rivals.indexOf(device)] ?? null) : null
  })
}

function fits({ model, vendor }: Reading, device: EngineDevice): boolean {
  if (device.model === undefined) return false
  return model === null ? vendor === device.vendor : model === device.model
}
