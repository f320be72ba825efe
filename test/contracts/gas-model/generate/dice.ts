/** Chance of a generator: the same seed gives the same program. */
import { randomFrom } from '../../../random.ts'

export class Dice {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomFrom(seed)
  }

  /** 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.#random() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]
  }

  /** Some of the items, in their order. */
  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.chance(probability))
  }

  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items]
    const out: T[] = []
    while (left.length > 0) out.push(...left.splice(this.below(left.length), 1))
    return out
  }
}
