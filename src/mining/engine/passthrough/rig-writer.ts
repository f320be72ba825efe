/**
 * Lines for rigs about a pool session, and their writer. Rigs take the first line after their subscription for its
 * answer, so other lines wait for it.
 */
import { requestLine } from '../../stratum/messages.ts'
import { type ByteOrder, nonce1Text, readNonce1 } from '../../stratum/nonces.ts'
import type { RigPoolJob, RigPoolSession } from '../../stratum/passthrough.ts'
import { targetText } from '../../stratum/targets.ts'

/** Maximum number of waiting lines: the answer to a subscription comes within seconds. */
const MAX_HELD = 64

interface RigWriterPorts {
  readonly nowMs: () => number
  readonly write: (text: string) => void
  /** Called when too many lines wait: the rig must be closed. */
  readonly onFull: () => void
}

export class RigWriter {
  readonly #ports: RigWriterPorts
  readonly #held: string[] = []
  #isHolding = false
  #saidAtMs: number

  constructor(ports: RigWriterPorts) {
    this.#ports = ports
    this.#saidAtMs = ports.nowMs()
  }

  /** Milliseconds since the last line. */
  get silentMs(): number {
    return this.#ports.nowMs() - this.#saidAtMs
  }

  say(text: string): void {
    if (!this.#isHolding) {
      this.#saidAtMs = this.#ports.nowMs()
      this.#ports.write(text)
      return
    }
    this.#held.push(text)
    if (this.#held.length > MAX_HELD) this.#ports.onFull()
  }

  /** Holds all lines from now. */
  hold(): void {
    this.#isHolding = true
  }

  /** Writes the answer, which may be empty, and then the waiting lines. */
  release(answer: string): void {
    this.#isHolding = false
    const text = answer + this.#held.splice(0).join('')
    if (text !== '') this.say(text)
  }

  /** Discards the waiting lines. */
  drop(): void {
    this.#isHolding = false
    this.#held.length = 0
  }
}

export const targetLine = (target: bigint): string => requestLine(null, 'mining.set_target', [targetText(target)])

/** Unchanged from the pool. */
export const jobLine = ({ params }: RigPoolJob): string => requestLine(null, 'mining.notify', params)

/** A new nonce1 without a new log-in. */
export const nonceLine = (line: RigPoolSession, order: ByteOrder): string =>
  requestLine(null, 'mining.set_extranonce', [nonce1For(line, order), line.nonce2Bytes])

/** nonce1 in the byte order of the rig. */
export function nonce1For({ nonce1, nonce2Bytes }: RigPoolSession, order: ByteOrder): string {
  return order === 'usual' ? nonce1 : nonce1Text(readNonce1(nonce1, nonce2Bytes), order)
}
