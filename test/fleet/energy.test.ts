/** Power and energy of a fleet: rigs report theirs to the leader, which sums them. */
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../src/ground/platform/clock.ts'
import { readNatsAddress } from '../../src/mining/fleet/address.ts'
import { FleetLink } from '../../src/mining/fleet/link.ts'
import { type MemberReport, MemberReportAnswer } from '../../src/mining/fleet/messages.ts'
import type { EnergySnapshot } from '../../src/mining/mine/energy.ts'
import { start, stopAll } from '../cli/run.ts'
import { describeWith, lackOf } from '../needs.ts'
import { startLoneLeader } from './lone-leader.ts'

const old: MemberReport = {
  rig: 'old',
  session: 'old',
  version: '1',
  hashes: 0,
  rate: null,
  state: 'searching',
  reason: null,
  accepted: 0,
  refused: 0,
  lease: null,
  seen: null,
}

describeWith(lackOf('nats-server'), 'a fleet', () => {
  afterEach(stopAll)

  it('a fleet has the sum of the power of its rigs, and says how many are not in it', async ({ onTestFinished }) => {
    const { nats, face } = await startLoneLeader(onTestFinished)
    const energy = async () => {
      const summary = (await (await fetch(`${face}/api/summary`)).json()) as { readonly energy: EnergySnapshot }
      return summary.energy
    }
    expect(await energy()).toMatchObject({ watts: null, joules: null, source: null, unread: 0 })
    const common = ['--fleet', nats.url, '--threads', '1', '--gpu', 'none', '--http', 'off', '--state', 'off']
    start(['mine', ...common, '--rig', 'alpha', '--watts', '100'])
    start(['mine', ...common, '--rig', 'beta', '--watts', '50'])
    const both = { source: 'rigs', watts: 150, unread: 0, problem: null }
    await expect.poll(energy).toMatchObject(both)
    await expect.poll(async () => (await energy()).joules).toBeGreaterThan(0)
    const { watts, hashrate, joulesPerMegahash } = await energy()
    expect(joulesPerMegahash).toBeCloseTo(((watts ?? 0) * 1e6) / (hashrate ?? 0), 6)
    const address = { addresses: [readNatsAddress(nats.url)], trust: {}, fleet: 'main' }
    const options = { ...address, agent: 'test', clock: systemClock, random: Math.random }
    const link = await FleetLink.open(options, null, new AbortController().signal)
    onTestFinished(() => link.close())
    await link.request(link.subjects.report, old, MemberReportAnswer, 3_000)
    expect(await energy()).toMatchObject({ source: 'rigs', watts: 150, unread: 1 })
    const text = await (await fetch(`${face}/metrics`)).text()
    expect(text).toMatch(/^newcut_energy_unread_devices 1$/m)
    expect(text).toMatch(/^newcut_energy_joules_total \d/m)
    expect(text).toMatch(/^newcut_joules_per_hash \d/m)
  })
})
