/** Chance of its own for each part of a simulation: what one part does changes nothing for the others. */
import { createHash } from 'node:crypto'
import { randomFrom } from '../random.ts'

export function diceOf(seed: number, part: string): () => number {
  return randomFrom(createHash('sha256').update(`${seed} ${part}`).digest().readInt32LE())
}
