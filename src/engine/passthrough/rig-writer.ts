/**
 * Writes lines to a rig. Rigs take the first line after their subscription for its answer, so other lines wait for it.
 */

/** Maximum number of waiting lines. */
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
