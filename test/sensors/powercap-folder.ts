/** Recorded powercap folders. */
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../api/running.ts'

interface Zone {
  readonly name: string
  /** Microjoules. */
  readonly energy: number
  readonly highest?: number
  /** Mode of the counter's file. */
  readonly mode?: number
}

/** A powercap folder as on Linux: a flat folder of zones, and of other files. */
export function powercapFolder(zones: Readonly<Record<string, Zone>>): string {
  const folder = join(temporaryFolder(), 'powercap')
  mkdirSync(join(folder, 'intel-rapl'), { recursive: true })
  writeFileSync(join(folder, 'intel-rapl', 'enabled'), '1\n')
  for (const [zone, { name, energy, highest = 262_143_328_850, mode = 0o444 }] of Object.entries(zones)) {
    mkdirSync(join(folder, zone))
    writeFileSync(join(folder, zone, 'name'), `${name}\n`)
    writeFileSync(join(folder, zone, 'max_energy_range_uj'), `${highest}\n`)
    writeFileSync(join(folder, zone, 'energy_uj'), `${energy}\n`, { mode: mode | 0o200 })
    if (mode !== 0o444) chmodSync(join(folder, zone, 'energy_uj'), mode)
  }
  return folder
}

/** Moves the counter of a zone on. A reader never sees an empty file. */
export function setCounter(folder: string, zone: string, microjoules: number): void {
  const file = join(folder, zone, 'energy_uj')
  writeFileSync(`${file}.next`, `${microjoules}\n`, { mode: statSync(file).mode })
  renameSync(`${file}.next`, file)
}

/** A folder with a package whose counter goes on by five joules every 100 ms. */
export function runningPackage(): string {
  const folder = powercapFolder({ 'intel-rapl:0': { name: 'package-0', energy: 0 } })
  let joules = 0
  const goOn = () => {
    joules += 5
    setCounter(folder, 'intel-rapl:0', joules * 1_000_000)
  }
  const timer = setInterval(goOn, 100)
  onTestFinished(() => clearInterval(timer))
  return folder
}
