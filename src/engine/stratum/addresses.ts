/** What is known of the addresses of clients: how many sessions, how much they ask, and whether they are banned. */
import { type Conduct, judge, newConduct } from './conduct.ts'
import type { RigLimits } from './limits.ts'

/** Addresses without a session that are remembered because they misbehaved. */
const MAX_REMEMBERED = 10_000

export interface Address extends Conduct {
  readonly key: string
  /** Connections, those included whose TLS handshake goes on. */
  sessions: number
  /** Requests that may still be read in this second. */
  budget: number
  refilledAtMs: number
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

  /** A good share came, or what is no message. True: the address is banned from now on. */
  judge(address: Address, done: { readonly good?: number; readonly bad?: number }, nowMs: number): boolean {
    return judge(address, done, this.#limits, nowMs)
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
    return { key, sessions: 0, budget: 2 * rate, refilledAtMs: nowMs, ...newConduct() }
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
