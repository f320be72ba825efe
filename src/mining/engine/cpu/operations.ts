/**
 * The top word of a BLAKE2s-256 hash (RFC 7693 section 3.2) as a graph of 32-bit operations. In the last block, one
 * message word is swept and all others are constant. All CPU kernels are generated from this graph.
 *
 * The compression runs once, on symbols instead of numbers. Work that is not needed for each nonce is removed:
 *
 *     constants          are folded: initialisation vector, byte count, finalisation flag
 *     zero padding       message words after the tail are zero; their additions are dropped
 *     uniform values     are computed once per sweep: nearly everything in round 1
 *     the last round     shrinks to the operations that the top word depends on
 *
 * Common subexpressions need no table: the graphs of all work lengths in use have none.
 */

import { IV, MIX_INDICES, ROTATIONS, SIGMA } from '#ground/chain/blake2s.ts'
import type { TailLayout } from './kernel.ts'

/** A 32-bit value. `varying` values differ from nonce to nonce; uniform ones are constant during a sweep. */
export type LaneWord = Constant | Input | WordOperation

interface Constant {
  readonly kind: 'constant'
  readonly varying: false
  /** u32 */
  readonly bits: number
}

/** An input of the kernel: a word of the midstate or the message, or the swept message word k+2. */
interface Input {
  readonly kind: 'state' | 'message' | 'swept'
  readonly varying: boolean
  readonly word: number
}

export type WordOperation = Sum | Rotation

/** `left + right` mod 2^32, or `left ^ right`. */
interface Sum {
  readonly kind: 'add' | 'xor'
  readonly varying: boolean
  readonly left: LaneWord
  readonly right: LaneWord
}

/** `source` rotated right by `bits`. */
export interface Rotation {
  readonly kind: 'rotate'
  readonly varying: boolean
  readonly source: LaneWord
  readonly bits: number
}

/** The place of an operation in the compression. */
interface OperationPlace {
  /** 0 to 19. */
  readonly halfRound: number
  /** Number of its G in the half round, 0 to 3. */
  readonly quarter: number
  /** Line of G, 0 to 7 (RFC 7693 section 3.1). */
  readonly line: number
}

export interface OperationGraph {
  /** Evaluated once per sweep, in this order. */
  readonly uniform: readonly WordOperation[]
  /** Evaluated per nonce, in this order: a list for each half round, operands before their users, `top` last. */
  readonly steps: readonly (readonly WordOperation[])[]
  /** The uniform values that the steps read. */
  readonly shared: readonly LaneWord[]
  /** Bytes 28..31 of the hash, little-endian. */
  readonly top: WordOperation
  readonly places: ReadonlyMap<WordOperation, OperationPlace>
}

/** Operations per hash. */
interface OperationCounts {
  readonly adds: number
  readonly xors: number
  readonly rotates: number
  readonly total: number
}

/** The graph for a layout of work. */
export function operationGraph(layout: TailLayout): OperationGraph {
  const compression = new Compression(layout)
  const top = compression.run()
  const needed = dependencies(top)
  const live = compression.steps.map((step) => step.filter((operation) => needed.has(operation)))
  const steps = live.map((step) => step.filter((operation) => operation.varying)).filter((step) => step.length > 0)
  const shared = new Set(steps.flat().flatMap(operands))
  return {
    uniform: live.flat().filter((operation) => !operation.varying),
    steps,
    shared: [...shared].filter((value) => !value.varying),
    top,
    places: compression.places,
  }
}

/** Counts the operations of one hash: 956 for work of 286 bytes. */
export function countOperations(graph: OperationGraph): OperationCounts {
  const kinds = graph.steps.flat().map((operation) => operation.kind)
  const count = (wanted: WordOperation['kind']) => kinds.filter((kind) => kind === wanted).length
  return { adds: count('add'), xors: count('xor'), rotates: count('rotate'), total: kinds.length }
}

/** The values that an operation reads. */
export function operands(operation: WordOperation): readonly LaneWord[] {
  return operation.kind === 'rotate' ? [operation.source] : [operation.left, operation.right]
}

export function isOperation(value: LaneWord): value is WordOperation {
  return value.kind === 'add' || value.kind === 'xor' || value.kind === 'rotate'
}

/** All operations that `top` depends on, including itself. */
function dependencies(top: WordOperation): ReadonlySet<WordOperation> {
  const found = new Set([top])
  // Iteration over a set includes values added during it.
  for (const operation of found) {
    for (const value of operands(operation)) if (isOperation(value)) found.add(value)
  }
  return found
}

function constant(bits: number): Constant {
  return { kind: 'constant', varying: false, bits: bits >>> 0 }
}

function isZero(value: LaneWord): boolean {
  return value.kind === 'constant' && value.bits === 0
}

/** The part of the state that one G works on, by index, and its two message words. */
interface QuarterRound {
  readonly at: readonly [a: number, b: number, c: number, d: number]
  readonly words: readonly [x: LaneWord, y: LaneWord]
  /** 0 to 3. */
  readonly number: number
}

const [D_FIRST, B_FIRST, D_SECOND, B_SECOND] = ROTATIONS
/** Rotations of d and b in both halves of G. */
const HALVES = [
  [D_FIRST, B_FIRST],
  [D_SECOND, B_SECOND],
] as const

/** Compression F of the last block (RFC 7693 section 3.2) on symbols. Records each operation. */
class Compression {
  /** A list for each half round: columns, diagonals, columns, ... */
  readonly steps: WordOperation[][] = []
  readonly places = new Map<WordOperation, OperationPlace>()
  #place: OperationPlace = { halfRound: 0, quarter: 0, line: 0 }
  readonly #h = Array.from({ length: 8 }, (_, word): LaneWord => ({ kind: 'state', varying: false, word }))
  readonly #m: readonly LaneWord[]
  readonly #v: LaneWord[]

  constructor(layout: TailLayout) {
    const swept = layout.nonceWord + 2
    this.#m = Array.from({ length: 16 }, (_, word): LaneWord => {
      if (word > swept) return constant(0)
      return word === swept ? { kind: 'swept', varying: true, word } : { kind: 'message', varying: false, word }
    })
    this.#v = [...this.#h, ...IV.map(constant)]
    this.#v[12] = constant(IV[4] ^ layout.totalBytes)
    this.#v[14] = constant(~IV[6])
  }

  run(): WordOperation {
    for (const sigma of SIGMA) {
      const quarters = MIX_INDICES.map((at, g): QuarterRound => {
        return { at, words: [this.#m[sigma[2 * g]], this.#m[sigma[2 * g + 1]]], number: g % 4 }
      })
      this.#halfRound(quarters.slice(0, 4))
      this.#halfRound(quarters.slice(4))
    }
    this.#place = { halfRound: 2 * SIGMA.length, quarter: 0, line: 0 }
    const top = this.#sum('xor', this.#h[7], this.#v[7], this.#v[15])
    if (!isOperation(top)) throw new Error('a hash cannot be independent of its message')
    return top
  }

  /**
   * Mixes two G side by side, then the other two. This keeps live ranges short, and the processor overlaps the pairs
   * itself. With the WebAssembly kernel, one G after the other reaches 0.94 of this speed; all four side by side 0.56
   * to 0.82.
   */
  #halfRound(quarters: readonly QuarterRound[]): void {
    this.steps.push([])
    this.#mix(quarters.slice(0, 2))
    this.#mix(quarters.slice(2))
  }

  /** Mixing function G of RFC 7693 section 3.1, line by line on each of `quarters`. */
  #mix(quarters: readonly QuarterRound[]): void {
    const v = this.#v
    const halfRound = this.steps.length - 1
    HALVES.forEach(([turnD, turnB], half) => {
      const lines: readonly ((quarter: QuarterRound) => void)[] = [
        // x or y before b, which is ready last.
        ({ at, words }) => {
          v[at[0]] = this.#sum('add', v[at[0]], words[half], v[at[1]])
        },
        ({ at }) => {
          v[at[3]] = this.#rotate(this.#sum('xor', v[at[3]], v[at[0]]), turnD)
        },
        ({ at }) => {
          v[at[2]] = this.#sum('add', v[at[2]], v[at[3]])
        },
        ({ at }) => {
          v[at[1]] = this.#rotate(this.#sum('xor', v[at[1]], v[at[2]]), turnB)
        },
      ]
      lines.forEach((run, line) => {
        for (const each of quarters) {
          this.#place = { halfRound, quarter: each.number, line: 4 * half + line }
          run(each)
        }
      })
    })
  }

  /** The sum of `terms`: first the uniform ones, which cost nothing per nonce, then the varying ones in order. */
  #sum(kind: Sum['kind'], ...terms: readonly LaneWord[]): LaneWord {
    const join = (left: LaneWord, right: LaneWord) => this.#pair(kind, left, right)
    const uniform = terms.filter((term) => !term.varying).reduce(join, constant(0))
    const [first, ...rest] = terms.filter((term) => term.varying)
    return first === undefined ? uniform : rest.reduce(join, join(first, uniform))
  }

  #pair(kind: Sum['kind'], left: LaneWord, right: LaneWord): LaneWord {
    if (isZero(left)) return right
    if (isZero(right)) return left
    if (left.kind === 'constant' && right.kind === 'constant') {
      return constant(kind === 'add' ? left.bits + right.bits : left.bits ^ right.bits)
    }
    return this.#note({ kind, varying: left.varying || right.varying, left, right })
  }

  #rotate(source: LaneWord, bits: number): LaneWord {
    if (source.kind === 'constant') return constant((source.bits >>> bits) | (source.bits << (32 - bits)))
    return this.#note({ kind: 'rotate', varying: source.varying, source, bits })
  }

  #note(operation: WordOperation): WordOperation {
    this.steps[this.steps.length - 1].push(operation)
    this.places.set(operation, this.#place)
    return operation
  }
}
