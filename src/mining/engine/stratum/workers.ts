/** Counters of workers, across all their connections. */
import { printable } from '#ground/base/printable.ts'
import { isTestUser } from '../../accounts/user-account.ts'
import type { ShareVerdict } from '../../stratum/messages.ts'
import type { DeviceStatus } from '../engine.ts'
import type { RigCounts } from '../rigs.ts'
import { accountName, noShares } from './users.ts'

/** Maximum number of workers with a device of their own; all others share one. */
export const MAX_NAMED = 256
/** Maximum length of a rig name. The client chooses it, and it becomes a label of metrics. */
const MAX_NAME = 32
/** A disconnected worker is listed for this time. */
const FORGET_MS = 10 * 60_000
/** The device of all workers without one of their own; also shown if there is no rig. */
const SHARED_DEVICE = 'rigs'
const KERNEL = 'stratum'

export interface Worker {
  /** Identifies the worker, as workerKey() does; empty for the shared entry. */
  readonly key: string
  /** `rig:NAME`, or `rig:NAME (2)` for another user's rig of the same name, and so on. */
  readonly device: string
  /** The user that it names; empty if there are several. */
  readonly user: string
  readonly shares: Record<ShareVerdict, number>
  /** Sum of the difficulties of its shares. */
  hashes: number
  /** Number of open connections. */
  sessions: number
  /** Number of ended connections. */
  faults: number
  goneAtMs: number
  /** The last suitable difficulty, for its next connection, or null. */
  difficulty: number | null
  /** Last measured hashes per second on a connection of its own, or null if unknown. */
  rate: number | null
  /** Until when further bans of the worker, at other addresses, are not reported. */
  banReportedUntilMs: number
}

export class Workers {
  /** User and name -> worker. */
  readonly #byKey = new Map<string, Worker>()
  #others: Worker | null = null

  /**
   * Registers a session of a worker.
   * @param user `ACCOUNT.WORKER`, or only a name
   */
  join(user: string, nowMs: number): Worker {
    const { account, name, key } = namesOf(user)
    if (isTestUser(user)) return newWorker(`rig:${name}`, account, key)
    const worker = this.#byKey.get(key) ?? this.#add(key, { account, name, nowMs })
    worker.sessions++
    return worker
  }

  /** Adds a worker, with a device of its own if there is room. */
  #add(key: string, { account, name, nowMs }: { account: string; name: string; nowMs: number }): Worker {
    if (this.#byKey.size >= MAX_NAMED) this.#forget(nowMs, 0)
    if (this.#byKey.size >= MAX_NAMED) {
      this.#others ??= newWorker(SHARED_DEVICE, '', '')
      return this.#others
    }
    const taken = new Set([...this.#byKey.values()].map(({ device }) => device))
    let device = `rig:${name}`
    for (let number = 2; taken.has(device); number++) device = `rig:${name} (${number})`
    const worker = newWorker(device, account, key)
    this.#byKey.set(key, worker)
    return worker
  }

  leave(worker: Worker, nowMs: number): void {
    worker.sessions--
    worker.faults++
    worker.goneAtMs = nowMs
  }

  /** @param unable why no rig can search the current work, or null if connected rigs can */
  statuses(nowMs: number, unable: string | null): DeviceStatus[] {
    this.#forget(nowMs, FORGET_MS)
    const workers = this.#listWorkers()
    const unnamedStatus = () => statusOf(newWorker(SHARED_DEVICE, '', ''), unable)
    if (workers.length === 0) return [{ ...unnamedStatus(), reason: unable ?? 'no rig is connected' }]
    return workers.map((worker) => statusOf(worker, unable))
  }

  /** In the order of `statuses`. */
  counts(): Omit<RigCounts, 'refusedAs'>[] {
    return this.#listWorkers().map(({ device, user, sessions, shares, difficulty }) => {
      return { device, user, sessions, shares: { ...shares }, difficulty }
    })
  }

  /** The device of a worker, or the shared one. */
  deviceOf(user: string, worker: string): string {
    return this.#byKey.get(workerKey(worker === '' ? user : `${user}.${worker}`))?.device ?? SHARED_DEVICE
  }

  #listWorkers(): Worker[] {
    return [...this.#byKey.values(), ...(this.#others === null ? [] : [this.#others])]
  }

  /** Evicts workers that have been disconnected for this time. */
  #forget(nowMs: number, goneMs: number): void {
    for (const [key, { sessions, goneAtMs }] of this.#byKey) {
      if (sessions === 0 && nowMs - goneAtMs >= goneMs) this.#byKey.delete(key)
    }
  }
}

/** Identifies the worker of a user text: `ACCOUNT.WORKER`, or only a name. */
export const workerKey = (user: string) => namesOf(user).key

function namesOf(user: string): { readonly account: string; readonly name: string; readonly key: string } {
  const [account, name] = [accountName(user), workerName(user)]
  return { account, name, key: `${account}\n${name}` }
}

function newWorker(device: string, user: string, key: string): Worker {
  return {
    key,
    device,
    user,
    shares: noShares(),
    hashes: 0,
    sessions: 0,
    faults: 0,
    goneAtMs: 0,
    difficulty: null,
    rate: null,
    banReportedUntilMs: 0,
  }
}

function statusOf({ device, hashes, faults, sessions }: Worker, unable: string | null): DeviceStatus {
  const status = { device, kernel: KERNEL, hashes, faults }
  if (unable !== null) return { ...status, state: 'unable', reason: unable }
  return sessions > 0 ? status : { ...status, state: 'unable', reason: 'it is not connected' }
}

/** The text after the first dot, printable and short, or empty. */
export function nameAfterAccount(user: string): string {
  const name = printable(user.slice(0, 512), 512)
  const dot = name.indexOf('.')
  return dot < 0 ? '' : printable(name.slice(dot + 1), MAX_NAME)
}

/** The name of a worker without its account, which is long and often shared; printable and short. */
export function workerName(user: string): string {
  const name = printable(user.slice(0, 512), 512)
  const dot = name.indexOf('.')
  const own = dot >= 0 && dot < name.length - 1 ? name.slice(dot + 1) : name.replace(/\.$/, '')
  return own === '' ? 'unnamed' : printable(own, MAX_NAME)
}
