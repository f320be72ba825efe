/** A report of payouts as lines for people. */
import { countText } from '#faces/cli/line.ts'
import { printable } from '#ground/base/printable.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { Payment } from '#pool/payouts/payments.ts'
import type { PartState, PayoutReport, ReportBalance, ReportBlock } from '#pool/payouts/report.ts'

/** The states of parts and blocks in words. */
const STATES: Readonly<Record<string, string>> = {
  waiting: 'not deep enough',
  queued: 'waits for an earlier block',
  foreign: 'paid to another account',
  unpaid: 'its coinbase names no reward',
  due: 'due',
  carried: 'below the minimum',
  held: 'its chain is unsettled',
  pending: 'in progress',
  unpayable: 'no account',
  own: "the pool's own",
}

/** A run that pays. */
export interface PayingRun {
  /** Its start: UTC, ISO 8601. */
  readonly since: string
  /** Request keys of the transactions that it settled, also of those that an earlier run had signed. */
  readonly settled: ReadonlySet<string>
}

/** Whether a run made or settled this payment. */
export const isOfRun = ({ at, requestKey }: Payment, { since, settled }: PayingRun) =>
  at >= since || settled.has(requestKey)

/** For how long a run waits for its payouts. */
export function waitText(payouts: number, confirmations: number, blockDelayMs: number): string {
  const blocks = confirmations === 1 ? 'a block has it' : `its block is ${confirmations} deep`
  const time = `about ${formatDuration(confirmations * blockDelayMs)}, at ${formatDuration(blockDelayMs)} a block`
  return `${countText(payouts, 'payout')}, each until ${blocks}: ${time}`
}

/** @param run null for a run that does not pay */
export function payoutLines(report: PayoutReport, run: PayingRun | null): string[] {
  const { blocks } = report
  return [
    ...heading(report),
    '',
    ...(blocks.length === 0 ? ['no share of the share log is a block'] : blockTable(blocks)),
    ...blocks.filter((block) => isOpen(block) || run === null).flatMap(partLines),
    ...balanceLines(report.balances),
    ...operatorLines(report),
    ...unpaidLines(report),
    ...paymentLines(report.payments, run),
  ]
}

function heading({ network, account, scheme, window, feePercent, minimum, confirmations }: PayoutReport): string[] {
  const over = scheme === 'pplns' ? ` over ${window} blocks` : ''
  return [
    `pool: ${printable(account)} on ${printable(network)}`,
    `rules: ${scheme}${over}, fee ${feePercent} %, minimum ${minimum}, ${confirmations} confirmations`,
  ]
}

/** Whether a part of the block is not settled. */
const isOpen = ({ division }: ReportBlock) =>
  division?.parts.some(({ state }) => ['due', 'carried', 'held', 'pending'].includes(state)) === true

function blockTable(blocks: readonly ReportBlock[]): string[] {
  const rows = blocks.map(({ foundAt, chain, height, state, depth, reward, account, finder }) => [
    `${foundAt.slice(0, 10)} ${foundAt.slice(11, 19)}`,
    String(chain),
    String(height),
    depth === null ? '' : String(depth),
    state === 'foreign' ? `paid to ${shortName(account ?? 'nobody')}` : (STATES[state] ?? state),
    reward ?? '',
    shortName(finder),
  ])
  const header = ['found (UTC)', 'chain', 'height', 'depth', 'state', 'reward', 'finder']
  return tableLines([header, ...rows], [false, true, true, true, false, true, false])
}

/** The payments of a block and their reasons. */
function partLines({ chain, height, block, reward, division }: ReportBlock): string[] {
  if (division === null) return []
  const { scheme, fee, rest, parts } = division
  const rows = parts.map(({ payee, shares, worth, amount, state }) => [
    `  ${printable(payee === '' ? '(no user)' : payee)}`,
    String(shares),
    worth,
    amount,
    stateText(state),
  ])
  const header = ['  user', 'shares', 'worth in blocks', 'amount', 'state']
  return [
    '',
    `block ${height} of chain ${chain}, ${block}: ${reward} by ${scheme}, fee ${fee}, rest ${rest}`,
    ...tableLines([header, ...rows], [false, true, true, true, false]),
  ]
}

const stateText = (state: PartState) => STATES[state] ?? state

function balanceLines(balances: readonly ReportBalance[]): string[] {
  if (balances.length === 0) return ['', 'nothing is due']
  const rows = balances.map(({ chain, account, amount, state, for: parts }) => [
    String(chain),
    printable(account),
    amount,
    STATES[state] ?? state,
    parts.map(({ height }) => height).join(', '),
  ])
  const header = ['chain', 'account', 'amount', 'state', 'for blocks']
  return ['', ...tableLines([header, ...rows], [true, false, true, false, false])]
}

function operatorLines({ operator }: PayoutReport): string[] {
  if (operator.length === 0) return []
  const rows = operator.map(({ chain, ...amounts }) => [String(chain), ...Object.values(amounts)])
  const header = ['chain', 'fee', 'rest', "operator's shares", 'users without account', 'paid for orphans']
  return [
    '',
    "the operator's:",
    ...tableLines(
      [header, ...rows],
      header.map(() => true),
    ),
  ]
}

function unpaidLines({ unpaid }: PayoutReport): string[] {
  if (unpaid.length === 0) return []
  const lines = unpaid.map(({ user, reason }) => `  ${printable(user === '' ? '(no user)' : user)}: ${reason}`)
  return ['', 'users who cannot be paid:', ...lines]
}

/** Payments that are not settled, and those that this run made or settled. */
function paymentLines(payments: readonly Payment[], run: PayingRun | null): string[] {
  const shown = payments.filter((payment) => payment.state === 'pending' || (run !== null && isOfRun(payment, run)))
  if (shown.length === 0) return []
  const rows = shown.map(({ at, chain, account, amount, state, requestKey }) => [
    `${at.slice(0, 10)} ${at.slice(11, 19)}`,
    String(chain),
    printable(account),
    amount,
    stateText(state as PartState),
    requestKey,
  ])
  const header = ['payment (UTC)', 'chain', 'account', 'amount', 'state', 'request key']
  return ['', ...tableLines([header, ...rows], [false, true, false, true, false, false])]
}

/** The name of an account, short enough for a table. */
function shortName(name: string): string {
  const text = printable(name)
  return text.length <= 24 ? text : `${text.slice(0, 14)}..${text.slice(-6)}`
}

function tableLines(table: readonly (readonly string[])[], isNumber: readonly boolean[]): string[] {
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  return table.map((row) => {
    const cells = row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
    return cells.join('  ').trimEnd()
  })
}
