/** Power and energy in words. */
import { formatEfficiency, formatEnergy } from '#ground/base/units.ts'
import type { EnergySnapshot, EnergySource } from '#mining/mine/energy.ts'
import { countText } from './line.ts'

const origins: Readonly<Record<EnergySource, string>> = {
  package: 'of the whole processor',
  sensors: 'of cards and processor',
  stated: 'as stated',
  rigs: 'of the rigs',
}

/** `612 W  0.0512 J/MH`, or an empty text if the power is unknown. */
export function powerText({ watts, joulesPerMegahash }: Pick<EnergySnapshot, 'watts' | 'joulesPerMegahash'>): string {
  if (watts === null) return ''
  const efficiency = joulesPerMegahash === null ? [] : [formatEfficiency(joulesPerMegahash)]
  return [`${Math.round(watts)} W`, ...efficiency].join('  ')
}

/** Lines with everything that is known, and with what is not. */
export function energyTexts(energy: EnergySnapshot): string[] {
  const { source, joules, unread, problem } = energy
  const origin = source === null || energy.watts === null ? [] : [`${powerText(energy)}  ${origins[source]}`]
  const sum = joules === null ? [] : [`${formatEnergy(joules)} so far`]
  const known = [...origin, ...sum].join(', ')
  const what = source === 'rigs' ? 'searching rig' : 'searching device'
  return [
    ...(known === '' ? [] : [`power ${known}`]),
    ...(unread === 0 ? [] : [`without the power of ${countText(unread, what)}, which is unknown`]),
    ...(problem === null ? [] : [problem]),
  ]
}
