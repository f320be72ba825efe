/** Prevents DNS rebinding by a check of the Host header. */
import { hostOf, isHostOf, isLoopback } from '#ground/base/host.ts'

/** Length limit of a foreign host name in the refusal. */
const MAX_SHOWN_LENGTH = 100

/**
 * Checks the Host header of a request. A server on a loopback address accepts names and addresses of this machine only.
 * A server that others can reach also accepts every IP address, because DNS rebinding needs a name, and the machine's
 * name.
 * @param listening the host of `--http` as the user gave it; always accepted
 * @param machine name of this machine
 * @returns why the request is refused, or null to accept it
 */
export function foreignHostReason(header: string | undefined, listening: string, machine: string): string | null {
  const isReachable = !isLoopback(listening)
  const names = isReachable ? [listening, machine] : [listening]
  if (isHostOf(header, { anyAddress: isReachable, names })) return null
  const host = hostOf(header)
  const named = host === '' ? 'the request names no host' : `the request is for ${host.slice(0, MAX_SHOWN_LENGTH)}`
  const expected = isReachable ? `an IP address, localhost or ${machine}` : 'localhost, 127.0.0.1 or [::1]'
  return `${named}; expected ${expected} in the URL (--http NAME:PORT serves another name of this machine)`
}
