/** The account that block rewards go to: a coin contract account, guarded by keys and a predicate. */
import { NewcutError } from '#ground/base/errors.ts'
import { DEVELOPMENT_KEY } from '#ground/chain/development-accounts.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'

/** The payee as the user gave it. Null fields are derived from the others, or from the network. */
export interface Payee {
  readonly account: string | null
  readonly predicate: string
  /** 64 lower-case hex digits each. */
  readonly publicKeys: readonly string[] | null
}

/** The account that is paid. */
export interface PaidAccount extends MinerAccount {
  /** Whether the key is the built-in key of development networks. */
  readonly isBuiltIn: boolean
}

const BUILT_IN_PREDICATES = ['keys-all', 'keys-any', 'keys-2']
/** `module.function` or `namespace.module.function`. */
const OWN_PREDICATE = /^[^\s.()"'`]+(\.[^\s.()"'`]+){1,2}$/

/** Checks a payee without the network. Throws NewcutError BAD_OPTION for accounts that no network would pay. */
export function checkPayee(payee: Payee): void {
  const { account, predicate } = payee
  const keys = keysOf(payee)
  if (!BUILT_IN_PREDICATES.includes(predicate) && !OWN_PREDICATE.test(predicate)) {
    throw new NewcutError('BAD_OPTION', `\`predicate: ${predicate}\`: no such predicate`, {
      hint: `built in are ${BUILT_IN_PREDICATES.join(', ')}; others are module.function or namespace.module.function`,
    })
  }
  if (account !== null && !account.startsWith('k:')) return
  if (account !== null && !/^k:[0-9a-f]{64}$/.test(account)) {
    throw new NewcutError('BAD_OPTION', `\`account: ${account}\`: not a valid k: account`, {
      hint: 'k: is followed by the public key, 64 lower-case hex digits',
    })
  }
  // A k: account is guarded by its one key and keys-all; the coin contract refuses any other guard.
  const hint = 'name an account that is not a k: account with `account`, or leave the others out'
  if (keys !== null && keys.length > 1) {
    throw new NewcutError('BAD_OPTION', `a k: account has one key, and ${keys.length} public keys are given`, { hint })
  }
  if (predicate !== 'keys-all') {
    throw new NewcutError('BAD_OPTION', `\`predicate: ${predicate}\`: a k: account always has keys-all`, {
      hint: 'leave `predicate` out, or name an account that is not a k: account with `account`',
    })
  }
  if (account !== null && keys !== null && account !== `k:${keys[0]}`) {
    throw new NewcutError('BAD_OPTION', `\`account: ${account}\` does not match \`public-key: ${keys[0]}\``, {
      hint: `the account of that key is k:${keys[0]}`,
    })
  }
}

/**
 * @returns the paid account on this network. Only development networks have a default: elsewhere it would pay a
 * stranger.
 * @throws NewcutError BAD_OPTION if the public key is missing.
 */
export function paidAccountOn(network: string, payee: Payee): PaidAccount {
  const keys = keysOf(payee) ?? (isDevelopment(network) ? [DEVELOPMENT_KEY] : null)
  if (keys === null) {
    throw new NewcutError('BAD_OPTION', `\`public-key\` is missing: who is to be paid for blocks of ${network}?`, {
      hint: 'newcut keygen FILE makes a key pair',
    })
  }
  const { account, predicate } = payee
  const isBuiltIn = keysOf(payee) === null
  return { account: account ?? `k:${keys[0]}`, predicate, publicKeys: keys, isBuiltIn }
}

/** Whether the name is that of a development network. */
export const isDevelopment = (network: string) => /development/.test(network)

/** The given public keys, or the key in a `k:` account. */
function keysOf({ account, publicKeys }: Payee): readonly string[] | null {
  return publicKeys ?? (account?.startsWith('k:') ? [account.slice(2)] : null)
}

/** One line for people that names the paid account. */
export function paidLine({ account, predicate, isBuiltIn }: PaidAccount): string {
  if (isBuiltIn) return `paid: ${account}, the built-in key of development networks (--public-key names yours)`
  return `paid: ${account} (${predicate})`
}
