/** Something that ends mining until the visitor starts again: a sentence, and what would help. */
export class Problem extends Error {
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}
