/** Power and energy of a real miner, at all its interfaces. */
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import type { OwnSearch } from '../../src/mining/tune/own-search.ts'
import { paceSearch } from '../pace.ts'
import { runningPackage } from '../sensors/powercap-folder.ts'
import { type RunningMiner, startMiner } from './running.ts'

const energyOf = async (miner: RunningMiner) => ((await miner.json('/api/summary')) as Snapshot).energy
const scrape = async (miner: RunningMiner) => (await fetch(`${miner.url}/metrics`)).text()
/** Each poll asks the miner for its snapshot, until a window of its hashrate is full. */
const slowly = { interval: 200 }
/** A difficulty at which the miner hashes for its window, and finds few blocks meanwhile. */
const FEW_BLOCKS = 100_000_000n
paceSearch()

describe('the energy of a miner', () => {
  it('the energy of a miner comes from the package, and is in the summary, the backends and the metrics', async () => {
    const miner = await startMiner({ powercap: runningPackage(), difficulty: FEW_BLOCKS })
    const isKnown = async () => (await energyOf(miner)).joulesPerMegahash !== null
    await expect.poll(isKnown, slowly).toBe(true)
    const { watts, joules, hashrate, joulesPerMegahash, ...rest } = await energyOf(miner)
    expect(rest).toEqual({ source: 'package', unread: 0, problem: null })
    expect(watts).toBeGreaterThan(0)
    expect(joules).toBeGreaterThan(0)
    expect(joulesPerMegahash).toBeCloseTo(((watts ?? 0) * 1e6) / (hashrate ?? 1), 6)
    const [processor] = (await miner.json('/2/backends')) as { health: { power: number } }[]
    expect(processor.health.power).toBeGreaterThan(0)
    const text = await scrape(miner)
    expect(text).toMatch(/^newcut_power_watts\{engine="cpu",device="cpu"\} \d/m)
    expect(Number(/^newcut_energy_joules_total (\S+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(joules ?? 0)
    const perHash = Number(/^newcut_joules_per_hash (\S+)$/m.exec(text)?.[1])
    expect(perHash).toBeGreaterThan(0)
    expect(perHash).toBeLessThan((joulesPerMegahash ?? 0) / 1e5)
    expect(text).toMatch(/^newcut_energy_unread_devices 0$/m)
  })

  it('the energy of a miner is absent, and not 0, where nothing can be read', async () => {
    const miner = await startMiner()
    await expect.poll(async () => (await energyOf(miner)).problem).toContain('/nowhere has no package')
    expect(await energyOf(miner)).toMatchObject({ watts: null, joules: null, source: null, unread: 1 })
    const text = await scrape(miner)
    expect(text).not.toMatch(/^newcut_(power_watts|energy_joules_total|joules_per_hash)[ {]/m)
    expect(text).toMatch(/^newcut_energy_unread_devices 1$/m)
    const [processor] = (await miner.json('/2/backends')) as { health: { power: number | null } }[]
    expect(processor.health.power).toBeNull()
  })

  it('the energy of a miner comes from the power that the user states, which may change', async () => {
    const search: OwnSearch = { kind: 'own', threads: 1, kernel: 'auto', priority: 'low', gpu: null }
    const miner = await startMiner({ power: { watts: 85 } })
    await expect.poll(async () => (await energyOf(miner)).joules, slowly).toBeGreaterThan(0)
    expect(await energyOf(miner)).toMatchObject({ watts: 85, source: 'stated', unread: 0, problem: null })
    await miner.change({ search, power: { watts: 40.5 } })
    expect(await energyOf(miner)).toMatchObject({ watts: 40.5, source: 'stated' })
    await miner.change({ search })
    expect(await energyOf(miner)).toMatchObject({ watts: null, source: null, unread: 1 })
  })
})
