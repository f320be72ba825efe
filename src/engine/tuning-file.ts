/** Files in which engines remember what they measured on this machine: a JSON object, one entry for each device. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Maximum number of entries in a file. The oldest are evicted. */
const MAX_ENTRIES = 32

export interface TuningFile {
  /** The usable entries by key, the oldest first. */
  readonly entries: Map<string, unknown>
  /** Whether the file exists but is no JSON object. */
  readonly damaged: boolean
}

/** Reads a file. A missing or damaged one has no entries. */
export function readTuningFile(file: string): TuningFile {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { entries: new Map(), damaged: false }
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { entries: new Map(Object.entries(value)), damaged: false }
    }
  } catch {
    // Not JSON.
  }
  return { entries: new Map(), damaged: true }
}

/**
 * Replaces a file by these entries.
 * @throws if it cannot be written
 */
export function writeTuningFile(file: string, entries: ReadonlyMap<string, unknown>): void {
  const kept = [...entries].slice(-MAX_ENTRIES)
  mkdirSync(dirname(file), { recursive: true })
  // Rename a complete file into place, because several processes may write at once.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
  renameSync(draft, file)
}
