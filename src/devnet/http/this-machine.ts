/** Who may change the state of a node: programs on its own machine, and no web pages. */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Refusal } from './refusal.ts'

/** Whether an address or host name is that of this machine. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Why a request is not from a program on this machine; null: it is. Four things keep web pages out: the media type they
 * would need, the CORS headers they do not get, the Origin header they send, and the host name they use.
 */
export function foreignRefusal({ socket, headers }: FastifyRequest): Refusal | null {
  const address = socket.remoteAddress ?? ''
  if (!isLoopback(address))
    return refused(`control is for this machine only, not for ${address || 'an unknown address'}`)
  const host = hostOf(headers.host ?? '')
  // A page whose host name was made to point here (DNS rebinding) has the same origin as the node.
  if (!isLoopback(host) && isIP(host) === 0)
    return refused(`control needs an IP address or localhost in the URL, not ${host}`)
  if (headers.origin !== undefined) return refused(`control is for programs, not for web pages of ${headers.origin}`)
  return null
}

const refused = (message: string): Refusal => ({ status: 403, message })

function hostOf(header: string): string {
  return /^\[(.*)\](:\d+)?$/.exec(header)?.[1] ?? header.replace(/:\d+$/, '').toLowerCase()
}
