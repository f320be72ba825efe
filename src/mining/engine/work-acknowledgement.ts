/** Tracks which devices search the newest work. Each report takes constant time, however many devices there are. */

/** Work counts as acknowledged once this portion of the running devices searches it; the slowest ones do not delay it. */
const ACKNOWLEDGED_FRACTION = 0.99

export class WorkAcknowledgement<Device = string> {
  /** Running devices -> sequence of the work that they search, or -1. */
  readonly #searched = new Map<Device, number>()
  #sequence = -1
  /** Number of devices that search the newest work. */
  #acknowledgedCount = 0
  #resolve: ((taken: boolean) => void) | null = null

  /**
   * Starts to wait for new work.
   * @returns true once 99 % of the running devices search it (both of two, 99 of 100). False if newer work or `cancel`
   * comes first.
   */
  await(sequence: number): Promise<boolean> {
    this.cancel()
    this.#sequence = sequence
    this.#acknowledgedCount = 0
    for (const searched of this.#searched.values()) if (searched >= sequence) this.#acknowledgedCount++
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#resolveIfReached()
    })
  }

  /** Adds a device that is ready to search; `expect` includes it from now. */
  deviceUp(device: Device): void {
    if (!this.#searched.has(device)) this.#searched.set(device, -1)
  }

  /** Records that a device searches the work of this sequence. */
  acknowledge(device: Device, sequence: number): void {
    const before = this.#searched.get(device)
    if (before === undefined || before >= sequence) return
    this.#searched.set(device, sequence)
    if (before < this.#sequence && sequence >= this.#sequence) this.#acknowledgedCount++
    this.#resolveIfReached()
  }

  /** Removes a failed or lost device from `expect`. */
  deviceDown(device: Device): void {
    const searched = this.#searched.get(device)
    if (searched === undefined) return
    this.#searched.delete(device)
    if (searched >= this.#sequence) this.#acknowledgedCount--
    this.#resolveIfReached()
  }

  /** Resolves the pending `expect` with false. */
  cancel(): void {
    this.#resolve?.(false)
    this.#resolve = null
  }

  #resolveIfReached(): void {
    if (this.#acknowledgedCount < Math.ceil(ACKNOWLEDGED_FRACTION * this.#searched.size)) return
    this.#resolve?.(true)
    this.#resolve = null
  }
}
