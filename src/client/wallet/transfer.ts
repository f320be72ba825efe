/** Transfers of coins: their code, and the capabilities of their signers. */
import { operatingError } from '#ground/base/errors.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import { type Capability, decimalToJson, GAS, quoteForCode } from './capability.ts'
import type { Payload } from './command.ts'
import { walletErrors } from './errors.ts'

/** Maximum decimal places of an amount of coins: the coin contract refuses more. */
const COIN_PLACES = 12
/** An account whose name contains the key that guards it. */
const KEY_ACCOUNT = /^k:([0-9a-f]{64})$/

/** A guard made of keys. */
export interface Keyset {
  readonly keys: readonly string[]
  readonly pred: string
}

/** Guard of a receiver: keys, or a keyset that the chain knows by name. */
export type ReceiverGuard = Keyset | { readonly keysetName: string }

/** Sender, receiver and coins of a transfer. */
export interface Transfer {
  readonly from: string
  readonly to: string
  readonly amount: Decimal
}

/** Payload of a transfer, and the capabilities that its signers must grant. */
interface TransferParts {
  readonly payload: Payload
  readonly capabilities: readonly Capability[]
}

/** Parses an amount of coins: more than 0, at most 12 places. @throws NewcutError BAD_OPTION */
export function readAmount(text: string): Decimal {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Decimal.parse(text) : null
  if (amount === null || amount.mantissa <= 0n || amount.normalise().places > COIN_PLACES) {
    throw operatingError(walletErrors.badAmount, { text, places: COIN_PLACES })
  }
  // The language reads a number without a point as an integer, but amounts are decimals.
  return amount.places === 0 ? amount.round(1) : amount
}

/** Keyset that the name of an account implies: the key guards `k:KEY`. @returns null if it implies none */
export function keysetOf(account: string): Keyset | null {
  const key = KEY_ACCOUNT.exec(account)?.[1]
  return key === undefined ? null : { keys: [key], pred: 'keys-all' }
}

/** A transfer on one chain. With a guard it creates the receiver if it does not exist. */
export function buildTransfer({ from, to, amount }: Transfer, guard: Keyset | null): TransferParts {
  const args = [from, to].map(quoteForCode).join(' ')
  const payload =
    guard === null
      ? { code: `(coin.transfer ${args} ${amount})`, data: '{}' }
      : { code: `(coin.transfer-create ${args} (read-keyset "receiver-guard") ${amount})`, data: dataOf(guard) }
  return { payload, capabilities: [GAS, { name: 'coin.TRANSFER', args: [from, to, decimalToJson(amount)] }] }
}

/** First step of a transfer to another chain: it removes the coins from this one. */
export function buildCrossing(
  { from, to, amount }: Transfer,
  guard: ReceiverGuard,
  targetChain: number,
): TransferParts {
  const target = String(targetChain)
  const [guardCode, data] =
    'keysetName' in guard
      ? [`(keyset-ref-guard ${quoteForCode(guard.keysetName)})`, '{}']
      : ['(read-keyset "receiver-guard")', dataOf(guard)]
  const code = `(coin.transfer-crosschain ${quoteForCode(from)} ${quoteForCode(to)} ${guardCode} "${target}" ${amount})`
  const crossing = { name: 'coin.TRANSFER_XCHAIN', args: [from, to, decimalToJson(amount), target] }
  return { payload: { code, data }, capabilities: [GAS, crossing] }
}

const dataOf = ({ keys, pred }: Keyset) => JSON.stringify({ 'receiver-guard': { keys, pred } })
