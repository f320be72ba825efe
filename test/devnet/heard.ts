/** Collects transaction events and lets a test wait for them. */
import type { TransactionEvent } from '../../src/ground/schema/devnet-events.ts'

export class Heard {
  readonly all: TransactionEvent[] = []
  #look = () => undefined as unknown

  /** Handler for `onTransaction`. */
  readonly tell = (event: TransactionEvent): void => {
    this.all.push(event)
    this.#look()
  }

  /** Resolves with all events so far once there are at least `count`. */
  events(count: number): Promise<readonly TransactionEvent[]> {
    return new Promise((resolve) => {
      this.#look = () => this.all.length >= count && resolve([...this.all])
      this.#look()
    })
  }

  /** Each event in three words, such as `included 0 KEY`. */
  async brief(count: number): Promise<string[]> {
    return (await this.events(count)).map((event) => {
      if (event.step === 'skipped') return `skipped ${event.steps}`
      return `${event.step} ${event.chain} ${event.requestKey}`
    })
  }
}
