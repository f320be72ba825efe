/** Access control of a node: programs on its own machine may change its state, and so may its own page there. */
import type { FastifyRequest } from 'fastify'
import { foreignPage, hostOf, isHostOf, isLoopback } from '#ground/base/host.ts'
import type { HttpRefusal } from './refusal.ts'

/** Hosts in the URL of a node that listens on all addresses. Clients treat them as their own machine. */
const UNSPECIFIED = ['0.0.0.0', '::']

/**
 * Checks that a request comes from a program on this machine. Wherever the node listens, the client must come from a
 * loopback address, and must call the node by one. A page of this very address may pass: it belongs to the node.
 *
 * Five things keep other web pages out:
 * - the media type that they would need
 * - the CORS headers that they do not get
 * - the Origin header that they send
 * - the origin that browsers report (sec-fetch-site)
 * - the host name that they use
 *
 * @returns null if the request is from this machine, otherwise the refusal
 */
export function foreignRefusal({ socket, headers }: FastifyRequest): HttpRefusal | null {
  const address = socket.remoteAddress ?? ''
  if (!isLoopback(address))
    return forbid(`control is for this machine only, not for ${address || 'an unknown address'}`)
  // A page whose host name resolves to this machine (DNS rebinding) has the same origin as the node.
  if (!isHostOf(headers.host, { anyAddress: false, names: UNSPECIFIED })) {
    const host = hostOf(headers.host) || 'an empty host'
    return forbid(`control needs localhost, 127.0.0.1 or [::1] in the URL, not ${host}`)
  }
  const page = foreignPage(headers)
  return page === null ? null : forbid(`control is for programs, not for ${page}`)
}

const forbid = (message: string): HttpRefusal => ({ status: 403, message })
