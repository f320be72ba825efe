/** Values that contracts made, as people read them. */
import { showValue } from '../contracts/values/print.ts'
import type { Value } from '../contracts/values/value.ts'

/** Control characters and the like, but for line ends and tabs: a string of a contract may hold what moves a cursor. */
const UNPRINTABLE = /[^\P{C}\n\t]/gu

/** The source form of a value, fit for a terminal. */
export function valueText(value: Value): string {
  return withoutControls(showValue(value))
}

/** Text of somebody else, fit for a terminal; its spaces stay as they are. */
export function withoutControls(text: string): string {
  return text.replace(UNPRINTABLE, ' ')
}
