/** Rows, a time and signers that a command finds on top of a chain, instead of those of the chain. */
import { Layer, type LayerEntry, type ReadableState } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import type { BlockContext } from '../ledger/block-context.ts'

export interface Overrides {
  readonly rows: readonly LayerEntry[]
  /** Block time in microseconds; null for that of the chain. */
  readonly time: bigint | null
  /** Public keys that sign too. */
  readonly keys: readonly string[]
}

export const NO_OVERRIDES: Overrides = { rows: [], time: null, keys: [] }

/** The place with these overrides. The state below stays as it is. */
export function applyOverrides(
  { context, state }: { readonly context: BlockContext; readonly state: ReadableState },
  { rows, time, keys }: Overrides,
) {
  const layer = new Layer(state)
  for (const { domain, key, value } of rows) layer.put(domain, key, value)
  return { context: time === null ? context : { ...context, parentTime: time }, state: layer, keys }
}

/** The command with further signers, whose signatures cover everything in it. */
export function addSigners(command: Command, keys: readonly string[]): Command {
  if (keys.length === 0) return command
  const more = keys.map((key) => [key, []] as const)
  return {
    ...command,
    grants: new Map([...command.grants, ...more]),
    grantsByAddress: new Map([...command.grantsByAddress, ...more]),
  }
}
