/** Parses the rigs of a benchmark: `ka3:100,kd6:1000`. */

import { NewcutError } from '../../src/ground/base/errors.ts'
import { suggestName } from '../../src/ground/base/similar-names.ts'
import { isModelName, type ModelName, modelNames } from './models.ts'

export interface RigCount {
  readonly name: ModelName
  readonly count: number
}

/** Maximum number of rigs of all models together. A larger load would take hours. */
const MAX_RIGS = 10_000
const HINT = `such as ka3:100,kd6:1000; models: ${modelNames.join(', ')}`

/**
 * Parses the list.
 * @throws NewcutError BAD_OPTION
 */
export function readRigs(text: string): RigCount[] {
  const rigs: RigCount[] = []
  for (const part of text.split(',')) {
    const [name, digits = '1', ...rest] = part.trim().toLowerCase().split(':')
    if (!isModelName(name)) {
      throw specError(`${JSON.stringify(part.trim())} is not a model of a rig${suggestName(name, modelNames)}`)
    }
    if (rest.length > 0 || !/^[1-9]\d{0,5}$/.test(digits)) {
      throw specError(
        `${JSON.stringify(part.trim())} should have a number of rigs after one colon, from 1 to ${MAX_RIGS}`,
      )
    }
    if (rigs.some((other) => other.name === name)) throw specError(`${name} is named twice`)
    rigs.push({ name, count: Number(digits) })
  }
  const total = rigs.reduce((sum, { count }) => sum + count, 0)
  if (total > MAX_RIGS) throw specError(`${total} rigs are too many: ${MAX_RIGS} at most`)
  return rigs
}

function specError(what: string): NewcutError {
  return new NewcutError('BAD_OPTION', `--rigs: ${what}`, { hint: HINT })
}
