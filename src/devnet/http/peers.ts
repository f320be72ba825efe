/** Peers that announced themselves to an embedded node. The node never requests anything from them. */
import net from 'node:net'
import { describeError } from '#ground/base/errors.ts'
import { isLoopback } from '#ground/base/host.ts'
import type { PeerInfo } from '#ground/schema/bodies.ts'
import type { HttpRefusal } from './refusal.ts'

/** Maximum peers; more are refused. The list lives in memory. */
const MAX_PEERS = 1000
/** Maximum connections to peers at once: each takes a file descriptor for up to ten seconds. */
const MAX_CHECKS = 32
/** Time a peer has to accept a connection. */
const CONNECT_TIMEOUT_MS = 10_000

export class Peers {
  /** By address, in order of arrival. */
  readonly #peers = new Map<string, PeerInfo>()
  #checks = 0

  get all(): PeerInfo[] {
    return [...this.#peers.values()]
  }

  has(peer: PeerInfo): boolean {
    return this.#peers.has(addressOf(peer))
  }

  /**
   * Adds a peer if something listens at its address. The address must be of this machine: a development node connects
   * to no other machine.
   * @returns null if the peer is known now, otherwise the refusal
   */
  async add(peer: PeerInfo): Promise<HttpRefusal | null> {
    const { hostname, port } = peer.address
    if (!isLoopback(hostname)) {
      return invalid(
        `${hostname} is not this machine (a development node connects to 127.0.0.1, ::1 or localhost only)`,
      )
    }
    if (this.#checks >= MAX_CHECKS) return { status: 503, message: 'Too many peers at once. Retry later.' }
    this.#checks++
    const failure = await connect(hostname, port)
    this.#checks--
    if (failure !== null) return invalid(`${hostname}:${port} is not reachable: ${failure}`)
    if (!this.has(peer) && this.#peers.size >= MAX_PEERS) return invalid(`no more than ${MAX_PEERS} peers are taken`)
    this.#peers.set(addressOf(peer), { id: peer.id, address: { hostname, port } })
    return null
  }
}

/** Live nodes begin the text with the same words (PROTOCOL.md E.1). */
const invalid = (why: string): HttpRefusal => ({ status: 400, message: `Invalid hostaddress: ${why}` })

const addressOf = ({ address: { hostname, port } }: PeerInfo) => `${hostname.toLowerCase()}:${port}`

/** @returns null if something listens there, otherwise the reason why not */
function connect(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: CONNECT_TIMEOUT_MS })
    const settle = (failure: string | null) => {
      socket.destroy()
      resolve(failure)
    }
    socket.once('connect', () => settle(null))
    socket.once('timeout', () => settle(`no answer within ${CONNECT_TIMEOUT_MS} ms`))
    socket.once('error', (error) => settle(describeError(error)))
  })
}
