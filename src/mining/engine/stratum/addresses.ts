/** Client addresses of the stratum server: their sessions, request rate and bans, also of workers at an address. */
import { countConduct, newConduct, type RigBehaviour } from './conduct.ts'
import type { RigLimits } from './limits.ts'

/** Maximum number of remembered addresses without a session that misbehaved, against a botnet. */
const MAX_REMEMBERED = 10_000
/** Maximum number of workers of an address whose conduct is known, and of those of a remembered address. */
const MAX_WORKERS = 256
const MAX_REMEMBERED_WORKERS = 16

export interface Address extends RigBehaviour {
  readonly key: string
  /** Number of connections, including those in the TLS handshake. */
  sessions: number
  /** Remaining requests of this second. */
  budget: number
  refilledAtMs: number
  /** Conduct of each worker at this address, by its key. The same worker is judged apart at other addresses. */
  readonly workers: Map<string, RigBehaviour>
}

export class Addresses {
  readonly #limits: RigLimits
  /** Addresses with sessions. */
  readonly #present = new Map<string, Address>()
  readonly #remembered = new Map<string, Address>()

  constructor(limits: RigLimits) {
    this.#limits = limits
  }

  /**
   * Admits a client.
   * @returns null if it is refused
   */
  enter(remoteAddress: string, nowMs: number): Address | null {
    const key = addressKey(remoteAddress)
    const address = this.#present.get(key) ?? this.#remembered.get(key) ?? this.#newAddress(key, nowMs)
    if (address.bannedUntilMs > nowMs || address.sessions >= this.#limits.sessionsPerAddress) return null
    this.#remembered.delete(key)
    this.#present.set(key, address)
    address.sessions++
    return address
  }

  /** Whether the address has the maximum number of sessions. */
  isFull(remoteAddress: string): boolean {
    const address = this.#present.get(addressKey(remoteAddress))
    return address !== undefined && address.sessions >= this.#limits.sessionsPerAddress
  }

  leave(address: Address): void {
    if (--address.sessions > 0) return
    this.#present.delete(address.key)
    const bad = [...address.workers].filter(([, conduct]) => conduct.bad > 0)
    address.workers.clear()
    for (const [key, conduct] of bad.slice(-MAX_REMEMBERED_WORKERS)) address.workers.set(key, conduct)
    if (address.bad === 0 && bad.length === 0) return
    this.#remembered.set(address.key, address)
    const [first] = this.#remembered.keys()
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(first)
  }

  /**
   * Counts good shares or invalid lines.
   * @returns true if the address is banned from now
   */
  judge(address: Address, count: { readonly good?: number; readonly bad?: number }, nowMs: number): boolean {
    return countConduct(address, count, this.#limits, nowMs)
  }

  /**
   * Counts good or bad shares of a worker at this address.
   * @returns its conduct if it is banned here from now, or null
   */
  judgeWorker(
    { workers }: Address,
    key: string,
    count: { readonly good?: number; readonly bad?: number },
    nowMs: number,
  ) {
    const conduct = workers.get(key) ?? newConduct()
    // The newest is last.
    workers.delete(key)
    workers.set(key, conduct)
    const [oldest] = workers.keys()
    if (workers.size > MAX_WORKERS) workers.delete(oldest)
    return countConduct(conduct, count, this.#limits, nowMs) ? conduct : null
  }

  /** Adds the requests of another second. Call it once a second. */
  refill(address: Address, nowMs: number): void {
    if (address.refilledAtMs === nowMs) return
    const { requestsPerSecondOfAddress: rate } = this.#limits
    address.refilledAtMs = nowMs
    address.budget = Math.min(2 * rate, address.budget + rate)
  }

  #newAddress(key: string, nowMs: number): Address {
    const { requestsPerSecondOfAddress: rate } = this.#limits
    return { key, sessions: 0, budget: 2 * rate, refilledAtMs: nowMs, workers: new Map(), ...newConduct() }
  }
}

/** Whether a worker is banned at this address. */
export const isWorkerBanned = ({ workers }: Address, key: string, nowMs: number) =>
  (workers.get(key)?.bannedUntilMs ?? 0) > nowMs

/** Key of an address: an IPv4 address, or the /64 network of an IPv6 address, within which clients choose freely. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]
  if (!address.includes(':')) return address
  const [head, rest] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const trailing = rest === undefined || rest === '' ? [] : rest.split(':')
  while (groups.length + trailing.length < 8) groups.push('0')
  return [...groups, ...trailing]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
