/** Parses a time by a format of directives. */
import { stepsOf } from './time-directives.ts'
import { emptyFields, type Fields, timeOf } from './time-fields.ts'
import type { Time } from './value.ts'

/** @returns null if the text does not match the format or the format has an unknown directive */
export function parseTime(format: string, text: string): Time | null {
  const steps = stepsOf(format)
  if (steps === null) return null
  // Backtracking: the second way to read an ambiguous directive waits here. A (directive, position) pair is tried once.
  const waiting: { index: number; at: number; fields: Fields }[] = []
  const seen = new Set<number>()
  let state: { index: number; at: number; fields: Fields } | undefined = { index: 0, at: 0, fields: emptyFields() }
  let isSecondWay = false
  while (state !== undefined) {
    let { index, at } = state
    const { fields } = state
    while (index < steps.length && at >= 0) {
      const [first, second] = steps[index]
      if (second !== undefined && !isSecondWay) {
        const key = index * (text.length + 1) + at
        if (seen.has(key)) at = -1
        else waiting.push({ index, at, fields: { ...fields, dateBy: { ...fields.dateBy } } })
        seen.add(key)
      }
      if (at >= 0) at = (isSecondWay && second !== undefined ? second : first)(text, at, fields)
      isSecondWay = false
      index++
    }
    if (at >= 0 && /^\s*$/.test(text.slice(at))) return timeOf(fields)
    state = waiting.pop()
    isSecondWay = true
  }
  return null
}
