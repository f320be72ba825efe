/** Package energy of Linux powercap, from folders as recorded on Linux. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  joulesBetween,
  type PackageCounter,
  problemText,
  readPackages,
  wattsBetween,
} from '../../src/mining/sensors/powercap.ts'
import { Sensors } from '../../src/mining/sensors/sensors.ts'
import { hwmonFolder, temporaryFolder, ZEN } from '../api/running.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { powercapFolder, setCounter } from './powercap-folder.ts'

/** Reads the folder in a process that is not root's, because root may read everything. */
function readAsUser(folder: string): unknown {
  chmodSync(dirname(folder), 0o755)
  const module = new URL('../../dist/src/mining/sensors/powercap.js', import.meta.url)
  const script = `
    const { readPackages } = await import(${JSON.stringify(module.href)})
    if (process.getuid() === 0) process.seteuid(65534)
    console.log(JSON.stringify(await readPackages(${JSON.stringify(folder)})))
  `
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
}

const RANGE = 262_143_328_850
const counter = (microjoules: number, highest: number | null = RANGE, name = 'package-0'): PackageCounter => {
  return { name, microjoules, highest }
}

describe('powercap folder', () => {
  it('the powercap reader finds the counters of all packages, without their subzones and the whole platform', async () => {
    const folder = powercapFolder({
      'intel-rapl:0': { name: 'package-0', energy: 1_000_000 },
      'intel-rapl:0:0': { name: 'core', energy: 600_000 },
      'intel-rapl:0:2': { name: 'dram', energy: 200_000 },
      'intel-rapl:1': { name: 'package-1', energy: 2_000_000 },
      'intel-rapl:2': { name: 'psys', energy: 9_000_000 },
    })
    expect(await readPackages(folder)).toEqual([counter(1_000_000), counter(2_000_000, RANGE, 'package-1')])
  })

  it('the powercap reader finds each die of a package, and a package once that two drivers show', async () => {
    const folder = powercapFolder({
      'intel-rapl-mmio:0': { name: 'package-0-die-0', energy: 7 },
      'intel-rapl:0': { name: 'package-0-die-0', energy: 1 },
      'intel-rapl:1': { name: 'package-0-die-1', energy: 2 },
    })
    expect(await readPackages(folder)).toEqual([
      counter(1, RANGE, 'package-0-die-0'),
      counter(2, RANGE, 'package-0-die-1'),
    ])
  })

  it('the powercap folder may be missing, or have no package, as in a virtual machine', async () => {
    expect(await readPackages('/nowhere')).toEqual({ problem: 'absent', path: '/nowhere' })
    const folder = powercapFolder({ 'intel-rapl:0': { name: 'psys', energy: 1 } })
    expect(await readPackages(folder)).toEqual({ problem: 'absent', path: folder })
  })

  it('a powercap counter for root only gives no reading, and not a reading of 0', () => {
    const folder = powercapFolder({
      'intel-rapl:0': { name: 'package-0', energy: 1 },
      'intel-rapl:1': { name: 'package-1', energy: 1, mode: 0o000 },
    })
    const path = join(folder, 'intel-rapl:1', 'energy_uj')
    expect(readAsUser(folder)).toEqual({ problem: 'denied', path })
    chmodSync(path, 0o444)
    expect(readAsUser(folder)).toHaveLength(2)
  })

  it('a powercap counter without a number, or that cannot be read, gives no reading', async () => {
    const folder = powercapFolder({ 'intel-rapl:0': { name: 'package-0', energy: 1 } })
    const path = join(folder, 'intel-rapl:0', 'energy_uj')
    writeFileSync(path, '-1\n')
    expect(await readPackages(folder)).toEqual({ problem: 'failed', path })
    const other = temporaryFolder()
    mkdirSync(join(other, 'intel-rapl:0', 'energy_uj'), { recursive: true })
    writeFileSync(join(other, 'intel-rapl:0', 'name'), 'package-0\n')
    expect(await readPackages(other)).toMatchObject({ problem: 'failed' })
  })

  it('the problem of an unreadable powercap counter says what to do about it', () => {
    const text = problemText({ problem: 'denied', path: '/x/energy_uj' })
    expect(text).toBe('only root may read /x/energy_uj: a udev rule with chgrp and chmod g+r allows it for a group')
    expect(problemText({ problem: 'absent', path: '/x' })).toContain('does not report the power of the processor')
    expect(problemText({ problem: 'failed', path: '/x' })).toBe('/x has no number')
  })
})

describe('energy between two readings', () => {
  it('the energy between two readings is the sum of all packages in joules', () => {
    const before = [counter(1_000_000), counter(5_000_000, RANGE, 'package-1')]
    const after = [counter(3_000_000), counter(6_500_000, RANGE, 'package-1')]
    expect(joulesBetween(before, after)).toBe(3.5)
    expect(wattsBetween(before, after, 500)).toBe(7)
  })

  it('an energy counter continues at 0 after its highest value', () => {
    expect(joulesBetween([counter(RANGE - 999_999)], [counter(500_000)])).toBe(1.5)
    expect(joulesBetween([counter(2 ** 32 - 1, 2 ** 32 - 1)], [counter(0, 2 ** 32 - 1)])).toBe(1e-6)
  })

  it('the energy is unknown if a counter of unknown range turned over, or if the packages differ', () => {
    expect(joulesBetween([counter(2, null)], [counter(1, null)])).toBeNull()
    expect(joulesBetween([counter(1, null)], [counter(3_000_001, null)])).toBe(3)
    expect(joulesBetween([counter(1)], [counter(2, RANGE, 'package-1')])).toBeNull()
    expect(joulesBetween([counter(1)], [counter(2), counter(3, RANGE, 'package-1')])).toBeNull()
  })

  it('the energy is unknown if a counter started again, because no package draws so much', () => {
    expect(wattsBetween([counter(90_000_000)], [counter(10)], 5000)).toBeNull()
    expect(wattsBetween([counter(0)], [counter(10_000_000_000)], 5000)).toBe(2000)
    expect(wattsBetween([counter(0)], [counter(10_000_100_000)], 5000)).toBeNull()
    expect(wattsBetween([counter(0)], [counter(1)], 0)).toBeNull()
  })
})

describe('power of the processor', () => {
  function started(powercap: string, hwmon = '/nowhere') {
    const clock = new VirtualClock()
    /** Time in which the process was suspended. */
    const away = { ms: 0 }
    const delayed = { wallMs: clock.wallMs, after: clock.after, monotonicMs: () => clock.monotonicMs() + away.ms }
    const sensors = new Sensors({ clock: delayed, hwmon, powercap, env: { PATH: '/nowhere' }, hasCards: () => false })
    onTestFinished(() => sensors.stop())
    const next = async () => {
      await expect.poll(() => clock.pending).toBe(3)
      await clock.pass(5000)
      await settle()
      await expect.poll(() => clock.pending).toBe(3)
    }
    return { clock, away, sensors, next }
  }
  const onePackage = () => powercapFolder({ 'intel-rapl:0': { name: 'package-0', energy: 1_000_000 } })

  it('the power of the processor is the mean of the 5 s between two readings, beside the temperature', async () => {
    const folder = onePackage()
    const { clock, sensors, next } = started(folder, hwmonFolder([ZEN]))
    await expect.poll(() => clock.pending).toBe(3)
    expect(sensors.readings).toMatchObject([{ kind: 'cpu', celsius: 71.25, watts: null }])
    setCounter(folder, 'intel-rapl:0', 301_000_000)
    await next()
    expect(sensors.readings).toMatchObject([
      { kind: 'cpu', celsius: 71.25, watts: 60, readAtMs: 1_005_000, spanMs: 5000 },
    ])
    setCounter(folder, 'intel-rapl:0', 801_000_000)
    await next()
    expect(sensors.readings).toMatchObject([{ watts: 100, readAtMs: 1_010_000, spanMs: 5000 }])
    expect(sensors.powerProblem).toBeNull()
  })

  it('the power of the processor is known without a temperature sensor', async () => {
    const folder = onePackage()
    const { sensors, next } = started(folder)
    await next()
    expect(sensors.readings).toMatchObject([{ kind: 'cpu', celsius: null, watts: 0, spanMs: 5000 }])
  })

  it('the power of the processor is unknown while the counter cannot be read, and after that until two readings', async () => {
    const folder = onePackage()
    const { sensors, next } = started(folder)
    await next()
    expect(sensors.readings).toHaveLength(1)
    writeFileSync(join(folder, 'intel-rapl:0', 'energy_uj'), 'nothing\n')
    await next()
    expect(sensors.readings).toEqual([])
    expect(sensors.powerProblem).toContain('has no number')
    setCounter(folder, 'intel-rapl:0', 900_000_000)
    await next()
    expect(sensors.readings).toEqual([])
    expect(sensors.powerProblem).toBeNull()
    setCounter(folder, 'intel-rapl:0', 950_000_000)
    await next()
    expect(sensors.readings).toMatchObject([{ watts: 10 }])
  })

  it('the power of the processor is unknown after a gap between readings, and the time of a card starts again', async () => {
    const card = { name: 'amdgpu', power1_average: '200000000' }
    const hwmon = hwmonFolder([{ pci: '0000:03:00.0', files: card }])
    const folder = onePackage()
    const { clock, away, sensors, next } = started(folder, hwmon)
    const ofCard = () => sensors.readings.find(({ kind }) => kind === 'gpu')
    await expect.poll(() => clock.pending).toBe(3)
    expect(ofCard()).toMatchObject({ watts: 200, spanMs: 0 })
    await next()
    expect(ofCard()).toMatchObject({ watts: 200, spanMs: 5000 })
    away.ms = 16_000
    await next()
    expect(sensors.readings).toMatchObject([{ kind: 'gpu', watts: 200, spanMs: 0 }])
    await next()
    expect(sensors.readings).toMatchObject([{ kind: 'cpu', watts: 0, spanMs: 5000 }, { spanMs: 5000 }])
    writeFileSync(join(hwmon, 'hwmon0', 'power1_average'), '\n')
    await next()
    expect(ofCard()).toMatchObject({ watts: null })
    writeFileSync(join(hwmon, 'hwmon0', 'power1_average'), '100000000\n')
    await next()
    expect(ofCard()).toMatchObject({ watts: 100, spanMs: 0 })
  })
})
