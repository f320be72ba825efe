/** Finds the name that a misspelled one probably means. */

/** Longest distance between names that count as similar. */
const MAX_DISTANCE = 2

/** @returns null if no name is similar */
export function similarName(name: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let distance = Math.min(MAX_DISTANCE, Math.floor(name.length / 3)) + 1
  for (const other of known) {
    if (Math.abs(other.length - name.length) >= distance || other === name) continue
    const found = distanceOf(name, other)
    if (found < distance) [best, distance] = [other, found]
  }
  return best
}

/** Number of characters to insert, remove or replace. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1))
    }
    row = next
  }
  return row[other.length]
}
