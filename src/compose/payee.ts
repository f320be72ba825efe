/** The account that block rewards go to: a coin contract account, guarded by keys and a predicate. */
import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { DEVELOPMENT_KEY, developmentAccounts } from '#ground/chain/development-accounts.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { composeErrors } from './errors.ts'

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

/**
 * Checks a payee without the network.
 * @throws NewcutError BAD_OPTION for accounts that no network would pay
 */
export function checkPayee(payee: Payee): void {
  const { account, predicate } = payee
  const keys = keysOf(payee)
  if (!BUILT_IN_PREDICATES.includes(predicate) && !OWN_PREDICATE.test(predicate)) {
    throw operatingError(composeErrors.unknownPredicate, {
      predicate,
      guess: suggestName(predicate, BUILT_IN_PREDICATES),
      known: BUILT_IN_PREDICATES.join(', '),
    })
  }
  if (account !== null && !account.startsWith('k:')) return
  if (account !== null && !/^k:[0-9a-f]{64}$/.test(account)) {
    throw operatingError(composeErrors.invalidAccount, { account })
  }
  // A k: account is guarded by its one key and keys-all; the coin contract refuses any other guard.
  if (keys !== null && keys.length > 1) {
    throw operatingError(composeErrors.severalKeys, { count: keys.length })
  }
  if (predicate !== 'keys-all') {
    throw operatingError(composeErrors.predicateOfKeyAccount, { predicate })
  }
  if (account !== null && keys !== null && account !== `k:${keys[0]}`) {
    throw operatingError(composeErrors.accountOfAnotherKey, { account, key: keys[0] })
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
    throw operatingError(composeErrors.noPublicKey, { network })
  }
  const { account, predicate } = payee
  const isBuiltIn = keysOf(payee) === null
  return { account: account ?? `k:${keys[0]}`, predicate, publicKeys: keys, isBuiltIn }
}

/** Whether the name is that of a development network. */
export const isDevelopment = (network: string) => /development/.test(network)

/** Accounts that exist on each network of this name, to choose from. */
export const knownAccountsOn = (network: string): MinerAccount[] =>
  (isDevelopment(network) ? developmentAccounts : []).map(({ account, publicKey }) => {
    return { account, predicate: 'keys-all', publicKeys: [publicKey] }
  })

/** The given public keys, or the key in a `k:` account. */
function keysOf({ account, publicKeys }: Payee): readonly string[] | null {
  return publicKeys ?? (account?.startsWith('k:') ? [account.slice(2)] : null)
}

/** One line for people that names the paid account. */
export function paidLine({ account, predicate, isBuiltIn }: PaidAccount): string {
  if (isBuiltIn) return `paid: ${account}, the built-in key of development networks (--public-key names yours)`
  return `paid: ${account} (${predicate})`
}
