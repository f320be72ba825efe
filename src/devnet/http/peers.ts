/** The peers that made themselves known to an embedded node. It never asks them anything. */
import net from 'node:net'
import { describeError } from '../../core/errors.ts'
import { isLoopback } from '../../core/host.ts'
import type { PeerInfo } from '../../schema/bodies.ts'
import type { HttpRefusal } from './refusal.ts'

/** Most peers; more are refused. */
const MAX_PEERS = 1000
/** Most connections to peers at once. */
const MAX_CHECKS = 32
/** How long a peer may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 10_000

export class Peers {
  /** By address, in the order in which they came. */
  readonly #peers = new Map<string, PeerInfo>()
  #checks = 0

  get all(): PeerInfo[] {
    return [...this.#peers.values()]
  }

  has(peer: PeerInfo): boolean {
    return this.#peers.has(addressOf(peer))
  }

  /**
   * Makes a peer known if something listens at its address, which must be one of this machine: a development node
   * connects to no other machine. null: it is known now.
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

/** The words in front are those of live nodes (PROTOCOL.md E.1). */
const invalid = (why: string): HttpRefusal => ({ status: 400, message: `Invalid hostaddress: ${why}` })

const addressOf = ({ address: { hostname, port } }: PeerInfo) => `${hostname.toLowerCase()}:${port}`

/** null: something listens there; else why not. */
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
