/** Balances of an account as lines and as JSON. */
import { printable } from '#ground/base/printable.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'

/** Chain -> balance, or null if the chain does not have the account. Chains are in their order. */
export type BalanceReport = ReadonlyMap<number, Decimal | null>

export function totalOf(balances: BalanceReport): Decimal {
  return [...balances.values()].reduce<Decimal>((sum, each) => (each === null ? sum : sum.add(each)), Decimal.of(0n))
}

/**
 * A line for each chain with the account, aligned at the decimal points, then the total and the chains without it.
 * @param guess a question for an account with a similar name, if none has this one
 */
export function balanceLines(name: string, balances: BalanceReport, guess = ''): string[] {
  const rows = [...balances].flatMap(([chain, balance]) => {
    return balance === null ? [] : [{ label: `chain ${chain}`, balance: balance.toSource() }]
  })
  const missing = [...balances].filter(([, balance]) => balance === null).map(([chain]) => chain)
  const total = { label: 'total', balance: totalOf(balances).normalise().toSource() }
  const whole = Math.max(...[...rows, total].map(({ balance }) => balance.indexOf('.')))
  const lines = [...rows, total].map(({ label, balance }) => {
    return `${label.padEnd(9)} ${' '.repeat(whole - balance.indexOf('.'))}${balance}`
  })
  const shown = printable(name)
  if (rows.length === 0) return [`${shown}: on none of the ${balances.size} chains${guess}`]
  return [shown, ...lines, ...(missing.length === 0 ? [] : [`not on    ${rangesOf(missing)}`])]
}

/** One object. Amounts are exact texts, or null if the chain does not have the account. */
export function balanceJson(account: string, balances: BalanceReport): string {
  const chains = Object.fromEntries([...balances].map(([chain, balance]) => [chain, balance?.toString() ?? null]))
  return JSON.stringify({ account, total: totalOf(balances).toString(), chains })
}

/** Ascending numbers: `0, 2-5, 9`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
