/** Every reader of bytes that somebody else wrote. */
import type { Target } from './target.ts'
import { contractTargets } from './targets/contracts.ts'
import { coreTargets } from './targets/core.ts'
import { devnetTargets } from './targets/devnet.ts'
import { nodeTargets } from './targets/node.ts'
import { programTargets } from './targets/program.ts'

export const targets: readonly Target[] = [
  ...coreTargets,
  ...contractTargets,
  ...nodeTargets,
  ...devnetTargets,
  ...programTargets,
]

/** The target of this name. */
export function targetNamed(name: string): Target {
  const target = targets.find((each) => each.name === name)
  if (target === undefined) throw new Error(`there is no target ${JSON.stringify(name)}`)
  return target
}
