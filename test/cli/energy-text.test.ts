/** Power and energy on the console. */
import { describe, expect, it } from 'vitest'
import { answerOf } from '../../src/faces/cli/answers.ts'
import { energyTexts, powerText } from '../../src/faces/cli/energy-text.ts'
import { linesOf } from '../../src/faces/cli/lines.ts'
import { statusText } from '../../src/faces/cli/status.ts'
import { formatEfficiency, formatEnergy } from '../../src/ground/base/units.ts'
import type { EnergySnapshot } from '../../src/mining/mine/energy.ts'
import type { HardwareSnapshot } from '../../src/mining/mine/hardware.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const energy: EnergySnapshot = {
  ...{ watts: 61.6, joules: 4_500_000, joulesPerMegahash: 0.0512, source: 'package' },
  ...{ unread: 0, hashrate: 1.2e9, problem: null },
}
const cpu: HardwareSnapshot = {
  ...{ name: 'cpu', engine: 'cpu', devices: ['thread0'], model: null, vendor: null, pci: null, hashes: 1 },
  ...{ hashrates: { '10s': 1.2e9, '60s': null, '15m': null, highest: null }, hardwareErrors: 0 },
  solutions: { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0 },
  ...{ celsius: 71, fanPercent: null, watts: 60 },
}

describe('energy in words', () => {
  it('the console writes energy in watt-hours with prefixes, and joules per million hashes with three digits', () => {
    expect([0, 900, 4_500_000].map(formatEnergy)).toEqual(['0 Wh', '0.25 Wh', '1.25 kWh'])
    expect([0.0000971, 0.0512, 3, 1234].map(formatEfficiency)).toEqual([
      ...['0.0000971 J/MH', '0.0512 J/MH', '3 J/MH', '1.23 kJ/MH'],
    ])
  })

  it('the console says where the power comes from, what it was so far, and what is unknown', () => {
    expect(energyTexts(energy)).toEqual(['power 62 W  0.0512 J/MH  of the whole processor, 1.25 kWh so far'])
    expect(energyTexts({ ...energy, joules: null, source: 'stated' })).toEqual(['power 62 W  0.0512 J/MH  as stated'])
    expect(energyTexts({ ...energy, watts: null, joulesPerMegahash: null, source: 'stated' })).toEqual([
      'power 1.25 kWh so far',
    ])
    expect(energyTexts({ ...energy, source: 'rigs', unread: 2 })).toEqual([
      'power 62 W  0.0512 J/MH  of the rigs, 1.25 kWh so far',
      'without the power of 2 searching rigs, which is unknown',
    ])
  })

  it('the console shows no figure of 0 if nothing is known, but the reason', () => {
    const unknown = { watts: null, joules: null, joulesPerMegahash: null, source: null, hashrate: null } as const
    expect(powerText(unknown)).toBe('')
    expect(energyTexts({ ...unknown, unread: 1, problem: 'only root may read it' })).toEqual([
      'without the power of 1 searching device, which is unknown',
      'only root may read it',
    ])
  })
})

describe('the console', () => {
  const snapshot = snapshotWith({ energy, hardware: [cpu] })
  const texts = (lines: readonly { readonly text: string }[]) => lines.map(({ text }) => text)

  it('the console shows power and energy at the key e, with that of each device', () => {
    const lines = texts(answerOf('e', snapshot))
    expect(lines).toContain('cpu     1.20 GH/s  71 C  60 W  0.0500 J/MH')
    expect(lines).toContain('power 62 W  0.0512 J/MH  of the whole processor, 1.25 kWh so far')
  })

  it('the console shows the power in the status line, in lines of speed and at the end', () => {
    const plain = (_style: unknown, text: string) => text
    expect(statusText(snapshot, 200, plain)).toContain('71 C  62 W  0.0512 J/MH')
    expect(texts(linesOf({ type: 'speed', snapshot }))[1]).toBe('0 accepted  71 C  62 W  0.0512 J/MH')
    const several = linesOf({
      type: 'speed',
      snapshot: snapshotWith({ energy, hardware: [cpu, { ...cpu, name: 'b' }] }),
    })
    expect(texts(several)[2]).toBe('cpu     1.20 GH/s  71 C  60 W  0.0500 J/MH')
    expect(texts(linesOf({ type: 'summary', snapshot }))).toContain(
      'power 62 W  0.0512 J/MH  of the whole processor, 1.25 kWh so far',
    )
    expect(texts(linesOf({ type: 'summary', snapshot: snapshotWith() })).join()).not.toContain('power')
  })
})
