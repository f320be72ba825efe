/** An open connection of a worker, with its current figures. The stratum server updates them. */
import { accountKey } from './account.ts'

export class WorkerConnection {
  /** Key of the account. */
  readonly key: string
  readonly user: string
  readonly worker: string
  #agent = ''
  #address = ''
  #rate: number | null = null
  #announced: number | null = null
  #difficulty: number | null = null

  constructor(user: string, worker: string) {
    this.key = accountKey(user, worker)
    this.user = user
    this.worker = worker
  }

  /** Name of the rig's program. */
  get agent(): string {
    return this.#agent
  }

  /** IP address. */
  get address(): string {
    return this.#address
  }

  /** Hashes per second by its newest shares, or null if unknown. */
  get rate(): number | null {
    return this.#rate
  }

  /** Hashes per second that its program reports, or null if it reports none. */
  get announced(): number | null {
    return this.#announced
  }

  /** Current share difficulty, or null if none was sent. */
  get difficulty(): number | null {
    return this.#difficulty
  }

  setOrigin(agent: string, address: string): void {
    this.#agent = agent
    this.#address = address
  }

  setRate(hashesPerSecond: number | null): void {
    this.#rate = hashesPerSecond
  }

  setAnnounced(hashesPerSecond: number | null): void {
    this.#announced = hashesPerSecond
  }

  setDifficulty(difficulty: number | null): void {
    this.#difficulty = difficulty
  }
}
