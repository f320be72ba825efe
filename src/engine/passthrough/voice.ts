/** What a rig is told. Rigs take the first line after their subscription for its answer, so all else waits for that. */

/** Lines that wait for the answer to the subscription. */
const MAX_HELD = 64

export interface VoicePorts {
  readonly nowMs: () => number
  readonly write: (text: string) => void
  /** Too much waits: the rig is to be closed. */
  readonly onFull: () => void
}

export class Voice {
  readonly #ports: VoicePorts
  readonly #held: string[] = []
  #isHolding = false
  #saidAtMs: number

  constructor(ports: VoicePorts) {
    this.#ports = ports
    this.#saidAtMs = ports.nowMs()
  }

  /** Since the last line. */
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

  /** All waits from now on. */
  hold(): void {
    this.#isHolding = true
  }

  /** Says the answer, empty where there is none, and then what has waited. */
  release(answer: string): void {
    this.#isHolding = false
    const text = answer + this.#held.splice(0).join('')
    if (text !== '') this.say(text)
  }

  /** What has waited is not said any more. */
  drop(): void {
    this.#isHolding = false
    this.#held.length = 0
  }
}
