/** Guesses at a misspelled name. */

/** Names that differ in more letters are not the same name misspelled. */
const MAX_DISTANCE = 3

/**
 * @param maxDistance maximum number of letters in which a similar name differs
 * @returns the most similar other name, or null if none is similar
 */
export function findSimilarName(name: string, known: Iterable<string>, maxDistance = MAX_DISTANCE): string | null {
  let best: string | null = null
  let bestDistance = maxDistance + 1
  for (const candidate of known) {
    // At least this many letters differ. The check bounds the work, because typed names may have any length.
    if (Math.abs(name.length - candidate.length) >= bestDistance || candidate === name) continue
    const distance = editDistance(name, candidate)
    // Half of the letters of a short name must be right.
    const isSimilar = distance <= Math.max(name.length, candidate.length) / 2
    if (isSimilar && distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** @returns the most similar known name as a question after an error text, or an empty text if none is similar */
export function suggestName(name: string, known: Iterable<string>): string {
  const best = findSimilarName(name, known)
  return best === null ? '' : `; did you mean ${best}?`
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
