/** Parses a time by a format of directives. */
import { stepsOf } from './time-directives.ts'
import { emptyFields, timeOf } from './time-fields.ts'
import type { TimeDirectives } from './time-steps.ts'
import type { Time } from './value.ts'

/** @returns null if the text does not match the format or the format has an unknown directive */
export function parseTime(format: string, text: string): Time | null {
  const steps = stepsOf(format)
  const ways = steps === null ? null : waysThrough(steps, text)
  if (steps === null || ways === null) return null
  const fields = emptyFields()
  let at = 0
  for (const [index, step] of steps.entries()) at = (step[ways[index]] ?? step[0])(text, at, fields)
  return timeOf(fields)
}

/**
 * Finds how to read each directive: 0 for its first way, 1 for its second. It searches positions only, so that fields
 * are read once. A way is tried once for each directive and position.
 * @returns null if the text does not match
 */
function waysThrough(steps: readonly TimeDirectives[], text: string): Uint8Array | null {
  const ways = new Uint8Array(steps.length)
  const isTried = triedPlaces(steps, text)
  /** Ambiguous directives that were read in their first way, and their positions. */
  const waiting: (readonly [index: number, at: number])[] = []
  const unused = emptyFields()
  let [index, at] = [0, 0]
  let isSecondWay = false
  for (;;) {
    while (index < steps.length && at >= 0) {
      const [first, second] = steps[index]
      if (second !== undefined && !isSecondWay) {
        if (isTried(index, at)) break
        waiting.push([index, at])
      }
      ways[index] = isSecondWay ? 1 : 0
      at = (isSecondWay && second !== undefined ? second : first)(text, at, unused)
      isSecondWay = false
      index++
    }
    if (index === steps.length && at >= 0 && /^\s*$/.test(text.slice(at))) return ways
    const next = waiting.pop()
    if (next === undefined) return null
    ;[index, at] = next
    isSecondWay = true
  }
}

/** A function that tells whether a directive with two ways was tried at a position, and notes that it is now. */
function triedPlaces(steps: readonly TimeDirectives[], text: string): (index: number, at: number) => boolean {
  let count = 0
  const rows = steps.map(([, second]) => (second === undefined ? -1 : count++))
  const tried = new Uint8Array(count * (text.length + 1))
  return (index, at) => {
    const place = rows[index] * (text.length + 1) + at
    if (tried[place] === 1) return true
    tried[place] = 1
    return false
  }
}
