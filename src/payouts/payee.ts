/** Who is paid for a share: the account that its user names. */

const KEY = /^(?:k:)?([0-9a-fA-F]{64})$/

/**
 * The account of a user: `k:KEY` for `KEY` and `k:KEY`. null: the user names no such account. Other accounts are not paid:
 * on some chain anybody may have made an account of that name, and a transfer to one that is missing fails.
 */
export function accountOfUser(user: string): string | null {
  const key = KEY.exec(user)?.[1]
  return key === undefined ? null : `k:${key.toLowerCase()}`
}

/** The name under which the shares of a user are added up: its account, or the user as it stands. */
export const payeeOf = (user: string): string => accountOfUser(user) ?? user
