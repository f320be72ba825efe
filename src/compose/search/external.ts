/** Plans the engine for an external worker. */
import { ExternalEngine } from '../../engine/external.ts'
import { systemClock } from '../../platform/clock.ts'
import type { ExternalSearch } from '../setup.ts'
import type { Plan } from './plan.ts'

export function externalPlan({ command }: ExternalSearch): Plan {
  const make = async () => ({ engine: new ExternalEngine({ command, clock: systemClock }) })
  return { parts: JSON.stringify(['external', command]), make }
}
