/** The rigs of a fleet as its leader knows them: their leases, and what they say that they did. */
import { LEASE_MS, LEASES, type Report, type RigRow } from '../../fleet/messages.ts'
import type { DeviceStatus } from '../engine.ts'

/** Rigs that have a device of their own, by name; all others are one. */
export const MAX_NAMED = 256
/** A rig that is gone is listed for so long. */
const FORGET_MS = 10 * 60_000
/** The device of all rigs beyond those with one of their own, and of none. */
const ALL = 'rigs'
const KERNEL = 'nats'

/** All rigs of a name, since the start. */
interface RigDevice {
  readonly device: string
  hashes: number
  /** Rigs that were not heard of any more, and solutions that solved nothing. */
  faults: number
  /** Claims that did not solve: those that rigs tell of, and those that reached the leader. */
  hardwareErrors: number
  sessions: number
  paused: number
  goneAtMs: number
}

/** A start of a rig. */
interface RigSession {
  report: Report
  readonly device: RigDevice
  lease: number | null
  /** Hashes since its start that are counted; those before it was heard of are left out. */
  counted: number
  /** Hardware errors that it told of, and that are counted; those before it was heard of are left out. */
  countedErrors: number
  /** Solutions that solved nothing. */
  wrong: number
  readonly firstMs: number
  heardMs: number
}

export class RigTable {
  readonly #random: () => number
  readonly #sessions = new Map<string, RigSession>()
  /** Lease -> session. */
  readonly #leases = new Map<number, string>()
  readonly #devices = new Map<string, RigDevice>()
  #others: RigDevice | null = null
  #hashes = 0

  /** `random` is uniform in [0, 1). */
  constructor(random: () => number) {
    this.#random = random
  }

  /** Rigs that were heard of within a lease. */
  get size(): number {
    return this.#sessions.size
  }

  /** What all rigs have searched since this leader heard of them. Never falls. */
  get hashes(): number {
    return this.#hashes
  }

  /** Takes a report. Returns the lease that the rig has from now on; null: all are taken. */
  report(report: Report, nowMs: number): number | null {
    const known = this.#sessions.get(report.session)
    const session = known ?? this.#join(report, nowMs)
    this.#add(session, report.hashes)
    addErrors(session, report.hardwareErrors ?? 0)
    session.device.paused += Number(report.state === 'paused') - Number(known?.report.state === 'paused')
    session.report = report
    session.heardMs = nowMs
    session.lease = this.#leaseFor(session, report)
    return session.lease
  }

  /** What a rig has searched since its start, also between two reports. */
  count(key: string, hashes: number): void {
    const session = this.#sessions.get(key)
    if (session !== undefined) this.#add(session, hashes)
  }

  #add(session: RigSession, hashes: number): void {
    const done = Math.max(0, hashes - session.counted)
    session.counted += done
    session.device.hashes += done
    this.#hashes += done
  }

  /** Forgets rigs that were not heard of for a lease: from then on others may have theirs. */
  expire(nowMs: number): void {
    for (const [key, session] of this.#sessions)
      if (nowMs - session.heardMs >= LEASE_MS) this.#leave(key, session, nowMs)
    for (const [device, { sessions, goneAtMs }] of this.#devices) {
      if (sessions === 0 && nowMs - goneAtMs >= FORGET_MS) this.#devices.delete(device)
    }
  }

  /** A solution of a rig solved nothing. `key`: of its session; empty: not known. */
  fault(rig: string, key = ''): void {
    const session = this.#sessions.get(key)
    if (session !== undefined) session.wrong++
    const device = session?.device ?? this.#devices.get(nameOf(rig)) ?? this.#others
    if (device === null) return
    device.faults++
    device.hardwareErrors++
  }

  /** Those from this place on in the order in which they came, at most so many. */
  rows(from: number, most: number, nowMs: number): RigRow[] {
    return [...this.#sessions.values()].slice(from, from + most).map(({ report, lease, firstMs, wrong }) => {
      const { rig, version, state, reason, rate, hashes, accepted, refused, relay } = report
      const hardwareErrors = (report.hardwareErrors ?? 0) + wrong
      const figures = { rig, version, state, reason, rate, hashes, accepted, refused, hardwareErrors }
      const relayed = relay && { relay: { rigs: relay.rigs, rate: relay.rate } }
      return { ...figures, lease, ...relayed, seenMs: Math.round(nowMs - firstMs) }
    })
  }

  /** How many rigs have this name; null: all. */
  named(rig: string | null): number {
    if (rig === null) return this.#sessions.size
    return [...this.#sessions.values()].filter(({ report }) => report.rig === rig).length
  }

  /** One for each name; `unable`: why none of them searches. */
  statuses(unable: string | null): DeviceStatus[] {
    const devices = [...this.#devices.values(), ...(this.#others === null ? [] : [this.#others])]
    if (devices.length === 0) return [statusOf(newDevice(ALL), unable ?? 'no rig is connected')]
    return devices.map((device) => statusOf(device, unable))
  }

  /** No rig is known any more: it is not for this leader to say who holds what. */
  clear(nowMs: number): void {
    for (const [key, session] of this.#sessions) this.#leave(key, session, nowMs)
  }

  #join(report: Report, nowMs: number): RigSession {
    const device = this.#deviceFor(report.rig)
    device.sessions++
    const counts = { counted: report.hashes, countedErrors: report.hardwareErrors ?? 0, wrong: 0 }
    const session = { report, device, lease: null, ...counts, firstMs: nowMs, heardMs: nowMs }
    this.#sessions.set(report.session, session)
    return session
  }

  #leave(key: string, { lease, device, report }: RigSession, nowMs: number): void {
    this.#sessions.delete(key)
    if (lease !== null) this.#leases.delete(lease)
    device.sessions--
    device.paused -= Number(report.state === 'paused')
    device.goneAtMs = nowMs
  }

  /** The one that it has, or says that it has, if no other rig has it; else any that is free. */
  #leaseFor({ lease: before }: RigSession, { session, lease: claimed }: Report): number | null {
    if (before !== null) return before
    if (this.#leases.size >= LEASES) return null
    const wanted = claimed ?? Math.floor(this.#random() * LEASES)
    for (let i = 0; i < LEASES; i++) {
      const lease = (wanted + i) % LEASES
      if (this.#leases.has(lease)) continue
      this.#leases.set(lease, session)
      return lease
    }
    return null
  }

  #deviceFor(rig: string): RigDevice {
    const name = nameOf(rig)
    const known = this.#devices.get(name)
    if (known !== undefined) return known
    if (this.#devices.size >= MAX_NAMED) {
      this.#others ??= newDevice(ALL)
      return this.#others
    }
    const device = newDevice(name)
    this.#devices.set(name, device)
    return device
  }
}

const nameOf = (rig: string) => `rig:${rig}`

function newDevice(device: string): RigDevice {
  return { device, hashes: 0, faults: 0, hardwareErrors: 0, sessions: 0, paused: 0, goneAtMs: 0 }
}

function addErrors(session: RigSession, errors: number): void {
  const more = Math.max(0, errors - session.countedErrors)
  session.countedErrors += more
  session.device.hardwareErrors += more
}

function statusOf(rig: RigDevice, unable: string | null): DeviceStatus {
  const { device, hashes, faults, hardwareErrors, sessions, paused } = rig
  const status = { device, kernel: KERNEL, hashes, faults, hardwareErrors }
  const reason = unable ?? (sessions === 0 ? 'it is not connected' : paused === sessions ? 'it is paused' : null)
  return reason === null ? status : { ...status, state: 'unable', reason }
}
