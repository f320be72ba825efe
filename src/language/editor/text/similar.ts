/** Finds the name that a misspelled one probably means. */
import { findSimilarName } from '#ground/base/similar-names.ts'

/** Maximum distance between names that count as similar: names in code are often short, and many differ by little. */
const MAX_DISTANCE = 2

/** @returns null if no name is similar */
export const similarName = (name: string, known: Iterable<string>): string | null =>
  findSimilarName(name, known, Math.min(MAX_DISTANCE, Math.floor(name.length / 3)))
