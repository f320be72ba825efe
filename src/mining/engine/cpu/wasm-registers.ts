/**
 * Register allocation of the WebAssembly kernel: keeps values in locals, or spills them to linear memory.
 *
 * Two states need 32 vectors, x86 has 16 registers, and V8 would choose the spills. Explicit spills are better:
 *
 *     order       memory accesses keep their order, so V8 cannot move operations across them and lengthen live ranges
 *                 (without this: 0.83 of the speed on Node 20 and 22, 1.02 on Node 24, which keeps the order)
 *     alignment   a vector on the stack of V8 crosses a page at some call depths, where each access takes tens of
 *                 cycles: 0.25 of the speed at one depth in a hundred. With this, 0.8 is the worst of 240 depths.
 */

import { type Code, local, v128 } from './wasm-bytes.ts'

export class Variable {
  /** Numbers of the instructions that will read it, the earliest first. */
  readonly uses: number[] = []
  /** The local that has it now. */
  register: number | undefined
  /** Its spill address, kept until its last use. */
  address: number | undefined
}

export class VectorRegisters {
  readonly #held = new Set<Variable>()
  readonly #freeRegisters: number[]
  readonly #freeAddresses: number[] = []
  #memoryEnd: number

  /** Manages `count` v128 locals from `first`, and memory from `address`. */
  constructor(first: number, count: number, address: number) {
    this.#freeRegisters = Array.from({ length: count }, (_, index) => first + index)
    this.#memoryEnd = address
  }

  /** Pops the operand stack into a register for `variable`. */
  define(variable: Variable): Code {
    return [...this.#makeRoom(), ...this.#occupy(variable)]
  }

  /** Loads `variable` into a register unless it is in one. */
  fetch(variable: Variable): Code {
    if (variable.register !== undefined) return []
    if (variable.address === undefined) throw new Error('a vector is read before it is defined')
    return [...this.#makeRoom(), ...v128.load(variable.address), ...this.#occupy(variable)]
  }

  get(variable: Variable): Code {
    if (variable.register === undefined) throw new Error('a vector is read that is not in a register')
    return local.get(variable.register)
  }

  /** Removes the next use of `variable`. After the last one, its register and address are free. */
  release(variable: Variable): void {
    variable.uses.shift()
    if (variable.uses.length > 0) return
    this.#vacate(variable)
    if (variable.address !== undefined) this.#freeAddresses.push(variable.address)
  }

  #occupy(variable: Variable): Code {
    const register = this.#freeRegisters.pop()
    if (register === undefined) throw new Error('no vector register is free')
    variable.register = register
    this.#held.add(variable)
    return local.set(register)
  }

  #vacate(variable: Variable): void {
    if (variable.register !== undefined) this.#freeRegisters.push(variable.register)
    variable.register = undefined
    this.#held.delete(variable)
  }

  /** Frees a register if necessary, that of the value with the latest next use (Belady). */
  #makeRoom(): Code {
    if (this.#freeRegisters.length > 0) return []
    const last = [...this.#held].reduce((a, b) => (a.uses[0] > b.uses[0] ? a : b))
    const register = last.register
    this.#vacate(last)
    // Values are immutable, so a spilled one need not be stored again.
    if (last.address !== undefined || register === undefined) return []
    last.address = this.#freeAddresses.pop() ?? this.#extend()
    return v128.store(last.address, local.get(register))
  }

  #extend(): number {
    this.#memoryEnd += 16
    return this.#memoryEnd - 16
  }
}
