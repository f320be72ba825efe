/** `newcut blocks`: the solutions in a journal with their verdicts. */
import type { Config } from '../cli/config.ts'
import type { blocksOptions } from '../cli/options/blocks.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { exactSum } from '../core/coin-sums.ts'
import { NewcutError } from '../core/errors.ts'
import { stepNames } from '../core/solution.ts'
import { stateFolder } from '../journal/folder.ts'
import { readJournal } from '../journal/journal.ts'
import type { BlockRecord } from '../journal/record.ts'
import { summariesOf, summaryLines } from './blocks-summary.ts'
import { refuseFlag } from './effect.ts'
import { pricesOf } from './prices.ts'

/**
 * Prints the newest `--last` blocks, oldest first, or their sums. Throws NewcutError BAD_INPUT for a journal that cannot
 * be read, BAD_OPTION for options that exclude each other.
 */
export async function runBlocks(
  config: Config<typeof blocksOptions>,
  { out, err, environment, nowMs }: Surroundings,
): Promise<number> {
  const print = printerTo(out)
  const { json, csv, last, state, summary } = config.values
  if (json && csv) throw new NewcutError('BAD_OPTION', '--json and --csv exclude each other', { hint: 'leave one out' })
  if (summary && csv) {
    throw new NewcutError('BAD_OPTION', '--summary and --csv exclude each other', {
      hint: '--json prints the sums too',
    })
  }
  refuseFlag(config, 'coin-price', summary ? null : { reason: 'it is for --summary', hint: 'add --summary' })
  const folder = state ?? stateFolder(environment, process.platform)
  const { records, damaged } = await readJournal(folder)
  const all = [...records.values()]
  const shown = all.slice(last === 0 ? 0 : -last)
  if (summary) {
    const sums = summariesOf(shown, nowMs(), pricesOf(config.values).coin)
    for (const line of json ? sums.map((sum) => JSON.stringify(sum)) : summaryLines(sums, folder)) print(line)
  } else if (json) for (const { work, ...record } of shown) print(JSON.stringify(record))
  else if (csv) for (const line of csvOf(shown)) print(line)
  else for (const line of tableOf(shown, all, folder)) print(line)
  if (damaged > 0) err.write(`newcut: ${folder}: ${damaged} unreadable lines were left out\n`)
  return 0
}

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
function csvOf(records: readonly BlockRecord[]): string[] {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return [
    COLUMNS.map(([name]) => name).join(','),
    ...records.map((record) => COLUMNS.map(([, value]) => quoted(value(record))).join(',')),
  ]
}

/** At most 80 columns wide, for names of usual length. */
function tableOf(records: readonly BlockRecord[], all: readonly BlockRecord[], folder: string): string[] {
  if (records.length === 0) return [`no blocks in ${folder}`]
  const rows = records.map((record) => [
    `${record.foundAt.slice(0, 10)} ${record.foundAt.slice(11, 19)}`,
    String(record.chain),
    String(record.height),
    stateText(record),
    record.reward ?? '',
    `${Math.round(100 * record.effort)}%`,
    record.device,
  ])
  const table = [['found (UTC)', 'chain', 'height', 'state', 'reward', 'effort', 'device'], ...rows]
  const isNumber = [false, true, true, false, true, true, false]
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  const lines = table.map((row) => {
    const cells = row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
    return cells.join('  ').trimEnd()
  })
  return [...lines, '', totalsOf(all)]
}

function stateText({ state, depth, reason }: BlockRecord): string {
  if (state === 'confirmed') return `confirmed ${depth}`
  return reason === null ? state : `${state} (${reason})`
}

function totalsOf(records: readonly BlockRecord[]): string {
  const counts = stepNames.flatMap((state) => {
    const count = records.filter((record) => record.state === state).length
    return count === 0 ? [] : [`${count} ${state}`]
  })
  const paid = records.filter(({ state, reward }) => state === 'confirmed' && reward !== null)
  const coins = exactSum(paid.map(({ reward }) => reward ?? '0'))
  const fees = exactSum(paid.map((record) => record.fees ?? '0'))
  return `${counts.join(', ')}${paid.length === 0 ? '' : `; ${coins} coins in ${paid.length} blocks${fees === '0' ? '' : ` and ${fees} coins in fees`}`}`
}
