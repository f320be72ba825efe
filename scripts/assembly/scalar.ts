/**
 * One more nonce in general registers, whose units are idle while vectors are hashed: the same graph in instructions that
 * overwrite an operand. Each G runs after the one before it, which needs the fewest spills.
 */
import type { LaneWord, OperationGraph, WordOperation } from '../../src/mining/engine/cpu/operations.ts'

/** All but the stack pointer, the frame pointer and the one that has the address of the table. */
const REGISTERS = ['eax', 'ebx', 'ecx', 'edx', 'esi', ...Array.from({ length: 8 }, (_, i) => `r${i + 8}d`)] as const

export type ScalarRegister = string
/** A register, the first word of a row, or a word for a spilled value. */
export type ScalarOperand =
  | { readonly register: ScalarRegister }
  | { readonly row: number }
  | { readonly word: number }
  | 'swept'

export type ScalarLine =
  | { readonly kind: 'add' | 'xor'; readonly to: ScalarRegister; readonly other: ScalarOperand }
  | { readonly kind: 'rotate'; readonly to: ScalarRegister; readonly bits: number }
  | { readonly kind: 'load'; readonly to: ScalarRegister; readonly from: ScalarOperand }
  | { readonly kind: 'store'; readonly from: ScalarRegister; readonly word: number }

export interface ScalarProgram {
  readonly lines: readonly ScalarLine[]
  readonly top: ScalarRegister
  readonly words: number
}

export function scalarProgramOf(graph: OperationGraph): ScalarProgram {
  const place = (operation: WordOperation) => {
    const found = graph.places.get(operation)
    if (found === undefined) throw new Error('an operation has no place')
    return found
  }
  const operations = graph.steps.flat().toSorted((a, b) => {
    const [one, other] = [place(a), place(b)]
    return one.halfRound - other.halfRound || one.quarter - other.quarter || one.line - other.line
  })
  return new Scalars(graph, operations).run()
}

class Scalars {
  readonly #graph: OperationGraph
  readonly #operations: readonly WordOperation[]
  /** Value -> numbers of the operations that read it. */
  readonly #uses = new Map<LaneWord, number[]>()
  readonly #registers = new Map<LaneWord, ScalarRegister>()
  readonly #words = new Map<LaneWord, number>()
  readonly #free: ScalarRegister[] = [...REGISTERS]
  readonly #freeWords: number[] = []
  readonly #lines: ScalarLine[] = []
  #wordCount = 0
  /** Belongs to the operation that is written now. */
  #number = 0

  constructor(graph: OperationGraph, operations: readonly WordOperation[]) {
    this.#graph = graph
    this.#operations = operations
    operations.forEach((operation, number) => {
      for (const value of readsOf(operation)) this.#uses.set(value, [...(this.#uses.get(value) ?? []), number])
    })
    this.#uses.set(graph.top, [operations.length])
  }

  run(): ScalarProgram {
    for (const [number, operation] of this.#operations.entries()) this.#write(operation, number)
    const top = this.#registers.get(this.#graph.top)
    if (top === undefined) throw new Error('the top word is not in a register')
    return { lines: this.#lines, top, words: this.#wordCount }
  }

  #write(operation: WordOperation, number: number): void {
    this.#number = number
    const reads = readsOf(operation)
    const dies = (value: LaneWord) => isVarying(value) && this.#next(value, number) === Number.POSITIVE_INFINITY
    const register = (value: LaneWord) => this.#registers.get(value)
    // The overwritten operand: one that nothing reads later, if possible one in a register.
    const target =
      reads.find((value) => dies(value) && register(value) !== undefined) ?? reads.find(dies) ?? reads.find(isVarying)
    const overwritten = target ?? reads[0]
    const other = reads.find((value) => value !== overwritten) ?? overwritten
    let to = target !== undefined && dies(target) ? register(target) : undefined
    if (to === undefined) {
      to = this.#room(new Set(reads))
      this.#lines.push({ kind: 'load', to, from: this.#operand(overwritten) })
    } else this.#registers.delete(overwritten)
    if (operation.kind === 'rotate') this.#lines.push({ kind: 'rotate', to, bits: operation.bits })
    else this.#lines.push({ kind: operation.kind, to, other: this.#operand(other) })
    for (const value of reads) this.#release(value, number)
    this.#registers.set(operation, to)
  }

  #operand(value: LaneWord): ScalarOperand {
    if (value.kind === 'swept') return 'swept'
    if (!isVarying(value)) return { row: this.#graph.shared.indexOf(value) }
    const register = this.#registers.get(value)
    if (register !== undefined) return { register }
    const word = this.#words.get(value)
    if (word === undefined) throw new Error('a value is read before it is written')
    return { word }
  }

  #next(value: LaneWord, number: number): number {
    return this.#uses.get(value)?.find((use) => use > number) ?? Number.POSITIVE_INFINITY
  }

  #release(value: LaneWord, number: number): void {
    if (!isVarying(value) || this.#next(value, number) !== Number.POSITIVE_INFINITY) return
    const register = this.#registers.get(value)
    if (register !== undefined) this.#free.push(register)
    this.#registers.delete(value)
    const word = this.#words.get(value)
    if (word !== undefined) this.#freeWords.push(word)
    this.#words.delete(value)
  }

  #room(kept: ReadonlySet<LaneWord>): ScalarRegister {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const candidates = [...this.#registers.keys()].filter((value) => !kept.has(value))
    const last = candidates.reduce((a, b) => (this.#soonest(b) > this.#soonest(a) ? b : a))
    const register = this.#registers.get(last)
    if (register === undefined) throw new Error('no register is free')
    this.#registers.delete(last)
    if (!this.#words.has(last)) {
      const word = this.#freeWords.pop() ?? this.#wordCount++
      this.#words.set(last, word)
      this.#lines.push({ kind: 'store', from: register, word })
    }
    return register
  }

  #soonest(value: LaneWord): number {
    return this.#next(value, this.#number - 1)
  }
}

const isVarying = (value: LaneWord) => value.varying && value.kind !== 'swept'

const readsOf = (operation: WordOperation): readonly LaneWord[] =>
  operation.kind === 'rotate' ? [operation.source] : [operation.left, operation.right]
