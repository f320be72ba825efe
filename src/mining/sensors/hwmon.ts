/** Temperature, fan and power from Linux hwmon: a folder for each chip, a file for each value. */
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SensorReading } from '../mine/hardware.ts'
import { pciOf } from './nvidia.ts'

/** The hwmon folder of Linux. */
export const HWMON_FOLDER = '/sys/class/hwmon'

/** CPU drivers, with the labels of the package temperature, preferred label first. */
const PROCESSORS: Readonly<Record<string, readonly string[]>> = {
  k10temp: ['Tdie', 'Tctl'],
  zenpower: ['Tdie', 'Tctl'],
  coretemp: ['Package id 0'],
}
const HIGHEST_PWM = 255

/** Readings of CPUs and AMD cards, sorted by PCI address. Never rejects; returns an empty list without the folder. */
export async function readHwmon(folder: string): Promise<readonly SensorReading[]> {
  const names = await readdir(folder).catch(() => [])
  const read = await Promise.all(names.map((name) => readChip(join(folder, name))))
  return read.flatMap((reading) => reading ?? []).sort((a, b) => (a.pci ?? '').localeCompare(b.pci ?? ''))
}

async function readChip(folder: string): Promise<SensorReading | null> {
  const driver = await textOf(join(folder, 'name'))
  if (driver === null) return null
  if (Object.hasOwn(PROCESSORS, driver)) return readProcessor(folder, PROCESSORS[driver])
  return driver === 'amdgpu' ? readAmdCard(folder) : null
}

async function readProcessor(folder: string, labels: readonly string[]): Promise<SensorReading> {
  const files = await readdir(folder).catch(() => [])
  const inputs = files.flatMap((file) => /^(temp\d+)_input$/.exec(file)?.[1] ?? [])
  const temperatures = await Promise.all(
    inputs.map(async (input) => ({
      label: await textOf(join(folder, `${input}_label`)),
      celsius: await figureOf(join(folder, `${input}_input`), 1000),
    })),
  )
  const best = labels.map((wanted) => temperatures.find(({ label }) => label === wanted)).find(Boolean)
  const known = temperatures.flatMap(({ celsius }) => celsius ?? [])
  const celsius = best?.celsius ?? (known.length > 0 ? Math.max(...known) : null)
  return { kind: 'cpu', vendor: '', model: null, pci: null, celsius, fanPercent: null, watts: null }
}

async function readAmdCard(folder: string): Promise<SensorReading> {
  const figure = (name: string, scale: number) => figureOf(join(folder, name), scale)
  const [celsius, pwm, average, input] = await Promise.all([
    figure('temp1_input', 1000),
    figure('pwm1', HIGHEST_PWM / 100),
    figure('power1_average', 1e6),
    // Newer cards report only the instantaneous power.
    figure('power1_input', 1e6),
  ])
  const device = await realpath(join(folder, 'device')).catch(() => '')
  return {
    kind: 'gpu',
    vendor: 'amd',
    model: null,
    pci: pciOf(basename(device)),
    celsius,
    fanPercent: pwm === null ? null : Math.round(pwm),
    watts: average ?? input,
  }
}

/** @returns null if the file is missing or the chip does not answer */
async function textOf(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null ? null : text.trim()
}

async function figureOf(path: string, scale: number): Promise<number | null> {
  const text = await textOf(path)
  return text !== null && /^-?\d+$/.test(text) ? Number(text) / scale : null
}
