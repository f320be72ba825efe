/** Guesses at a misspelled name. */

/** Names that differ in more letters are not the same name misspelled. */
const MAX_DISTANCE = 3

/** Part of a letter. It decides between names that differ in the same number of letters. */
const NUANCE = 1 / 64

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
    const isSimilar = Math.floor(distance) <= Math.max(name.length, candidate.length) / 2
    if (isSimilar && distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/**
 * @returns the most similar known name, or the only one that begins with the given one. It is a question after an error
 *  text, or empty.
 */
export function suggestName(name: string, known: Iterable<string>): string {
  const names = [...known]
  const best = findSimilarName(name, names) ?? findLongerName(name, names)
  return best === null ? '' : `; did you mean ${best}?`
}

/** Minimum letters of a name that is taken for the beginning of another one. */
const MIN_BEGINNING = 3

function findLongerName(name: string, known: readonly string[]): string | null {
  if (name.replace(/^-+/, '').length < MIN_BEGINNING) return null
  const longer = known.filter((each) => each.startsWith(name) && each !== name)
  return longer.length === 1 ? longer[0] : null
}

/** Letters that differ. Two neighbours in the wrong order differ as one letter, and capitals only by a nuance. */
function editDistance(first: string, second: string): number {
  const [a, b] = [first.toLowerCase(), second.toLowerCase()]
  const costOf = (i: number, j: number) => (a[i] !== b[j] ? 1 : first[i] === second[j] ? 0 : NUANCE)
  let earlier: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + costOf(i - 1, j - 1))
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) next[j] = Math.min(next[j], earlier[j - 2] + 1 + NUANCE)
    }
    ;[earlier, row] = [row, next]
  }
  return row[b.length]
}
