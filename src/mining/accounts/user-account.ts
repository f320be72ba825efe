/** The rule of names of pool users, for log-ins, accounts, the pool API and payouts: which account a user is paid at. */
import { printable } from '#ground/base/printable.ts'

/** Hex digits of a public key. */
const DIGITS = 64
const KEY = /^(?:k:)?([0-9a-f]{64})$/i
/** Shorter hexadecimal names are more likely names of rigs. */
const MIN_DIGITS = 32

/**
 * The account of a user: `k:KEY` for `KEY` and `k:KEY`, in lower or upper case. Other account names are not paid:
 * anybody may own that name on some chain, and a transfer to a missing account fails.
 * @returns null if the user names no such account
 */
export function accountOfUser(user: string): string | null {
  const key = KEY.exec(user)?.[1]
  return key === undefined ? null : `k:${key.toLowerCase()}`
}

/** The account of `newcut rigs check`. Nobody has its key, and a check submits no shares, so nothing is paid to it. */
const TEST_ACCOUNT = `k:${'0'.repeat(DIGITS)}`

/** Whether a user logs in only to test the server. Lists of rigs and users leave it out. */
export const isTestUser = (user: string): boolean => user.startsWith(TEST_ACCOUNT)

/** The name under which shares of a user are summed: its account, or the user name itself. */
export const payeeOfUser = (user: string): string => accountOfUser(user) ?? user

/** Why a user cannot be paid, or null if it can. */
export function unpaidReason(user: string): string | null {
  if (accountOfUser(user) !== null) return null
  const key = /^k:/i.test(user) ? user.slice(2) : user
  const isKey = key !== user || (key.length >= MIN_DIGITS && /^[0-9a-f]+$/i.test(key))
  if (!isKey) return `its name is not a k: account, which is k: and ${DIGITS} hex digits`
  const odd = /[^0-9a-f]/i.exec(key)
  if (odd !== null) return `it looks like a k: account, but its key has ${printable(odd[0])}, which is not a hex digit`
  return `it looks like a k: account, but its key has ${key.length} hex digits, not ${DIGITS}`
}
