/** All readers of bytes from untrusted writers. */
import type { Target } from './target.ts'
import { apiTargets } from './targets/api.ts'
import { contractTargets } from './targets/contracts.ts'
import { coreTargets } from './targets/core.ts'
import { devnetTargets } from './targets/devnet.ts'
import { fleetTargets } from './targets/fleet.ts'
import { nodeTargets } from './targets/node.ts'
import { poolTargets } from './targets/pool.ts'
import { programTargets } from './targets/program.ts'
import { stratumTargets } from './targets/stratum.ts'

export const targets: readonly Target[] = [
  ...coreTargets,
  ...contractTargets,
  ...nodeTargets,
  ...devnetTargets,
  ...programTargets,
  ...stratumTargets,
  ...poolTargets,
  ...fleetTargets,
  ...apiTargets,
]

/** The target of this name. */
export function targetNamed(name: string): Target {
  const target = targets.find((each) => each.name === name)
  if (target === undefined) throw new Error(`there is no target ${JSON.stringify(name)}`)
  return target
}
