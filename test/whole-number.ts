import { InvalidArgumentError } from 'commander'

/** Reads the value of an option that counts something. The function it gives throws InvalidArgumentError. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
    throw new InvalidArgumentError(`It takes a whole number, ${least} or more.`)
  }
}
