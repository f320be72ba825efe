/** `POST /devnet/simulate`: runs commands in temporary blocks. */
import { withFirstOf } from '#ground/base/signals.ts'
import { controlOperations } from '#ground/schema/control.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { TaskQueue } from '../../control/queue.ts'
import { InvalidRow } from '../../ledger/row-json.ts'
import type { SimulatorParts } from '../../simulation/simulation.ts'
import type * as simulator from '../../simulation/simulator.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { RequestRefused, refusalOf } from '../refusal.ts'
import type { Router } from '../router.ts'
import { callerLeft } from './control.ts'

/** Loaded with the first simulation. */
type Simulator = typeof simulator

/** @param stopped aborted with ControlError when the node stops */
export function addSimulateRoute(router: Router, parts: SimulatorParts, stopped: AbortSignal): void {
  const queue = new TaskQueue()
  router.serve(controlOperations.simulate, async ({ body }, reply) => {
    try {
      const text = await withFirstOf([stopped, callerLeft(reply)], (signal) =>
        queue.take(() => simulate(parts, body, signal)),
      )
      return sendJson(reply, JSON_TYPE, text)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === null) throw error
      return writeRefusal(reply, refusal)
    }
  })
}

/** @throws RequestRefused for a wrong request, and for one beyond the limits */
async function simulate(
  parts: SimulatorParts,
  request: Parameters<Simulator['simulateBlocks']>[1],
  signal: AbortSignal,
): Promise<string> {
  const { simulateBlocks, InvalidSimulation }: Simulator = await import('../../simulation/simulator.ts')
  try {
    return await simulateBlocks(parts, request, signal)
  } catch (error) {
    if (error instanceof InvalidRow) throw new RequestRefused(400, error.message)
    if (error instanceof InvalidSimulation) throw new RequestRefused(error.isMalformed ? 400 : 409, error.message)
    throw error
  }
}
