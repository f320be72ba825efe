/** Guesses at a misspelled name. */

/** @returns the most similar known name as a question, or an empty text if none is similar. */
export function suggestName(name: string, known: Iterable<string>): string {
  let best = ''
  let bestDistance = 4
  for (const candidate of known) {
    // At least this many letters differ. The check bounds the work, because typed names may have any length.
    if (Math.abs(name.length - candidate.length) >= bestDistance) continue
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best === '' ? '' : `; did you mean ${best}?`
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}
