/** The file that remembers the settings chosen for efficiency. */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeError } from '../../base/errors.ts'
import { replaceFile } from '../../base/replace-file.ts'
import { kernelNames } from '../../engine/cpu/names.ts'
import { literals } from '../../schema/literals.ts'
import { Type, Value } from '../../schema/typebox.ts'
import type { Chosen } from './efficiency.ts'

const ChosenEntry = Type.Object({
  threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
  kernel: Type.Optional(literals([...kernelNames])),
  batchMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
})
const Entries = Type.Record(Type.String(), ChosenEntry)

/** Maximum number of entries, one for each machine, version and setting. The oldest are evicted. */
const MAX_ENTRIES = 16

/** `chosen` is null if nothing usable is kept under the key; `why` then says why, unless there is no file yet. */
export interface Remembered {
  readonly chosen: Chosen | null
  readonly why: string | null
}

/** Reads the settings of a machine. Never throws. */
export function readChosen(file: string, key: string): Remembered {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { chosen: null, why: isMissing ? null : `${file} cannot be read: ${describeError(error)}` }
  }
  const entries = entriesOf(text)
  if (entries === null) return { chosen: null, why: `${file} is damaged` }
  const chosen = entries[key]
  if (chosen === undefined) return { chosen: null, why: `${file} is of another machine, version or setting` }
  return { chosen: chosen as Chosen, why: null }
}

/** @throws if the file cannot be written */
export function writeChosen(file: string, key: string, chosen: Chosen): void {
  let before: Record<string, unknown> = {}
  try {
    before = entriesOf(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const others = Object.entries(before).filter(([name]) => name !== key)
  const kept = [...others, [key, chosen] as const].slice(-MAX_ENTRIES)
  mkdirSync(dirname(file), { recursive: true })
  replaceFile(file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

/** @returns null if the text is not such a file */
function entriesOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(Entries, value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
