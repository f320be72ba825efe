/** What is known of the addresses of clients: how many sessions, how much they ask, and whether they are banned. */
import type { RigLimits } from './limits.ts'

/** Bad and good requests are counted for so long. */
const WINDOW_MS = 5 * 60_000
const BAD_FOR_EACH_GOOD = 4
/** Addresses without a session that are remembered because they misbehaved. */
const MAX_REMEMBERED = 10_000

export interface Address {
  readonly key: string
  /** Connections, those included whose TLS handshake goes on. */
  sessions: number
  /** Requests that may still be read in this second. */
  budget: number
  refilledAtMs: number
  good: number
  bad: number
  windowMs: number
  bannedUntilMs: number
}

export class Addresses {
  readonly #limits: RigLimits
  /** Those with sessions. */
  readonly #present = new Map<string, Address>()
  readonly #remembered = new Map<string, Address>()

  constructor(limits: RigLimits) {
    this.#limits = limits
  }

  /** A client comes. null: not let in. */
  enter(remoteAddress: string, nowMs: number): Address | null {
    const key = addressKey(remoteAddress)
    const address = this.#present.get(key) ?? this.#remembered.get(key) ?? this.#unknown(key, nowMs)
    if (address.bannedUntilMs > nowMs || address.sessions >= this.#limits.sessionsPerAddress) return null
    this.#remembered.delete(key)
    this.#present.set(key, address)
    address.sessions++
    return address
  }

  /** Whether it has as many sessions as it may. */
  isFull(remoteAddress: string): boolean {
    const address = this.#present.get(addressKey(remoteAddress))
    return address !== undefined && address.sessions >= this.#limits.sessionsPerAddress
  }

  leave(address: Address): void {
    if (--address.sessions > 0) return
    this.#present.delete(address.key)
    if (address.bad === 0) return
    this.#remembered.set(address.key, address)
    const [first] = this.#remembered.keys()
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(first)
  }

  /** Something good (a share) or bad came. True: the address is banned from now on. */
  judge(address: Address, { good = 0, bad = 0 }, nowMs: number): boolean {
    if (nowMs - address.windowMs > WINDOW_MS) Object.assign(address, { windowMs: nowMs, good: 0, bad: 0 })
    address.good += good
    address.bad += bad
    const isBad = address.bad >= this.#limits.badUntilBan && address.bad > BAD_FOR_EACH_GOOD * address.good
    if (bad === 0 || !isBad) return false
    address.bannedUntilMs = nowMs + this.#limits.banMs
    return true
  }

  /** Gives the requests of another second, once a second. */
  refill(address: Address, nowMs: number): void {
    if (address.refilledAtMs === nowMs) return
    const { requestsPerSecondOfAddress: rate } = this.#limits
    address.refilledAtMs = nowMs
    address.budget = Math.min(2 * rate, address.budget + rate)
  }

  #unknown(key: string, nowMs: number): Address {
    const { requestsPerSecondOfAddress: rate } = this.#limits
    return {
      key,
      sessions: 0,
      budget: 2 * rate,
      refilledAtMs: nowMs,
      good: 0,
      bad: 0,
      windowMs: nowMs,
      bannedUntilMs: 0,
    }
  }
}

/** An IPv4 address, or the network of an IPv6 one: its first 64 bits, within which clients choose freely. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped !== null) return mapped[1]
  if (!address.includes(':')) return address
  const [head, rest] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const behind = rest === undefined || rest === '' ? [] : rest.split(':')
  while (groups.length + behind.length < 8) groups.push('0')
  return [...groups, ...behind]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
