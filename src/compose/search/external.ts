/** Plans the engine for an external worker. */

import { systemClock } from '#ground/platform/clock.ts'
import { ExternalEngine } from '#mining/engine/external.ts'
import type { ExternalSearch } from '../setup.ts'
import type { EnginePlan } from './plan.ts'

export function externalPlan({ command }: ExternalSearch): EnginePlan {
  const make = async () => ({ engine: new ExternalEngine({ command, clock: systemClock }) })
  return { parts: JSON.stringify(['external', command]), make }
}
