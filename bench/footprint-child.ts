/** Opens a journal in a process of its own, for the suite `footprint`. Prints its time and the peak of its memory. */
import { readJournal } from '../src/journal/content.ts'

const [folder, solutions] = process.argv.slice(2)
const startMs = performance.now()
const onUnsaved = (why: string) => {
  throw new Error(`the index cannot be written: ${why}`)
}
const { table, damaged, isIndexed } = await readJournal(folder, { onUnsaved, maxUnindexedBytes: 0 })
if (table.rows !== Number(solutions) || damaged > 0) throw new Error(`${table.rows} records, ${damaged} damaged lines`)
// In KiB on every system.
const peakMiB = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ ms: performance.now() - startMs, peakMiB, isIndexed }))
