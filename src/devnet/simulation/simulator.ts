/** Runs simulations, one after the other: commands in temporary blocks. */
import { MAX_SIMULATED_COMMANDS, MAX_SIMULATED_ROWS, type SimulateRequest } from '#ground/schema/control.ts'
import { InvalidSimulation } from './invalid-simulation.ts'
import { Simulation, type SimulatorParts } from './simulation.ts'

export { InvalidSimulation } from './invalid-simulation.ts'

/**
 * Runs a simulation on top of the newest blocks of this moment.
 * @returns JSON text of its results
 * @throws InvalidSimulation, InvalidRow, and the reason of the signal
 */
export async function simulateBlocks(
  parts: SimulatorParts,
  request: SimulateRequest,
  signal: AbortSignal,
): Promise<string> {
  expectWithinLimits(request)
  const simulation = new Simulation(parts, request)
  for (const [i, block] of request.blocks.entries()) await simulation.add(i, block, signal)
  return simulation.text
}

function expectWithinLimits({ blocks }: SimulateRequest): void {
  const commands = blocks.flatMap(({ chains = {} }) => Object.values(chains)).flat().length
  if (commands > MAX_SIMULATED_COMMANDS) {
    throw new InvalidSimulation(`/blocks: ${commands} commands, and a simulation may have ${MAX_SIMULATED_COMMANDS}`)
  }
  const tables = blocks.flatMap(({ rows = {} }) => Object.values(rows)).flatMap((chain) => Object.values(chain))
  const rows = tables.flatMap((table) => Object.keys(table)).length
  if (rows > MAX_SIMULATED_ROWS) {
    throw new InvalidSimulation(`/blocks: ${rows} rows, and a simulation may replace ${MAX_SIMULATED_ROWS}`)
  }
}
