/** Compares values of the contract language with those that a test expects, and sums up moved coins. */
import { Decimal } from '#language/contracts/values/decimal.ts'
import { type ReadEvent, type ReadResult, readDecimal } from './reading.ts'

/** A value such as `expect.any(String)`, which compares itself. */
interface AsymmetricMatcher {
  readonly asymmetricMatch: (value: unknown) => boolean
}

export function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return typeof (value as AsymmetricMatcher | null)?.asymmetricMatch === 'function'
}

/** The value with all numbers in one form, so that `1.5`, `{ decimal: '1.50' }` and `{ int: 3 }` compare as numbers. */
export function unifyNumbers(value: unknown): unknown {
  if (isAsymmetric(value)) return value
  const number = readDecimal(value)
  if (number !== null) return unifiedOf(number)
  if (Array.isArray(value)) return value.map(unifyNumbers)
  if (value instanceof Date) return { time: value.toISOString().replace('.000Z', 'Z') }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [field, unifyNumbers(item)]))
}

/** A number of JavaScript if it has all digits, else a text. */
function unifiedOf(number: Decimal): number | string {
  const text = number.normalise().toString()
  return Decimal.parse(String(Number(text)))?.compare(number) === 0 ? Number(text) : text
}

/** Highest gas price that counts as the price of a fee, in coins. */
const MAX_GAS_PRICE = new Decimal(1n, 3)
/** Decimal places of an amount of coins. */
const COIN_PLACES = 12

const COIN = 'coin'

/**
 * Sums up the transfers of a token by account, without the fee. Burned and created tokens count for the account `''`.
 * @param token module of the token
 */
export function sumTransfers(result: ReadResult, token = COIN): ReadonlyMap<string, Decimal> {
  const sums = new Map<string, Decimal>()
  const add = (account: string, amount: Decimal) => {
    sums.set(account, (sums.get(account) ?? Decimal.of(0n)).add(amount))
  }
  for (const { from, to, amount } of withoutFee(transfersIn(result.events, token), token, result)) {
    add(from, amount.negate())
    add(to, amount)
  }
  const zero = Decimal.of(0n)
  return new Map([...sums].filter(([, sum]) => sum.compare(zero) !== 0))
}

interface TokenTransfer {
  readonly from: string
  readonly to: string
  readonly amount: Decimal
}

function transfersIn(events: readonly ReadEvent[], token: string): TokenTransfer[] {
  return events.flatMap(({ name, params }) => {
    const [from, to, sum] = params
    const amount = readDecimal(sum)
    if (name !== `${token}.TRANSFER` || typeof from !== 'string' || typeof to !== 'string') return []
    return amount === null ? [] : [{ from, to, amount }]
  })
}

/** The fee is the last transfer of coins. A result from a block does not name it: its amount is a price of the gas. */
function withoutFee(transfers: TokenTransfer[], token: string, { fee, gas }: ReadResult): TokenTransfer[] {
  const last = transfers.at(-1)
  if (token !== COIN || last === undefined) return transfers
  const isFee = fee === null ? isPriceOf(last.amount, readDecimal(gas)) : last.amount.compare(fee) === 0
  return isFee ? transfers.slice(0, -1) : transfers
}

function isPriceOf(amount: Decimal, gas: Decimal | null): boolean {
  if (gas === null || gas.compare(Decimal.of(0n)) <= 0) return false
  const price = amount.div(gas)
  return price.compare(MAX_GAS_PRICE) <= 0 && price.round(COIN_PLACES).mul(gas).compare(amount) === 0
}
