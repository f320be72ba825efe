/** `newcut blocks`: the solutions in a journal with their verdicts. */
import type { Config } from '#faces/cli/config.ts'
import type { blocksOptions } from '#faces/cli/options/blocks.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { type JournalContent, readJournal } from '#mining/journal/content.ts'
import { stateFolder } from '#mining/journal/folder.ts'
import type { BlockRecord } from '#mining/journal/record.ts'
import { totalsOf } from '#mining/journal/totals.ts'
import { pricesOf } from './input/prices.ts'
import { summariesOf, summaryLines } from './results/blocks-lines.ts'

/**
 * Prints the newest `--last` blocks, oldest first, or their sums.
 * @throws NewcutError BAD_INPUT for a journal that cannot be read
 */
export async function runBlocks(
  config: Config<typeof blocksOptions>,
  { out, err, environment, nowMs }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const { json, csv, last, state, summary } = config.values
  const folder = state ?? stateFolder(environment, process.platform)
  const content = await readJournal(folder)
  const { damaged } = content
  const newestRecords = () => recordsFrom(content, last)
  if (summary) {
    const sums = summariesOf(content, firstOf(content, last), nowMs(), pricesOf(config.values).coin)
    for (const line of json ? sums.map((sum) => JSON.stringify(sum)) : summaryLines(sums, folder)) print(line)
  } else if (json) for (const { work, ...record } of newestRecords()) print(JSON.stringify(record))
  else if (csv) for (const line of csvOf(newestRecords())) print(line)
  else for (const line of tableOf(newestRecords, content, folder)) print(line)
  if (damaged > 0) err.write(`newcut: ${folder}: ${damaged} unreadable lines were left out\n`)
  return 0
}

/** The newest records, oldest first. `last`: their number, or 0 for all. They are read from the disk one by one. */
function recordsFrom(content: JournalContent, last: number): Iterable<BlockRecord> {
  const first = firstOf(content, last)
  return content.records(Array.from({ length: content.table.rows - first }, (_, i) => first + i))
}

/** The first row of the newest ones. `last`: their number, or 0 for all. */
const firstOf = ({ table }: JournalContent, last: number) => (last === 0 ? 0 : Math.max(0, table.rows - last))

const COLUMNS = [
  ['foundAt', (record: BlockRecord) => record.foundAt],
  ['network', (record: BlockRecord) => record.network],
  ['chain', (record: BlockRecord) => String(record.chain)],
  ['height', (record: BlockRecord) => String(record.height)],
  ['hash', (record: BlockRecord) => record.hash],
  ['state', (record: BlockRecord) => record.state],
  ['depth', (record: BlockRecord) => String(record.depth ?? '')],
  ['reason', (record: BlockRecord) => record.reason ?? ''],
  ['reward', (record: BlockRecord) => record.reward ?? ''],
  ['fees', (record: BlockRecord) => record.fees ?? ''],
  ['account', (record: BlockRecord) => record.account],
  ['effort', (record: BlockRecord) => record.effort.toFixed(4)],
  ['difficulty', (record: BlockRecord) => String(record.difficulty)],
  ['device', (record: BlockRecord) => record.device],
  ['issuer', (record: BlockRecord) => record.issuer],
] as const

/** CSV (RFC 4180) with a header line. */
function* csvOf(records: Iterable<BlockRecord>): Generator<string> {
  const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  yield COLUMNS.map(([name]) => name).join(',')
  for (const record of records) yield COLUMNS.map(([, value]) => quote(value(record))).join(',')
}

const HEADINGS = ['found (UTC)', 'chain', 'height', 'state', 'reward', 'effort', 'device']
const IS_NUMBER = [false, true, true, false, true, true, false]

/** At most 80 columns wide, for names of usual length. Reads the records twice: for the widths, and for the lines. */
function* tableOf(shown: () => Iterable<BlockRecord>, content: JournalContent, folder: string): Generator<string> {
  if (content.table.rows === 0) {
    yield `no blocks in ${folder}`
    return
  }
  const widths = HEADINGS.map(({ length }) => length)
  for (const record of shown()) {
    for (const [i, { length }] of cellsOf(record).entries()) widths[i] = Math.max(widths[i], length)
  }
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (IS_NUMBER[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd()
  yield lineOf(HEADINGS)
  for (const record of shown()) yield lineOf(cellsOf(record))
  yield ''
  yield totalsLine(content)
}

const cellsOf = (record: BlockRecord) => [
  `${record.foundAt.slice(0, 10)} ${record.foundAt.slice(11, 19)}`,
  String(record.chain),
  String(record.height),
  stateText(record),
  record.reward ?? '',
  `${Math.round(100 * record.effort)}%`,
  record.device,
]

function stateText({ state, depth, reason }: BlockRecord): string {
  if (state === 'confirmed') return `confirmed ${depth}`
  return reason === null ? state : `${state} (${reason})`
}

function totalsLine(content: JournalContent): string {
  const { states, paid, coins, fees } = totalsOf(content)
  const counts = [...states].map(([state, count]) => `${count} ${state}`)
  const ofFees = fees === '0' ? '' : ` and ${fees} coins in fees`
  return `${counts.join(', ')}${paid === 0 ? '' : `; ${coins} coins in ${paid} blocks${ofFees}`}`
}
