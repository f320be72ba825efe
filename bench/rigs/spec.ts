/** Parses the rigs of a benchmark: `ka3:100,kd6:1000`. */
import { NewcutError } from '../../src/ground/base/errors.ts'
import { isModelName, type ModelName, modelNames } from './models.ts'

export interface RigCount {
  readonly name: ModelName
  readonly count: number
}

/** Limit of rigs of all models together. */
const MAX_RIGS = 10_000
const HINT = `such as ka3:100,kd6:1000; models: ${modelNames.join(', ')}`

/** Parses the list. Throws NewcutError BAD_OPTION. */
export function readRigs(text: string): RigCount[] {
  const rigs: RigCount[] = []
  for (const part of text.split(',')) {
    const [name, digits = '1', ...rest] = part.trim().toLowerCase().split(':')
    if (!isModelName(name)) throw wrong(`${JSON.stringify(part.trim())} names no model of a rig`)
    if (rest.length > 0 || !/^[1-9]\d{0,5}$/.test(digits)) {
      throw wrong(`${JSON.stringify(part.trim())} should have a number of rigs behind one colon, from 1 to ${MAX_RIGS}`)
    }
    if (rigs.some((other) => other.name === name)) throw wrong(`${name} is there twice`)
    rigs.push({ name, count: Number(digits) })
  }
  const all = rigs.reduce((sum, { count }) => sum + count, 0)
  if (all > MAX_RIGS) throw wrong(`${all} rigs are too many: ${MAX_RIGS} at most`)
  return rigs
}

function wrong(what: string): NewcutError {
  return new NewcutError('BAD_OPTION', `--rigs: ${what}`, { hint: HINT })
}
