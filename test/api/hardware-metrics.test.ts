/** Sensors, power and energy in a scrape. */
import { expect, it } from 'vitest'
import { Metrics } from '../../src/faces/api/metrics.ts'
import type { HardwareSnapshot } from '../../src/mining/mine/hardware.ts'
import { NO_WINDOWS } from '../../src/mining/mine/hashrate.ts'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const nothing = { celsius: null, fanPercent: null, watts: null }

function hardware(engine: string, name: string, sensed: Partial<HardwareSnapshot>): HardwareSnapshot {
  const solutions = { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 }
  const of = { model: null, vendor: null, pci: null, hashes: 0, hashrates: NO_WINDOWS, solutions, hardwareErrors: 0 }
  return { ...nothing, name, engine, devices: [name], ...of, ...sensed }
}

/** The sensors and the energy in a scrape: name and labels -> value. */
async function scraped(metrics: Metrics): Promise<Record<string, number>> {
  const lines = (await metrics.scrape()).match(/^newcut_(?:temperature|fan|power_watts|energy|joules).*$/gm) ?? []
  return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]))
}

it('sensors have the units of their names, and no series once they are silent', async () => {
  let parts: Partial<Snapshot> = {
    hardware: [
      hardware('cpu', 'cpu', { celsius: 71.25 }),
      hardware('gpu', 'gpu0', { celsius: 0, fanPercent: 43, watts: 212.5 }),
    ],
  }
  const metrics = new Metrics(() => snapshotWith(parts), '0')
  expect(await scraped(metrics)).toEqual({
    'newcut_temperature_celsius{engine="cpu",device="cpu"}': 71.25,
    'newcut_temperature_celsius{engine="gpu",device="gpu0"}': 0,
    'newcut_fan_speed_ratio{engine="gpu",device="gpu0"}': 0.43,
    'newcut_power_watts{engine="gpu",device="gpu0"}': 212.5,
    newcut_energy_unread_devices: 0,
  })
  parts = { hardware: [hardware('gpu', 'gpu0', { fanPercent: 0 })] }
  expect(await scraped(metrics)).toEqual({
    'newcut_fan_speed_ratio{engine="gpu",device="gpu0"}': 0,
    newcut_energy_unread_devices: 0,
  })
})

it('energy is in joules, counts once, and stays when it is no longer read', async () => {
  const { energy } = snapshotWith()
  let parts: Partial<Snapshot> = { energy: { ...energy, unread: 2 } }
  const metrics = new Metrics(() => snapshotWith(parts), '0')
  expect(await scraped(metrics)).toEqual({ newcut_energy_unread_devices: 2 })
  for (const joules of [100, 250.5, 250.5]) {
    parts = { energy: { ...energy, joules, joulesPerMegahash: 3 } }
    expect(await scraped(metrics)).toEqual({
      ...{ newcut_energy_joules_total: joules, newcut_joules_per_hash: 0.000003, newcut_energy_unread_devices: 0 },
    })
  }
  parts = { energy: { ...energy, joules: null, joulesPerMegahash: null } }
  expect(await scraped(metrics)).toEqual({ newcut_energy_joules_total: 250.5, newcut_energy_unread_devices: 0 })
})
