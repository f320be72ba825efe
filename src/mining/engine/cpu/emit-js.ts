/**
 * Generates JavaScript from an operation graph, for one hash at a time. The source is the body of a function
 *
 *     (H: Int32Array, M: Int32Array, U: Int32Array, B: Uint32Array) -> Kernel['sweep']
 *
 * H: 8 words of midstate · M: 16 words of tail · U: the shared uniform values · B: the bound, one word
 */

import type { TailLayout } from './kernel.ts'
import type { LaneWord, OperationGraph, WordOperation } from './operations.ts'

export function emitJs(layout: TailLayout, graph: OperationGraph): string {
  const names = new Map<LaneWord, string>([...graph.uniform, ...graph.steps.flat()].map((value, i) => [value, `x${i}`]))
  const uniform = (value: LaneWord) => names.get(value) ?? inputName(layout, value)
  // A shared input also has a name inside the loop, so that the loop reads U once per value and hash.
  const shared = new Map(graph.shared.map((value, i) => [value, `u${i}`]))
  const varying = (value: LaneWord) => shared.get(value) ?? uniform(value)
  return [
    `'use strict'`,
    'const prepare = (low, middle) => {',
    ...graph.uniform.map((operation) => define(operation, uniform)),
    ...graph.shared.map((value, i) => `U[${i}] = ${uniform(value)}`),
    '}',
    'return (low, middle, from, to) => {',
    'prepare(low, middle)',
    'const bound = B[0]',
    'for (let swept = from; swept < to; swept++) {',
    // Inside the loop: V8 may enter a loop before it knows the types of values computed before it. It then does half of
    // the additions in floating point, on Node 22 permanently (7.5 instead of 13 million hashes per second).
    ...graph.shared.map((_, i) => `const u${i} = U[${i}]`),
    ...graph.steps.flat().map((operation) => define(operation, varying)),
    `if (${varying(graph.top)} >>> 0 <= bound) return swept`,
    '}',
    'return to',
    '}',
  ].join('\n')
}

function define(operation: WordOperation, name: (value: LaneWord) => string): string {
  return `const ${name(operation)} = ${expression(operation, name)}`
}

/** Every value is an i32, the type that V8 computes with. */
function expression(operation: WordOperation, name: (value: LaneWord) => string): string {
  if (operation.kind === 'rotate') {
    const source = name(operation.source)
    return `${source} >>> ${operation.bits} | ${source} << ${32 - operation.bits}`
  }
  const [left, right] = [name(operation.left), name(operation.right)]
  return operation.kind === 'add' ? `${left} + ${right} | 0` : `${left} ^ ${right}`
}

function inputName(layout: TailLayout, value: LaneWord): string {
  switch (value.kind) {
    case 'constant':
      return `${value.bits | 0}`
    case 'state':
      return `H[${value.word}]`
    case 'swept':
      return 'swept'
    case 'message':
      if (value.word === layout.nonceWord) return `(M[${value.word}] & 0xffff | low << 16)`
      return value.word === layout.nonceWord + 1 ? '(middle | 0)' : `M[${value.word}]`
    default:
      throw new Error('an operation is used that the graph does not list')
  }
}
