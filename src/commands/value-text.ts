/** Values of contracts as text for people. */
import { showValue } from '../contracts/values/print.ts'
import type { Value } from '../contracts/values/value.ts'

/** Control characters, except line ends and tabs: a string of a contract may move the cursor. */
const UNPRINTABLE = /[^\P{C}\n\t]/gu

/** The source form of a value, fit for a terminal. */
export function valueText(value: Value): string {
  return withoutControls(showValue(value))
}

/** Untrusted text, fit for a terminal. Its spaces stay as they are. */
export function withoutControls(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}
