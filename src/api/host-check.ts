/** Keeps pages out whose host name was made to point at the miner (DNS rebinding): browsers send that name as Host. */
import { isIP } from 'node:net'
import { hostOf, isLoopback } from '../core/host.ts'

/** Most characters of a foreign host that a refusal repeats. */
const MAX_SHOWN_LENGTH = 100

/**
 * Why a request with this Host header is not answered; null: it is. A server at a loopback address answers to names and
 * addresses of this machine only. One that others may reach answers to every IP address too, which no name can hide
 * behind, and to the name of the machine. Both answer to `listening`, the host of `--http` as it was given.
 */
export function foreignHostReason(header: string | undefined, listening: string, machine: string): string | null {
  const host = hostOf(header)
  if (isLoopback(host) || host === listening.toLowerCase()) return null
  const isReachable = !isLoopback(listening)
  if (isReachable && (isIP(host) !== 0 || host === machine.toLowerCase())) return null
  const named = host === '' ? 'the request names no host' : `the request is for ${host.slice(0, MAX_SHOWN_LENGTH)}`
  const expected = isReachable ? `an IP address, localhost or ${machine}` : 'localhost, 127.0.0.1 or [::1]'
  return `${named}; expected ${expected} in the URL (--http NAME:PORT serves another name of this machine)`
}
