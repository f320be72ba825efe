/** The instructions of one vector of nonces: each operation of the graph as machine instructions, in a chosen order. */
import type { LaneWord, OperationGraph, Rotation } from '../../src/mining/engine/cpu/operations.ts'

/** A value in a register. Values are immutable. */
export class Value {
  /** Row of the table that has it, for values that exist before the first instruction. */
  readonly row: string | null
  /** Numbers of the instructions that read it, the earliest first. */
  readonly uses: number[] = []

  constructor(row: string | null = null) {
    this.row = row
  }
}

export type Kind = 'add' | 'xor' | 'or' | 'shuffle' | 'left' | 'right'

export interface Instruction {
  readonly kind: Kind
  /** One value, or two whose order does not matter. A shuffle reads its mask second. */
  readonly reads: readonly Value[]
  /** Bits of a shift. */
  readonly bits: number
  readonly writes: Value
  /** Instructions with lower numbers come first, unless they read what others write. */
  readonly rank: number
}

/** Names of rows. */
export const rowOf = {
  mask: (bits: number) => `mask${bits}`,
  swept: 'swept',
  shared: (index: number) => `shared${index}`,
} as const

/** Steps of G, as in native/sweep.h: two additions and an exclusive or with a rotation, an addition and another. */
const STEPS = 10
const STEP_OF_LINE = [1, 2, 3, 4, 6, 7, 8, 9] as const
/** Steps by which each G lags the previous one in its half round. */
const BEHIND = 1

export interface Program {
  /** In the order of execution. */
  readonly instructions: readonly Instruction[]
  readonly top: Value
}

/** Instructions of the varying part of a graph. */
export function programOf(graph: OperationGraph): Program {
  const values = new Map<LaneWord, Value>(graph.shared.map((word, i) => [word, new Value(rowOf.shared(i))]))
  const masks = new Map([16, 8].map((bits) => [bits, new Value(rowOf.mask(bits))]))
  const swept = new Value(rowOf.swept)
  const valueFor = (word: LaneWord): Value => {
    if (word.kind === 'swept') return swept
    const value = values.get(word)
    if (value === undefined) throw new Error('a value is read before it is written')
    return value
  }
  const instructions: Instruction[] = []
  const add = (kind: Kind, reads: readonly Value[], rank: number, bits = 0): Value => {
    const writes = new Value()
    instructions.push({ kind, reads, bits, writes, rank })
    return writes
  }
  const rotated = ({ source, bits }: Rotation, rank: number): Value => {
    const from = valueFor(source)
    const mask = masks.get(bits)
    if (mask !== undefined) return add('shuffle', [from, mask], rank)
    const left = add('left', [from], rank, 32 - bits)
    const right = add('right', [from], rank + 0.1, bits)
    return add('or', [left, right], rank + 0.2)
  }
  const operations = graph.steps.flat()
  for (const operation of operations) {
    const place = graph.places.get(operation)
    if (place === undefined) throw new Error('an operation has no place')
    const isMessage =
      operation.kind === 'add' &&
      operations.indexOf(operation) < operations.findLastIndex((each) => graph.places.get(each) === place)
    const step = STEP_OF_LINE[place.line] - (isMessage ? 1 : 0)
    const rank = STEPS * place.halfRound + step + BEHIND * place.quarter
    values.set(
      operation,
      operation.kind === 'rotate'
        ? rotated(operation, rank + 0.5)
        : add(operation.kind, [valueFor(operation.left), valueFor(operation.right)], rank),
    )
  }
  return { instructions: inOrder(instructions), top: valueFor(graph.top) }
}

/** By rank, and after everything that they read. */
function inOrder(instructions: readonly Instruction[]): Instruction[] {
  const writers = new Map(instructions.map((each) => [each.writes, each]))
  const byRank = instructions.toSorted((a, b) => a.rank - b.rank)
  const done = new Set<Instruction>()
  const ordered: Instruction[] = []
  const visit = (each: Instruction) => {
    if (done.has(each)) return
    done.add(each)
    for (const value of each.reads) {
      const writer = writers.get(value)
      if (writer !== undefined) visit(writer)
    }
    ordered.push(each)
  }
  for (const each of byRank) visit(each)
  return ordered
}
