/** Transfers of coins: the code that moves them, and the capabilities that its signers give. */
import { Decimal } from '../contracts/values/decimal.ts'
import { NewcutError } from '../core/errors.ts'
import { type Capability, GAS } from './capability.ts'
import type { Payload } from './command.ts'
import { decimalJson } from './literal.ts'

/** Most places of an amount of coins. */
const COIN_PLACES = 12
/** An account whose name says which key guards it. */
const KEY_ACCOUNT = /^k:([0-9a-f]{64})$/

/** A guard made of keys. */
export interface Keyset {
  readonly keys: readonly string[]
  readonly pred: string
}

/** Who guards a receiver: keys, or a keyset that the chain knows by name. */
export type ReceiverGuard = Keyset | { readonly keysetName: string }

/** What is to be moved. */
export interface Transfer {
  readonly from: string
  readonly to: string
  readonly amount: Decimal
}

/** What a command has to do and its signers to allow for a transfer. */
export interface TransferParts {
  readonly payload: Payload
  readonly capabilities: readonly Capability[]
}

/** Reads an amount of coins: more than 0, at most 12 places. Throws NewcutError BAD_OPTION. */
export function readAmount(text: string): Decimal {
  const amount = /^\d+(\.\d+)?$/.test(text) ? Decimal.parse(text) : null
  if (amount === null || amount.mantissa <= 0n || amount.normalise().places > COIN_PLACES) {
    throw new NewcutError(
      'BAD_OPTION',
      `amount ${text}: expected a number of coins above 0 with at most 12 decimal places`,
      {
        hint: 'such as 1.5',
      },
    )
  }
  // The language takes a number without a point for an integer, and amounts are decimals.
  return amount.places === 0 ? amount.round(1) : amount
}

/** The keyset that the name of an account stands for: `k:KEY` is guarded by that key. Null: its name does not say. */
export function keysetOf(account: string): Keyset | null {
  const key = KEY_ACCOUNT.exec(account)?.[1]
  return key === undefined ? null : { keys: [key], pred: 'keys-all' }
}

/** A transfer on one chain. With a guard the receiver is created if it does not exist. */
export function transferParts({ from, to, amount }: Transfer, guard: Keyset | null): TransferParts {
  const args = [from, to].map(quoted).join(' ')
  const payload =
    guard === null
      ? { code: `(coin.transfer ${args} ${amount})`, data: '{}' }
      : { code: `(coin.transfer-create ${args} (read-keyset "receiver-guard") ${amount})`, data: dataOf(guard) }
  return { payload, capabilities: [GAS, { name: 'coin.TRANSFER', args: [from, to, decimalJson(amount)] }] }
}

/** The first step of a transfer to another chain: the coins go out of existence here. */
export function crossingParts(
  { from, to, amount }: Transfer,
  guard: ReceiverGuard,
  targetChain: number,
): TransferParts {
  const target = String(targetChain)
  const [guardCode, data] =
    'keysetName' in guard
      ? [`(keyset-ref-guard ${quoted(guard.keysetName)})`, '{}']
      : ['(read-keyset "receiver-guard")', dataOf(guard)]
  const code = `(coin.transfer-crosschain ${quoted(from)} ${quoted(to)} ${guardCode} "${target}" ${amount})`
  const crossing = { name: 'coin.TRANSFER_XCHAIN', args: [from, to, decimalJson(amount), target] }
  return { payload: { code, data }, capabilities: [GAS, crossing] }
}

/** A string in code. */
export function quoted(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return `"${escaped}"`
}

const dataOf = ({ keys, pred }: Keyset) => JSON.stringify({ 'receiver-guard': { keys, pred } })
