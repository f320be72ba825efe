/** Gives each value a register, and spills those that are read last (Belady) to rows of the table. */
import type { Instruction, Program, Value } from './instructions.ts'

const REGISTERS = 16
/** A value in memory that is read again within this many instructions is loaded, instead of read in place. */
const SOON = 40

/** An operand: a register, or a row of the table. */
export type Operand = { readonly register: number } | { readonly row: string }

export type Line =
  | {
      readonly kind: Instruction['kind']
      readonly to: number
      readonly from: number
      readonly other: Operand | null
      readonly bits: number
    }
  | { readonly kind: 'load'; readonly to: number; readonly row: string }
  | { readonly kind: 'store'; readonly from: number; readonly row: string }

export interface Allocated {
  readonly lines: readonly Line[]
  /** The register of the top word. */
  readonly top: number
  /** Number of rows for spilled values. */
  readonly spillRows: number
}

export const spillRow = (index: number): string => `spill${index}`

export function allocate({ instructions, top }: Program): Allocated {
  const allocation = new Allocation(instructions, top)
  for (const [number, instruction] of instructions.entries()) allocation.write(instruction, number)
  return allocation.end()
}

class Allocation {
  readonly #lines: Line[] = []
  readonly #free = Array.from({ length: REGISTERS }, (_, i) => REGISTERS - 1 - i)
  readonly #registers = new Map<Value, number>()
  /** Rows of values in memory. */
  readonly #rows = new Map<Value, string>()
  readonly #freeRows: string[] = []
  #spillRows = 0
  readonly #top: Value

  constructor(instructions: readonly Instruction[], top: Value) {
    this.#top = top
    instructions.forEach(({ reads }, number) => {
      for (const value of reads) value.uses.push(number)
    })
    top.uses.push(instructions.length)
    for (const { reads } of instructions) {
      for (const value of reads) if (value.row !== null) this.#rows.set(value, value.row)
    }
  }

  write({ kind, reads, bits, writes }: Instruction, number: number): void {
    let [first, second] = reads
    const isFixed = kind === 'shuffle'
    const where = (value: Value) => this.#registers.get(value)
    // The first operand must be in a register, the second may be in memory.
    if (second !== undefined && !isFixed && where(first) === undefined) {
      const isSwapped = where(second) !== undefined || this.#next(second, number) < this.#next(first, number)
      if (isSwapped) [first, second] = [second, first]
    }
    const kept = new Set(reads.filter((value) => where(value) !== undefined))
    if (where(first) === undefined) this.#load(first, kept)
    kept.add(first)
    if (second !== undefined && where(second) === undefined && second.row === null) {
      if (this.#next(second, number) - number < SOON) this.#load(second, kept)
    }
    const from = this.#registerOf(first)
    const other = second === undefined ? null : this.#operand(second)
    for (const value of new Set(reads)) this.#release(value, number)
    const to = this.#room(new Set(reads))
    this.#registers.set(writes, to)
    this.#lines.push({ kind, to, from, other, bits })
  }

  end(): Allocated {
    if (!this.#registers.has(this.#top)) this.#load(this.#top, new Set())
    return { lines: this.#lines, top: this.#registerOf(this.#top), spillRows: this.#spillRows }
  }

  #operand(value: Value): Operand {
    const register = this.#registers.get(value)
    return register === undefined ? { row: this.#rowOf(value) } : { register }
  }

  #registerOf(value: Value): number {
    const register = this.#registers.get(value)
    if (register === undefined) throw new Error('a value is not in a register')
    return register
  }

  #rowOf(value: Value): string {
    const row = this.#rows.get(value)
    if (row === undefined) throw new Error('a value is read before it is written')
    return row
  }

  /** Number of the next instruction after `number` that reads the value. */
  #next(value: Value, number: number): number {
    return value.uses.find((use) => use > number) ?? Number.POSITIVE_INFINITY
  }

  #load(value: Value, kept: ReadonlySet<Value>): void {
    const to = this.#room(kept)
    this.#registers.set(value, to)
    this.#lines.push({ kind: 'load', to, row: this.#rowOf(value) })
  }

  /** After the last read of a value, its register and its row are free. */
  #release(value: Value, number: number): void {
    while (value.uses.length > 0 && value.uses[0] <= number) value.uses.shift()
    if (value.uses.length > 0) return
    const register = this.#registers.get(value)
    if (register !== undefined) this.#free.push(register)
    this.#registers.delete(value)
    const row = this.#rows.get(value)
    if (row !== undefined && value.row === null) this.#freeRows.push(row)
  }

  /** A free register. Spills the value that is read last, except for the kept ones. */
  #room(kept: ReadonlySet<Value>): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const candidates = [...this.#registers.keys()].filter((value) => !kept.has(value))
    const last = candidates.reduce((a, b) => (b.uses[0] > a.uses[0] ? b : a))
    const register = this.#registerOf(last)
    this.#registers.delete(last)
    // A spilled value need not be stored again.
    if (!this.#rows.has(last)) {
      const row = this.#freeRows.pop() ?? spillRow(this.#spillRows++)
      this.#rows.set(last, row)
      this.#lines.push({ kind: 'store', from: register, row })
    }
    return register
  }
}
