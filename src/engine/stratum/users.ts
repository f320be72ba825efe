/** Rigs by whom they name: what all rigs of a user have done, those that are gone included. */
import { printable } from '../../core/printable.ts'
import { type ShareVerdict, shareVerdicts } from '../../stratum/messages.ts'
import type { RigUser } from '../rigs.ts'

/** Users that are told apart; all others are one. */
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
  readonly #named = new Map<string, User>()
  #others: User | null = null

  /** A session of a user begins: `ACCOUNT.WORKER`, or an account alone. */
  join(text: string): User {
    const name = accountName(text)
    const user = this.#named.get(name) ?? this.#added(name)
    user.sessions++
    return user
  }

  statuses(): RigUser[] {
    const users = [...this.#named.values(), ...(this.#others === null ? [] : [this.#others])]
    return users.map((user) => ({ ...user, shares: { ...user.shares } }))
  }

  /** Whoever has the name of all others is one of them: the name stands for one row. */
  #added(name: string): User {
    if (this.#named.size >= MAX_USERS && name !== OTHERS) this.#forgetLeast()
    if (this.#named.size >= MAX_USERS || name === OTHERS) {
      this.#others ??= newUser(OTHERS)
      return this.#others
    }
    const user = newUser(name)
    this.#named.set(name, user)
    return user
  }

  /** Whoever is gone and has done least makes room. */
  #forgetLeast(): void {
    const gone = [...this.#named.values()].filter(({ sessions }) => sessions === 0)
    if (gone.length === 0) return
    const { user } = gone.reduce((least, each) => (each.hashes < least.hashes ? each : least))
    this.#named.delete(user)
  }
}

function newUser(user: string): User {
  return { user, sessions: 0, hashes: 0, shares: noShares() }
}

/** What stands before the name of the rig; one line, and short. */
export function accountName(text: string): string {
  const name = printable(text.slice(0, 512), 512)
  const dot = name.indexOf('.')
  const account = dot < 0 ? name : name.slice(0, dot)
  return account === '' ? 'unnamed' : printable(account, MAX_NAME)
}
