/** The leader's sums of power and energy. */
import { expect, it } from 'vitest'
import { MemberEnergy } from '../../src/mining/engine/fleet/member-energy.ts'
import type { MemberReport } from '../../src/mining/fleet/messages.ts'

const energy = { watts: 100, joules: 1000, hashrate: 10e6, unread: 0 }

function report(session: string, parts: Partial<MemberReport> = {}) {
  return { session, state: 'searching', energy, ...parts } as const
}

it('the energy of a fleet is the sum of the energy that its rigs report', () => {
  const rigs = new MemberEnergy()
  expect(rigs.sums()).toEqual({ watts: null, joules: null, hashrate: null, unread: 0 })
  rigs.report(report('a'))
  rigs.report(report('b', { energy: { ...energy, watts: 50, hashrate: 5e6 } }))
  expect(rigs.sums()).toEqual({ watts: 150, joules: 0, hashrate: 15e6, unread: 0 })
})

it('the energy of a fleet counts rigs without a complete reading, and leaves them out', () => {
  const rigs = new MemberEnergy()
  rigs.report(report('a'))
  rigs.report({ session: 'older version', state: 'searching' })
  rigs.report(report('no sensor', { energy: { watts: null, joules: null, hashrate: null, unread: 1 } }))
  rigs.report(report('processor unread', { energy: { ...energy, unread: 1 } }))
  rigs.report(report('just started', { energy: { ...energy, hashrate: null } }))
  rigs.report({ session: 'paused', state: 'paused' })
  expect(rigs.sums()).toMatchObject({ watts: 100, hashrate: 10e6, unread: 4 })
})

it('the energy of a fleet adds what each rig uses after its first report, and keeps it when the rig leaves', () => {
  const rigs = new MemberEnergy()
  rigs.report(report('a'))
  rigs.report(report('a', { energy: { ...energy, joules: 1500 } }))
  rigs.report(report('b'))
  expect(rigs.sums().joules).toBe(500)
  rigs.leave('a')
  expect(rigs.sums()).toMatchObject({ watts: 100, joules: 500 })
  rigs.report(report('b', { energy: { ...energy, joules: 1250 } }))
  expect(rigs.sums().joules).toBe(750)
})

it('the energy of a fleet leaves out rigs while their reading is incomplete', () => {
  const rigs = new MemberEnergy()
  rigs.report(report('a'))
  rigs.report(report('a', { energy: { ...energy, joules: 1500, unread: 1 } }))
  rigs.report(report('a', { energy: { ...energy, joules: 1600 } }))
  expect(rigs.sums().joules).toBe(100)
})

it('the energy of a fleet never decreases', () => {
  const rigs = new MemberEnergy()
  rigs.report(report('a'))
  rigs.report(report('a', { energy: { ...energy, joules: 900 } }))
  rigs.report(report('a', { energy: { ...energy, joules: 1000 } }))
  expect(rigs.sums().joules).toBe(0)
})
