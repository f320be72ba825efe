/** Rigs by the names of their workers: what each has done, whichever connections it had. */
import { printable } from '../../core/printable.ts'
import type { DeviceStatus } from '../engine.ts'

/** Workers that have a device of their own; all others are one. */
export const MAX_NAMED = 256
const MAX_NAME = 32
/** A worker without a connection is listed for so long. */
const FORGET_MS = 10 * 60_000
/** The device of all workers beyond those with a name of their own, and of none. */
const ALL = 'rigs'
const KERNEL = 'stratum'

export interface Worker {
  /** `rig:NAME` */
  readonly device: string
  /** Expected hashes of its shares. */
  hashes: number
  /** Connections now. */
  sessions: number
  /** Connections that ended. */
  faults: number
  goneAtMs: number
  /** Difficulty that fitted it last, for its next connection; null: not known. */
  difficulty: number | null
}

export class Workers {
  readonly #named = new Map<string, Worker>()
  #others: Worker | null = null

  /** A rig whose user says this of itself: `ACCOUNT.WORKER`, or a name alone. */
  join(user: string, nowMs: number): Worker {
    const device = `rig:${workerName(user)}`
    const worker = this.#named.get(device) ?? this.#added(device, nowMs)
    worker.sessions++
    return worker
  }

  /** A new worker, with a name of its own where there is room. */
  #added(device: string, nowMs: number): Worker {
    if (this.#named.size >= MAX_NAMED) this.#forget(nowMs, 0)
    if (this.#named.size >= MAX_NAMED) {
      this.#others ??= newWorker(ALL)
      return this.#others
    }
    const worker = newWorker(device)
    this.#named.set(device, worker)
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
    const workers = [...this.#named.values(), ...(this.#others === null ? [] : [this.#others])]
    if (workers.length === 0) return [{ ...statusOf(newWorker(ALL), unable), reason: unable ?? 'no rig is connected' }]
    return workers.map((worker) => statusOf(worker, unable))
  }

  /** Forgets those that have been gone for as long. */
  #forget(nowMs: number, goneMs: number): void {
    for (const [device, { sessions, goneAtMs }] of this.#named) {
      if (sessions === 0 && nowMs - goneAtMs >= goneMs) this.#named.delete(device)
    }
  }
}

function newWorker(device: string): Worker {
  return { device, hashes: 0, sessions: 0, faults: 0, goneAtMs: 0, difficulty: null }
}

function statusOf({ device, hashes, faults, sessions }: Worker, unable: string | null): DeviceStatus {
  const status = { device, kernel: KERNEL, hashes, faults }
  if (unable !== null) return { ...status, state: 'unable', reason: unable }
  return sessions > 0 ? status : { ...status, state: 'unable', reason: 'it is not connected' }
}

/** What is behind the account, which is the same for many rigs and long; one line, and short. */
export function workerName(user: string): string {
  const name = printable(user.slice(0, 512), 512)
  const dot = name.indexOf('.')
  const own = dot >= 0 && dot < name.length - 1 ? name.slice(dot + 1) : name.replace(/\.$/, '')
  return own === '' ? 'unnamed' : printable(own, MAX_NAME)
}
