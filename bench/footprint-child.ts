/**
 * Reads a journal in a process of its own, for the suite `footprint`: as a start of a miner does, or as `newcut blocks
 * --summary` does without an index. Prints the processor time and the peak of its memory.
 */
import { summariesOf } from '../src/commands/results/blocks-lines.ts'
import { readJournal } from '../src/mining/journal/content.ts'
import { readEarlierRuns } from '../src/mining/journal/earlier.ts'

const [folder, solutions, mode] = process.argv.slice(2)
const before = process.cpuUsage()
const onUnsaved = (why: string) => {
  throw new Error(`the index cannot be written: ${why}`)
}

async function blocksOf(): Promise<number> {
  if (mode === 'summary') {
    const [sum] = summariesOf(await readJournal(folder, { usesIndex: false }), 0, Date.now())
    return sum.paid.blocks
  }
  const options = { network: 'mainnet01', confirmations: 6, onUnsaved, maxUnindexedBytes: 0 }
  const { tracked, untracked, damaged } = await readEarlierRuns(folder, options)
  return tracked.length + untracked.paid.blocks - damaged
}

const blocks = await blocksOf()
if (blocks !== Number(solutions)) throw new Error(`${blocks} blocks instead of ${solutions}`)
const { user, system } = process.cpuUsage(before)
// In KiB on every system.
const peakMiB = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000, peakMiB }))
