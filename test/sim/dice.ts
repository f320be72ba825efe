/** Separate random numbers for each part of a simulation: one part never changes the numbers of another. */
import { createHash } from 'node:crypto'
import { randomFrom } from '../random.ts'

export function diceOf(seed: number, part: string): () => number {
  return randomFrom(createHash('sha256').update(`${seed} ${part}`).digest().readInt32LE())
}
