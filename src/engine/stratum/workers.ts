/** Rigs by the names of their workers: what each has done, whichever connections it had. */
import { printable } from '../../core/printable.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { DeviceStatus } from '../engine.ts'
import type { RigCounts } from '../rigs.ts'
import { type Conduct, newConduct } from './conduct.ts'
import { accountName, noShares } from './users.ts'

/** Workers that have a device of their own; all others are one. */
export const MAX_NAMED = 256
const MAX_NAME = 32
/** A worker without a connection is listed for so long. */
const FORGET_MS = 10 * 60_000
/** The device of all workers beyond those with a name of their own, and of none. */
const ALL = 'rigs'
const KERNEL = 'stratum'

export interface Worker extends Conduct {
  /** `rig:NAME`; of a second user's rig of this name `rig:NAME (2)`, and so on. */
  readonly device: string
  /** Whom it names; empty: of more than one. */
  readonly user: string
  readonly shares: Record<ShareVerdict, number>
  /** Expected hashes of its shares. */
  hashes: number
  /** Connections now. */
  sessions: number
  /** Connections that ended. */
  faults: number
  goneAtMs: number
  /** Difficulty that fitted it last, for its next connection; null: not known. */
  difficulty: number | null
  /** Hashes a second that were measured last, of a connection of its own; null: not known. */
  rate: number | null
}

export class Workers {
  /** User and name -> worker. */
  readonly #named = new Map<string, Worker>()
  #others: Worker | null = null

  /** A rig whose user says this of itself: `ACCOUNT.WORKER`, or a name alone. */
  join(user: string, nowMs: number): Worker {
    const { account, name, key } = namesOf(user)
    const worker = this.#named.get(key) ?? this.#added(key, { account, name, nowMs })
    worker.sessions++
    return worker
  }

  /** Whether a rig whose user says this of itself is banned. */
  isBanned(user: string, nowMs: number): boolean {
    return (this.#named.get(namesOf(user).key)?.bannedUntilMs ?? 0) > nowMs
  }

  /** A new worker, with a name of its own where there is room. */
  #added(key: string, { account, name, nowMs }: { account: string; name: string; nowMs: number }): Worker {
    if (this.#named.size >= MAX_NAMED) this.#forget(nowMs, 0)
    if (this.#named.size >= MAX_NAMED) {
      this.#others ??= newWorker(ALL, '')
      return this.#others
    }
    const taken = new Set([...this.#named.values()].map(({ device }) => device))
    let device = `rig:${name}`
    for (let number = 2; taken.has(device); number++) device = `rig:${name} (${number})`
    const worker = newWorker(device, account)
    this.#named.set(key, worker)
    return worker
  }

  leave(worker: Worker, nowMs: number): void {
    worker.sessions--
    worker.faults++
    worker.goneAtMs = nowMs
  }

  /** `unable`: why none of them searches the present work; null: those that are connected do. */
  statuses(nowMs: number, unable: string | null): DeviceStatus[] {
    this.#forget(nowMs, FORGET_MS)
    const workers = this.#all()
    const none = () => statusOf(newWorker(ALL, ''), unable)
    if (workers.length === 0) return [{ ...none(), reason: unable ?? 'no rig is connected' }]
    return workers.map((worker) => statusOf(worker, unable))
  }

  /** Of the same workers as `statuses`. */
  counts(): Omit<RigCounts, 'refusedAs'>[] {
    return this.#all().map(({ device, user, sessions, shares, difficulty }) => {
      return { device, user, sessions, shares: { ...shares }, difficulty }
    })
  }

  /** The device of a worker; that of all others where it has none of its own. */
  deviceOf(user: string, worker: string): string {
    const key = namesOf(worker === '' ? user : `${user}.${worker}`).key
    return this.#named.get(key)?.device ?? ALL
  }

  #all(): Worker[] {
    return [...this.#named.values(), ...(this.#others === null ? [] : [this.#others])]
  }

  /** Forgets those that have been gone for as long. */
  #forget(nowMs: number, goneMs: number): void {
    for (const [key, { sessions, goneAtMs }] of this.#named) {
      if (sessions === 0 && nowMs - goneAtMs >= goneMs) this.#named.delete(key)
    }
  }
}

function namesOf(user: string): { readonly account: string; readonly name: string; readonly key: string } {
  const [account, name] = [accountName(user), workerName(user)]
  return { account, name, key: `${account}\n${name}` }
}

function newWorker(device: string, user: string): Worker {
  return {
    device,
    user,
    shares: noShares(),
    hashes: 0,
    sessions: 0,
    faults: 0,
    goneAtMs: 0,
    difficulty: null,
    rate: null,
    ...newConduct(),
  }
}

function statusOf({ device, hashes, faults, sessions }: Worker, unable: string | null): DeviceStatus {
  const status = { device, kernel: KERNEL, hashes, faults }
  if (unable !== null) return { ...status, state: 'unable', reason: unable }
  return sessions > 0 ? status : { ...status, state: 'unable', reason: 'it is not connected' }
}

/** What stands behind the first dot; empty: nothing. One line, and short. */
export function nameBehindAccount(user: string): string {
  const name = printable(user.slice(0, 512), 512)
  const dot = name.indexOf('.')
  return dot < 0 ? '' : printable(name.slice(dot + 1), MAX_NAME)
}

/** What is behind the account, which is the same for many rigs and long; one line, and short. */
export function workerName(user: string): string {
  const name = printable(user.slice(0, 512), 512)
  const dot = name.indexOf('.')
  const own = dot >= 0 && dot < name.length - 1 ? name.slice(dot + 1) : name.replace(/\.$/, '')
  return own === '' ? 'unnamed' : printable(own, MAX_NAME)
}
