/** The file that remembers the settings chosen for efficiency. */

import { literals } from '#ground/schema/literals.ts'
import { Type, Value } from '#ground/schema/typebox.ts'
import { readTuningFile, writeTuningFile } from '../engine/cache-folder.ts'
import { kernelNames } from '../engine/cpu/names.ts'
import type { ChosenSettings } from './efficiency.ts'

const ChosenEntry = Type.Object({
  threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
  kernel: Type.Optional(literals([...kernelNames])),
  batchMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
})

/** Maximum number of entries, one for each machine, version and setting. The oldest are evicted. */
const MAX_ENTRIES = 16

/** `chosen` is null if nothing usable is kept under the key; `why` then says why, unless there is no file yet. */
interface SavedTuning {
  readonly chosen: ChosenSettings | null
  readonly why: string | null
}

/** Reads the settings of a machine. Never throws. */
export function readTunedSettings(file: string, key: string): SavedTuning {
  const { entries, problem } = readTuningFile(file)
  if (problem !== null || entries.size === 0) return { chosen: null, why: problem }
  const chosen = entries.get(key)
  if (chosen === undefined) return { chosen: null, why: `${file} is of another machine, version or setting` }
  if (!Value.Check(ChosenEntry, chosen)) return { chosen: null, why: `${file} is damaged` }
  return { chosen: chosen as ChosenSettings, why: null }
}

/** @throws if the file cannot be written */
export function writeTunedSettings(file: string, key: string, chosen: ChosenSettings): void {
  const { entries } = readTuningFile(file)
  // The newest entry is the last one.
  entries.delete(key)
  writeTuningFile(file, entries.set(key, chosen), MAX_ENTRIES)
}
