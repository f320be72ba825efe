/**
 * Which devices have taken up the newest work. Each report takes the same time however many devices there are. A device is
 * known by whatever identifies it.
 */

/**
 * New work counts as taken up once this share of the devices that are up searches it: the slowest are not waited for.
 */
const TAKEN_SHARE = 0.99

export class Uptake<Device = string> {
  /** Devices that are up -> sequence of the work they search; -1: none yet. */
  readonly #searched = new Map<Device, number>()
  #sequence = -1
  /** Devices that search the newest work. */
  #taken = 0
  #resolve: ((taken: boolean) => void) | null = null

  /**
   * There is new work. Resolves with true once 99 % of the devices that are up search it (both of two, 99 of 100), with
   * false when newer work or `cancel` comes first.
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

  /** The device is ready to search: from now on `expect` waits for it. */
  up(device: Device): void {
    if (!this.#searched.has(device)) this.#searched.set(device, -1)
  }

  /** The device searches the work of this sequence. */
  took(device: Device, sequence: number): void {
    const before = this.#searched.get(device)
    if (before === undefined || before >= sequence) return
    this.#searched.set(device, sequence)
    if (before < this.#sequence && sequence >= this.#sequence) this.#taken++
    this.#look()
  }

  /** The device failed or is gone: `expect` no longer waits for it. */
  down(device: Device): void {
    const searched = this.#searched.get(device)
    if (searched === undefined) return
    this.#searched.delete(device)
    if (searched >= this.#sequence) this.#taken--
    this.#look()
  }

  /** Answers the pending `expect` with false. */
  cancel(): void {
    this.#resolve?.(false)
    this.#resolve = null
  }

  #look(): void {
    if (this.#taken < Math.ceil(TAKEN_SHARE * this.#searched.size)) return
    this.#resolve?.(true)
    this.#resolve = null
  }
}
