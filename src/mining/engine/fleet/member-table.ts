/** The leader's table of the fleet's rigs: their leases and reported counters. */
import { LEASE_MS, LEASES, type MemberReport, type MemberRow } from '../../fleet/messages.ts'
import type { DeviceStatus } from '../engine.ts'
import type { FleetStatus } from '../leader.ts'
import { MemberEnergy } from './member-energy.ts'

/** Maximum number of rigs with a device of their own, by name; all others share one. */
export const MAX_NAMED = 256
/** A disconnected rig is listed for this time. */
const FORGET_MS = 10 * 60_000
/** The device of all rigs without one of their own; also shown if there is no rig. */
const SHARED_DEVICE = 'rigs'
const KERNEL = 'nats'

/** The device of all rigs of one name, since the start. */
interface MemberDevice {
  readonly device: string
  hashes: number
  /** Lost rigs, and wrong solutions. */
  faults: number
  /** Wrong claims: those that rigs report, and those that reached the leader. */
  hardwareErrors: number
  sessions: number
  paused: number
  goneAtMs: number
}

/** One run of a rig. */
interface MemberSession {
  report: MemberReport
  readonly device: MemberDevice
  lease: number | null
  /** Counted hashes of this run; those before its first report do not count. */
  counted: number
  /** Counted hardware errors of this run; those before its first report do not count. */
  countedErrors: number
  /** Wrong solutions. */
  wrong: number
  readonly firstMs: number
  heardMs: number
}

export class MemberTable {
  readonly #random: () => number
  readonly #sessions = new Map<string, MemberSession>()
  /** Lease -> session. */
  readonly #leases = new Map<number, string>()
  readonly #devices = new Map<string, MemberDevice>()
  #others: MemberDevice | null = null
  #hashes = 0
  readonly #energy = new MemberEnergy()

  /** @param random uniform in [0, 1) */
  constructor(random: () => number) {
    this.#random = random
  }

  /** Number of rigs that reported within the time of a lease. */
  get size(): number {
    return this.#sessions.size
  }

  /** Number of rigs, and the sums of their power and energy. */
  totals(): Pick<FleetStatus, 'rigs' | 'energy'> {
    return { rigs: this.size, energy: this.#energy.sums() }
  }

  /** Hashes of all rigs since their first report to this leader. Never decreases. */
  get hashes(): number {
    return this.#hashes
  }

  /**
   * Handles a report.
   * @returns the lease of the rig from now, or null if all are taken
   */
  report(report: MemberReport, nowMs: number): number | null {
    const known = this.#sessions.get(report.session)
    const session = known ?? this.#join(report, nowMs)
    this.#add(session, report.hashes)
    this.#energy.report(report)
    addErrors(session, report.hardwareErrors ?? 0)
    session.device.paused += Number(report.state === 'paused') - Number(known?.report.state === 'paused')
    session.report = report
    session.heardMs = nowMs
    session.lease = this.#leaseFor(session, report)
    return session.lease
  }

  /**
   * Updates the hashes of a rig between two reports.
   * @param hashes total of its run
   */
  count(key: string, hashes: number): void {
    const session = this.#sessions.get(key)
    if (session !== undefined) this.#add(session, hashes)
  }

  #add(session: MemberSession, hashes: number): void {
    const done = Math.max(0, hashes - session.counted)
    session.counted += done
    session.device.hashes += done
    this.#hashes += done
  }

  /** Removes rigs that were silent for the time of a lease, and frees their leases. */
  expire(nowMs: number): void {
    for (const [key, session] of this.#sessions)
      if (nowMs - session.heardMs >= LEASE_MS) this.#leave(key, session, nowMs)
    for (const [device, { sessions, goneAtMs }] of this.#devices) {
      if (sessions === 0 && nowMs - goneAtMs >= FORGET_MS) this.#devices.delete(device)
    }
  }

  /**
   * Counts a wrong solution of a rig.
   * @param key its session, or empty if unknown
   */
  fault(rig: string, key = ''): void {
    const session = this.#sessions.get(key)
    if (session !== undefined) session.wrong++
    const device = session?.device ?? this.#devices.get(nameOf(rig)) ?? this.#others
    if (device === null) return
    device.faults++
    device.hardwareErrors++
  }

  /** @returns at most `most` rows from this index, in the order of arrival */
  rows(from: number, most: number, nowMs: number): MemberRow[] {
    return [...this.#sessions.values()].slice(from, from + most).map(({ report, lease, firstMs, wrong }) => {
      const { rig, version, state, reason, rate, hashes, accepted, refused, energy, relay } = report
      const hardwareErrors = (report.hardwareErrors ?? 0) + wrong
      const figures = { rig, version, state, reason, rate, hashes, accepted, refused, hardwareErrors }
      const relayed = relay && { relay: { rigs: relay.rigs, rate: relay.rate } }
      return { ...figures, ...(energy && { energy }), lease, ...relayed, seenMs: Math.round(nowMs - firstMs) }
    })
  }

  /** Number of rigs with this name, or of all rigs if null. */
  countNamed(rig: string | null): number {
    if (rig === null) return this.#sessions.size
    return [...this.#sessions.values()].filter(({ report }) => report.rig === rig).length
  }

  /**
   * @returns a status for each device
   * @param unable why none of them searches, or null
   */
  statuses(unable: string | null): DeviceStatus[] {
    const devices = [...this.#devices.values(), ...(this.#others === null ? [] : [this.#others])]
    if (devices.length === 0) return [statusOf(newDevice(SHARED_DEVICE), unable ?? 'no rig is connected')]
    return devices.map((device) => statusOf(device, unable))
  }

  /** Removes all rigs, because leases are up to the next leader. */
  clear(nowMs: number): void {
    for (const [key, session] of this.#sessions) this.#leave(key, session, nowMs)
  }

  #join(report: MemberReport, nowMs: number): MemberSession {
    const device = this.#deviceFor(report.rig)
    device.sessions++
    const counts = { counted: report.hashes, countedErrors: report.hardwareErrors ?? 0, wrong: 0 }
    const session = { report, device, lease: null, ...counts, firstMs: nowMs, heardMs: nowMs }
    this.#sessions.set(report.session, session)
    return session
  }

  #leave(key: string, { lease, device, report }: MemberSession, nowMs: number): void {
    this.#sessions.delete(key)
    this.#energy.leave(key)
    if (lease !== null) this.#leases.delete(lease)
    device.sessions--
    device.paused -= Number(report.state === 'paused')
    device.goneAtMs = nowMs
  }

  /** Its current or claimed lease if no other rig has it, else a free one. */
  #leaseFor({ lease: before }: MemberSession, { session, lease: claimed }: MemberReport): number | null {
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

  #deviceFor(rig: string): MemberDevice {
    const name = nameOf(rig)
    const known = this.#devices.get(name)
    if (known !== undefined) return known
    if (this.#devices.size >= MAX_NAMED) {
      this.#others ??= newDevice(SHARED_DEVICE)
      return this.#others
    }
    const device = newDevice(name)
    this.#devices.set(name, device)
    return device
  }
}

const nameOf = (rig: string) => `rig:${rig}`

function newDevice(device: string): MemberDevice {
  return { device, hashes: 0, faults: 0, hardwareErrors: 0, sessions: 0, paused: 0, goneAtMs: 0 }
}

function addErrors(session: MemberSession, errors: number): void {
  const more = Math.max(0, errors - session.countedErrors)
  session.countedErrors += more
  session.device.hardwareErrors += more
}

function statusOf(rig: MemberDevice, unable: string | null): DeviceStatus {
  const { device, hashes, faults, hardwareErrors, sessions, paused } = rig
  const status = { device, kernel: KERNEL, hashes, faults, hardwareErrors }
  const reason = unable ?? (sessions === 0 ? 'it is not connected' : paused === sessions ? 'it is paused' : null)
  return reason === null ? status : { ...status, state: 'unable', reason }
}
