/** Tracks which devices search the newest work. Each report takes constant time, however many devices there are. */

/** Work counts as taken once this portion of the running devices searches it; the slowest ones do not delay it. */
const TAKEN_FRACTION = 0.99

export class Uptake<Device = string> {
  /** Running devices -> sequence of the work that they search, or -1. */
  readonly #searched = new Map<Device, number>()
  #sequence = -1
  /** Number of devices that search the newest work. */
  #taken = 0
  #resolve: ((taken: boolean) => void) | null = null

  /**
   * Starts to wait for new work.
   * @returns true once 99 % of the running devices search it (both of two, 99 of 100). False if newer work or `cancel`
   * comes first.
   */
  expect(sequence: number): Promise<boolean> {
    this.cancel()
    this.#sequence = sequence
    this.#taken = 0
    for (const searched of this.#searched.values()) if (searched >= sequence) this.#taken++
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#look()
    })
  }

  /** Adds a device that is ready to search; `expect` includes it from now. */
  up(device: Device): void {
    if (!this.#searched.has(device)) this.#searched.set(device, -1)
  }

  /** Records that a device searches the work of this sequence. */
  took(device: Device, sequence: number): void {
    const before = this.#searched.get(device)
    if (before === undefined || before >= sequence) return
    this.#searched.set(device, sequence)
    if (before < this.#sequence && sequence >= this.#sequence) this.#taken++
    this.#look()
  }

  /** Removes a failed or lost device from `expect`. */
  down(device: Device): void {
    const searched = this.#searched.get(device)
    if (searched === undefined) return
    this.#searched.delete(device)
    if (searched >= this.#sequence) this.#taken--
    this.#look()
  }

  /** Resolves the pending `expect` with false. */
  cancel(): void {
    this.#resolve?.(false)
    this.#resolve = null
  }

  #look(): void {
    if (this.#taken < Math.ceil(TAKEN_FRACTION * this.#searched.size)) return
    this.#resolve?.(true)
    this.#resolve = null
  }
}
