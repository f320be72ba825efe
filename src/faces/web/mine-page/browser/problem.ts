/** A problem that ends mining until the visitor restarts: a sentence and advice. */
export class Problem extends Error {
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}
