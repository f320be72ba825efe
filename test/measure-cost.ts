/** Sends the reporter the processor time of each test file: its process and the children that ended meanwhile. */
import { afterAll } from 'vitest'
import { processorSeconds } from '../scripts/test/processes.ts'

/** At the end of the last file in this process. The first file counts from the start of the process. */
const measured: { seconds?: number } = Reflect.get(globalThis, Symbol.for('newcut.measured')) ?? {}
Reflect.set(globalThis, Symbol.for('newcut.measured'), measured)

// Vitest calls the hooks of this file last.
// biome-ignore lint/correctness/noEmptyPattern: vitest demands an object pattern.
afterAll(({}, { file }) => {
  const seconds = processorSeconds()
  if (seconds === null) return
  Object.assign(file.meta, { processorSeconds: seconds - (measured.seconds ?? 0) })
  measured.seconds = seconds
})
