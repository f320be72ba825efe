/** Payees of shares: the account that the user of a share names. */

const KEY = /^(?:k:)?([0-9a-fA-F]{64})$/

/**
 * The account of a user: `k:KEY` for both `KEY` and `k:KEY`. Other account names are not paid: anybody may own that
 * name on some chain, and a transfer to a missing account fails.
 * @returns null if the user names no such account
 */
export function accountOfUser(user: string): string | null {
  const key = KEY.exec(user)?.[1]
  return key === undefined ? null : `k:${key.toLowerCase()}`
}

/** The name under which shares of a user are summed: its account, or the user name itself. */
export const payeeOf = (user: string): string => accountOfUser(user) ?? user
