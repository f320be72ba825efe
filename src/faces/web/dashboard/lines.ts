/** Groups devices into lines, for the miner and for the page. */
import type { DeviceSnapshot } from '#mining/mine/snapshot.ts'

/** An engine with more devices, such as many CPU threads, becomes one line. */
const MAX_DEVICES_SHOWN = 8
/** Limit of lines. Further devices count in the total only. */
export const MAX_LINES = 32

/**
 * Maps a line to its devices: one device, or all devices of a large engine. Lines have the name of the device or
 * engine.
 */
export function devicesByLine<T extends Pick<DeviceSnapshot, 'engine' | 'device'>>(
  devices: readonly T[],
): Map<string, T[]> {
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

/** The sum of the known 10 s hashrates, or null if none is known. */
export function sumOfRates(devices: readonly Pick<DeviceSnapshot, 'hashrates'>[]): number | null {
  const rates = devices.flatMap(({ hashrates }) => hashrates['10s'] ?? [])
  return rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0)
}

/** A chart with more lines would be unreadable. */
const MAX_DRAWN = 6

/** The lines with a colour of their own. A single line equals the total and needs none. */
export function drawnOf(names: readonly string[]): readonly string[] {
  return names.length > 1 && names.length <= MAX_DRAWN ? names : []
}

/** The current hashrate of each line. */
export function ratesOf(
  devices: readonly Pick<DeviceSnapshot, 'engine' | 'device' | 'hashrates'>[],
): Record<string, number | null> {
  return Object.fromEntries([...devicesByLine(devices)].map(([name, group]) => [name, roundRate(sumOfRates(group))]))
}

/** Rounds to four digits, more than a chart can show. */
export const roundRate = (rate: number | null) => (rate === null ? null : Number(rate.toPrecision(4)))
