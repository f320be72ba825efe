/** Port: the state below the first blocks of a network that was forked from another one. */
import type { MissingEntry, ReadableState } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'

export interface CopiedBase {
  /**
   * State at the pin of a chain. Reading it may throw MissingEntry.
   * @returns null for a chain that begins with the state of a development network
   */
  stateOf(chain: number): ReadableState | null
  /** Fetches an entry. Rejects with NewcutError if the forked node does not answer. @param texts code that misses it */
  fetch(missing: MissingEntry, texts: readonly string[]): Promise<void>
  /** Runs `run` again and again until it misses nothing. Each time, it must begin again. */
  complete<T>(run: () => T | Promise<T>, texts: readonly string[]): Promise<T>
}

/** Texts of a command whose strings are probably keys of rows. */
export function textsOf({ payload, meta }: Command): readonly string[] {
  const code = payload.kind === 'exec' ? [payload.code.text] : []
  return [...code, JSON.stringify(meta.sender)]
}
