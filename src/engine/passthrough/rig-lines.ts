/** Lines for rigs about a pool session. */
import { requestLine } from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text, readNonce1 } from '../../stratum/nonces.ts'
import type { LineJob, PoolLine } from '../../stratum/passthrough.ts'
import { targetText } from '../../stratum/targets.ts'

export const targetLine = (target: bigint): string => requestLine(null, 'mining.set_target', [targetText(target)])

/** Unchanged from the pool. */
export const jobLine = ({ params }: LineJob): string => requestLine(null, 'mining.notify', params)

/** A new nonce1 without a new log-in. */
export const nonceLine = (line: PoolLine, order: ByteOrder): string =>
  requestLine(null, 'mining.set_extranonce', [nonce1For(line, order), line.nonce2Bytes])

/** nonce1 in the byte order of the rig. */
export function nonce1For({ nonce1, nonce2Bytes }: PoolLine, order: ByteOrder): string {
  return order === 'usual' ? nonce1 : nonce1Text(readNonce1(nonce1, nonce2Bytes), order)
}
