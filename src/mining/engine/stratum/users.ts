/** Counters of users: the sum of all their rigs, including those that are gone. */

import { printable } from '#ground/base/printable.ts'
import { isTestUser, payeeOfUser } from '../../accounts/user-account.ts'
import { type ShareVerdict, shareVerdicts } from '../../stratum/messages.ts'
import type { RigUser } from '../rigs.ts'

/** Maximum number of users tracked individually; all others share one entry. */
export const MAX_USERS = 64
/** A k: account has 66 characters. */
const MAX_NAME = 72
const OTHERS = 'others'

export interface User extends RigUser {
  sessions: number
  hashes: number
  readonly shares: Record<ShareVerdict, number>
}

export function noShares(): Record<ShareVerdict, number> {
  return Object.fromEntries(shareVerdicts.map((verdict) => [verdict, 0])) as Record<ShareVerdict, number>
}

export class Users {
  readonly #byName = new Map<string, User>()
  #others: User | null = null

  /** Registers a session of a user: `ACCOUNT.WORKER`, or only an account. */
  join(text: string): User {
    const name = accountName(text)
    const user = isTestUser(text) ? newUser(name) : (this.#byName.get(name) ?? this.#add(name))
    user.sessions++
    return user
  }

  statuses(): RigUser[] {
    const users = [...this.#byName.values(), ...(this.#others === null ? [] : [this.#others])]
    return users.map((user) => ({ ...user, shares: { ...user.shares } }))
  }

  /** Adds a user. One with the name of the shared entry belongs to it, so that the name means one row. */
  #add(name: string): User {
    if (this.#byName.size >= MAX_USERS && name !== OTHERS) this.#forgetLeast()
    if (this.#byName.size >= MAX_USERS || name === OTHERS) {
      this.#others ??= newUser(OTHERS)
      return this.#others
    }
    const user = newUser(name)
    this.#byName.set(name, user)
    return user
  }

  /** Evicts the disconnected user with the fewest hashes. */
  #forgetLeast(): void {
    const gone = [...this.#byName.values()].filter(({ sessions }) => sessions === 0)
    if (gone.length === 0) return
    const { user } = gone.reduce((least, each) => (each.hashes < least.hashes ? each : least))
    this.#byName.delete(user)
  }
}

function newUser(user: string): User {
  return { user, sessions: 0, hashes: 0, shares: noShares() }
}

/** The account before the rig's name, printable and short: `k:KEY` in all its spellings is one account. */
export function accountName(text: string): string {
  const name = printable(text.slice(0, 512), 512)
  const dot = name.indexOf('.')
  const account = dot < 0 ? name : name.slice(0, dot)
  return account === '' ? 'unnamed' : payeeOfUser(printable(account, MAX_NAME))
}
