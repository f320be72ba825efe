/**
 * Generates a WebAssembly module with 128-bit SIMD from an operation graph. Its only function is
 *
 *     sweep(low, middle, from, to) -> start of the first chunk with a candidate, or `to`
 *
 * A chunk is one vector of four nonces, or two that alternate every half round. One needs fewer registers, and two have
 * more independent operations. One vector reaches 1.32 to 1.47 of the speed of two on Zen 3, and 0.9 on Zen 4 (Node 20). Three
 * and four reach 0.6, because their loops do not fit into the instruction caches.
 */

import type { TailLayout } from './kernel.ts'
import { type LaneWord, type OperationGraph, operands, type Rotation, type WordOperation } from './operations.ts'
import { type Code, code, control, i8x16, i32, i32x4, local, moduleBytes, v128 } from './wasm-bytes.ts'
import { Variable, VectorRegisters } from './wasm-registers.ts'

/** The most vectors of a chunk. */
const MAX_VECTORS = 2

/**
 * Byte addresses: 8 words || 16 words || u32, padded || a mask || swept vectors || uniform vectors || spilled vectors.
 */
export const MEMORY = {
  midstate: 0,
  tail: 32,
  bound: 96,
  mask: 112,
  swept: 128,
  shared: 128 + 16 * MAX_VECTORS,
} as const

/** The parameters of `sweep`, by local index. */
const LOW = 0
const MIDDLE = 1
const FROM = 2
const TO = 3
const PARAMETERS = 4

/**
 * Number of locals for values of the graph. x86 has 16 vector registers: V8 reserves one, two hold shuffle masks, and
 * rotations and memory operands need some temporarily. With more locals V8 spills too, and at some call depths the
 * kernel drops to 0.5 (see wasm-registers.ts). Speeds: two vectors with 8 locals reach 0.98 of those with 9, with 10 to
 * 14 they reach 1.00. One vector with 12 locals reaches 1.07 to 1.11 of that with 9. Node 20 and 22 then have a slow
 * depth in a hundred, which 10 locals do not end; Node 24 and 26 have none.
 */
function localsOf({ vectors, keepsMemoryOrder }: WasmOptions): number {
  return vectors === 1 && keepsMemoryOrder ? 12 : 9
}

/** Masks for rotations by whole bytes: the source of each byte when 32-bit lanes are rotated right. */
const SHUFFLES = [16, 8].map((bits) => ({
  bits,
  mask: v128.const(Array.from({ length: 16 }, (_, i) => (i & ~3) | ((i + bits / 8) & 3))),
}))

export type WasmVectors = 1 | 2

interface WasmOptions {
  /** Vectors of four nonces in a chunk. */
  readonly vectors: WasmVectors
  /** Whether to use relaxed SIMD. */
  readonly relaxed: boolean
  /** Whether V8 keeps the order of memory accesses, and so spills little of its own: since Node 24. */
  readonly keepsMemoryOrder: boolean
}

/**
 * Generates the module.
 * @param layout layout of the last block of the work
 * @param graph operation graph of that layout
 */
export function emitWasm(layout: TailLayout, graph: OperationGraph, options: WasmOptions): Uint8Array<ArrayBuffer> {
  const firstVector = PARAMETERS + graph.uniform.length
  const chunk = new Chunk(graph, options, firstVector)
  return moduleBytes({
    name: 'sweep',
    parameters: PARAMETERS,
    i32Locals: graph.uniform.length,
    v128Locals: localsOf(options) + SHUFFLES.length,
    body: code(
      code(local.get(FROM), local.get(TO), i32.geU, control.if, local.get(TO), control.return, control.end),
      uniformPart(layout, graph),
      chunk.start(),
      control.loop,
      chunk.hash(),
      chunk.anyCandidate(),
      code(control.if, local.get(FROM), control.return, control.end),
      chunk.advance(),
      code(local.get(FROM), i32.const(4 * options.vectors), i32.add, local.tee(FROM), local.get(TO), i32.ltU),
      control.continueIf,
      control.end,
      local.get(TO),
    ),
  })
}

/** A module that is valid only where relaxed SIMD is supported. */
export function relaxedSimdProbe(): Uint8Array<ArrayBuffer> {
  const vector = i32x4.const([0, 0, 0, 0])
  const body = code(vector, vector, i8x16.relaxedSwizzle, v128.anyTrue)
  return moduleBytes({ name: 'probe', parameters: 0, i32Locals: 0, v128Locals: 0, body })
}

/**
 * Once per sweep: evaluates the uniform operations as scalars, and stores the values that chunks need as vectors in
 * memory. Locals would be as fast, but V8 would spill them to its stack.
 */
function uniformPart(layout: TailLayout, graph: OperationGraph): Code {
  const locals = new Map<LaneWord, number>(graph.uniform.map((operation, index) => [operation, PARAMETERS + index]))
  const scalar = (value: LaneWord): Code => {
    if (value.kind === 'constant') return i32.const(value.bits)
    if (value.kind === 'state') return i32.load(MEMORY.midstate + 4 * value.word)
    return value.kind === 'message' ? messageWord(layout, value.word) : local.get(lookUp(locals, value))
  }
  const evaluate = (operation: WordOperation): Code => {
    return operation.kind === 'rotate'
      ? code(scalar(operation.source), i32.const(operation.bits), i32.rotr)
      : code(scalar(operation.left), scalar(operation.right), i32[operation.kind])
  }
  return code(
    ...graph.uniform.map((operation) => code(evaluate(operation), local.set(lookUp(locals, operation)))),
    ...graph.shared.map((value, index) => v128.store(sharedAddress(index), code(scalar(value), i32x4.splat))),
  )
}

/** A word of the tail, with `low` and `middle` inserted. */
function messageWord(layout: TailLayout, word: number): Code {
  if (word === layout.nonceWord + 1) return local.get(MIDDLE)
  const stored = i32.load(MEMORY.tail + 4 * word)
  if (word !== layout.nonceWord) return stored
  return code(stored, i32.const(0xffff), i32.and, local.get(LOW), i32.const(16), i32.shl, i32.or)
}

function sharedAddress(index: number): number {
  return MEMORY.shared + 16 * index
}

/** Four nonces in the graph. */
interface Vector {
  /** Address of their swept words. */
  readonly swept: number
  /** Their positions in the chunk. */
  readonly lanes: readonly number[]
  readonly variables: ReadonlyMap<LaneWord, Variable>
}

/** The varying part of the graph, for all vectors of a chunk. */
class Chunk {
  readonly #graph: OperationGraph
  readonly #options: WasmOptions
  readonly #vectors: readonly Vector[]
  readonly #registers: VectorRegisters
  /** The local of the first shuffle mask. */
  readonly #masks: number
  readonly #sharedAddresses: ReadonlyMap<LaneWord, number>

  constructor(graph: OperationGraph, options: WasmOptions, firstLocal: number) {
    this.#graph = graph
    this.#options = options
    this.#vectors = Array.from({ length: options.vectors }, (_, index) => ({
      swept: MEMORY.swept + 16 * index,
      lanes: [0, 1, 2, 3].map((lane) => 4 * index + lane),
      variables: new Map(graph.steps.flat().map((operation) => [operation, new Variable()])),
    }))
    const registers = localsOf(options)
    this.#masks = firstLocal + registers
    this.#registers = new VectorRegisters(firstLocal, registers, sharedAddress(graph.shared.length))
    this.#sharedAddresses = new Map(graph.shared.map((value, index) => [value, sharedAddress(index)]))
  }

  /** Code before the loop: the swept words of the first chunk, and the masks, loaded through memory (see #rotate). */
  start(): Code {
    return code(
      ...SHUFFLES.map(({ mask }, index) => {
        return code(v128.store(MEMORY.mask, mask), v128.load(MEMORY.mask), local.set(this.#masks + index))
      }),
      ...this.#vectors.map(({ swept, lanes }) => {
        return v128.store(swept, code(local.get(FROM), i32x4.splat, i32x4.const(lanes), i32x4.add))
      }),
    )
  }

  advance(): Code {
    const step = i32x4.const(Array(4).fill(4 * this.#options.vectors))
    return code(...this.#vectors.map(({ swept }) => v128.store(swept, code(v128.load(swept), step, i32x4.add))))
  }

  hash(): Code {
    const instructions = this.#graph.steps.flatMap((step) => {
      return this.#vectors.flatMap((vector) => step.map((operation) => ({ operation, vector })))
    })
    instructions.forEach(({ operation, vector }, number) => {
      for (const value of operands(operation)) vector.variables.get(value)?.uses.push(number)
    })
    for (const { variables } of this.#vectors) lookUp(variables, this.#graph.top).uses.push(instructions.length)
    return code(...instructions.map(({ operation, vector }) => this.#evaluate(operation, vector)))
  }

  /** Whether a top word is <= bound, unsigned. */
  anyCandidate(): Code {
    const verdicts = this.#vectors.map(({ variables }) => {
      const top = lookUp(variables, this.#graph.top)
      return code(this.#registers.fetch(top), this.#registers.get(top), v128.loadSplat32(MEMORY.bound), i32x4.leU)
    })
    return code(
      verdicts.reduce((all, verdict) => code(all, verdict, v128.or)),
      v128.anyTrue,
    )
  }

  #evaluate(operation: WordOperation, vector: Vector): Code {
    const variables = operands(operation).flatMap((value) => vector.variables.get(value) ?? [])
    const fetched = variables.map((variable) => this.#registers.fetch(variable))
    const result =
      operation.kind === 'rotate'
        ? this.#rotate(operation, vector)
        : code(
            this.#read(operation.left, vector),
            this.#read(operation.right, vector),
            operation.kind === 'add' ? i32x4.add : v128.xor,
          )
    for (const variable of variables) this.#registers.release(variable)
    return code(...fetched, result, this.#registers.define(lookUp(vector.variables, operation)))
  }

  #read(value: LaneWord, vector: Vector): Code {
    if (value.kind === 'swept') return v128.load(vector.swept)
    const variable = vector.variables.get(value)
    return variable === undefined ? v128.load(lookUp(this.#sharedAddresses, value)) : this.#registers.get(variable)
  }

  /**
   * Rotates by whole bytes with one shuffle; shifts reach 0.86 of this speed. V8 omits the range check of swizzle for a
   * known mask, but from Node 24 it rebuilds a known mask at each use (0.53). Relaxed swizzle has no range check, and
   * takes the mask from a local whose value V8 cannot know. Node 20 does not support it.
   */
  #rotate({ source, bits }: Rotation, vector: Vector): Code {
    const read = this.#read(source, vector)
    const index = SHUFFLES.findIndex((shuffle) => shuffle.bits === bits)
    if (index < 0) return code(read, i32.const(32 - bits), i32x4.shl, read, i32.const(bits), i32x4.shrU, v128.or)
    return this.#options.relaxed
      ? code(read, local.get(this.#masks + index), i8x16.relaxedSwizzle)
      : code(read, SHUFFLES[index].mask, i8x16.swizzle)
  }
}

function lookUp<Key, T>(map: ReadonlyMap<Key, T>, key: Key): T {
  const value = map.get(key)
  if (value === undefined) throw new Error('a value is used that the graph does not list')
  return value
}
