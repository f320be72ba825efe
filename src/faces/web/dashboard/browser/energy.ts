/** Shows power and energy below the devices. */
import { formatEfficiency, formatEnergy } from '#ground/base/units.ts'
import { element, write } from '../../kit/dom.ts'
import type { Snapshot } from '../state.ts'

type Energy = Snapshot['energy']

const origins: Readonly<Record<NonNullable<Energy['source']>, string>> = {
  package: 'whole processor',
  sensors: 'cards and processor',
  stated: 'as stated',
  rigs: 'all rigs',
}

/** Hides the line while nothing is known. Its title says why the power of the processor is unknown. */
export function showEnergy(energy: Energy): void {
  const texts = energyParts(energy)
  const line = element('energy')
  line.hidden = texts.length === 0
  line.title = energy.problem ?? ''
  write(line, texts.join(' · '))
}

function energyParts({ watts, joules, joulesPerMegahash, source, unread }: Energy): string[] {
  const known = [
    ...(watts === null || source === null ? [] : [`${Math.round(watts)} W (${origins[source]})`]),
    ...(joulesPerMegahash === null ? [] : [formatEfficiency(joulesPerMegahash)]),
    ...(joules === null ? [] : [formatEnergy(joules)]),
  ]
  if (known.length === 0 || unread === 0) return known
  return [...known, `without ${unread} whose power is unknown`]
}
