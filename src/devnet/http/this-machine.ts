/** Who may change the state of a node: programs on its own machine, and the page that the node itself serves to it. */
import type { FastifyRequest } from 'fastify'
import { hostOf, isLoopback } from '../../core/host.ts'
import type { HttpRefusal } from './refusal.ts'

/** The URL of a node that listens on all addresses has one of these; a client takes them for its own machine. */
const UNSPECIFIED = ['0.0.0.0', '::']

/**
 * Why a request is not from a program on this machine; null: it is. Wherever the node listens, the client has to come
 * from a loopback address, and to call the node by one. Five things keep other web pages out: the media type they would
 * need, the CORS headers they do not get, the Origin header they send, what browsers say of where a request comes from
 * (sec-fetch-site), and the host name they use. The page of this very address may pass: it is the node's own.
 */
export function foreignRefusal({ socket, headers }: FastifyRequest): HttpRefusal | null {
  const address = socket.remoteAddress ?? ''
  if (!isLoopback(address))
    return refused(`control is for this machine only, not for ${address || 'an unknown address'}`)
  const host = hostOf(headers.host)
  // A page whose host name was made to point here (DNS rebinding) has the same origin as the node.
  if (!isLoopback(host) && !UNSPECIFIED.includes(host))
    return refused(`control needs localhost, 127.0.0.1 or [::1] in the URL, not ${host || 'an empty host'}`)
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin !== `http://${headers.host}`)
    return refused(`control is for programs, not for web pages of ${origin}`)
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return refused(`control is for programs, not for a request that is ${String(site)}`)
  return null
}

const refused = (message: string): HttpRefusal => ({ status: 403, message })
