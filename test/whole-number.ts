import { InvalidArgumentError } from 'commander'

/** A parser for an option that counts something. It throws InvalidArgumentError for invalid text. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    throw new InvalidArgumentError(`It takes a whole number, ${least} or more.`)
  }
}
