/** Which devices are shown by themselves, and which together. For the miner and for the page. */
import type { DeviceSnapshot } from '../../mine/snapshot.ts'

/** An engine with more devices, such as many CPU threads, is shown as one. */
const MAX_DEVICES_SHOWN = 8
/** Most lines; devices beyond count in the total alone. */
export const MAX_LINES = 32

/** Line -> its devices: each by itself, or all of an engine with many. Names are those of devices and engines. */
export function groupsOf<T extends Pick<DeviceSnapshot, 'engine' | 'device'>>(devices: readonly T[]): Map<string, T[]> {
  const counts = new Map<string, number>()
  for (const { engine } of devices) counts.set(engine, (counts.get(engine) ?? 0) + 1)
  const groups = new Map<string, T[]>()
  for (const each of devices) {
    const name = (counts.get(each.engine) ?? 0) > MAX_DEVICES_SHOWN ? each.engine : each.device
    const group = groups.get(name)
    if (group !== undefined) group.push(each)
    else if (groups.size < MAX_LINES) groups.set(name, [each])
  }
  return groups
}

/** Sum of what is known of the rates over 10 s; null: of none. */
export function rateOf(devices: readonly Pick<DeviceSnapshot, 'hashrates'>[]): number | null {
  const rates = devices.flatMap(({ hashrates }) => hashrates['10s'] ?? [])
  return rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0)
}

/** More lines than this in one picture would be a thicket. */
const MAX_DRAWN = 6

/** Those that have a colour of their own: one alone is the total itself. */
export function drawnOf(names: readonly string[]): readonly string[] {
  return names.length > 1 && names.length <= MAX_DRAWN ? names : []
}

/** The present rate of each line. */
export function ratesOf(
  devices: readonly Pick<DeviceSnapshot, 'engine' | 'device' | 'hashrates'>[],
): Record<string, number | null> {
  return Object.fromEntries([...groupsOf(devices)].map(([name, group]) => [name, rounded(rateOf(group))]))
}

/** Four digits are more than a picture shows. */
export const rounded = (rate: number | null) => (rate === null ? null : Number(rate.toPrecision(4)))
