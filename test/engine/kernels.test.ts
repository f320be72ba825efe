import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish, midstate } from '../../src/ground/chain/blake2s.ts'
import { createJsKernel } from '../../src/mining/engine/cpu/js-kernel.ts'
import { type Kernel, type TailLayout, tailLayout } from '../../src/mining/engine/cpu/kernel.ts'
import { chooseNative, loadChosen } from '../../src/mining/engine/cpu/native-choice.ts'
import { createNativeKernel, nativeNames, schedulesIn } from '../../src/mining/engine/cpu/native-kernel.ts'
import {
  countOperations,
  isOperation,
  type LaneWord,
  operands,
  operationGraph,
  type WordOperation,
} from '../../src/mining/engine/cpu/operations.ts'
import { selfTestKernel } from '../../src/mining/engine/cpu/self-test.ts'
import { createWasmKernel } from '../../src/mining/engine/cpu/wasm-kernel.ts'
import { kernelConformance, WORK_BYTES } from '../conformance/kernel.ts'

for (const vectors of [1, 2] as const) {
  kernelConformance(`wasm, ${vectors} vectors`, (layout) => createWasmKernel(layout, vectors))
}
kernelConformance('js', createJsKernel)

const native = loadChosen(chooseNative())
for (const name of nativeNames) {
  const lack = name in native.sweeps ? null : (native.obstacle ?? 'not on this processor')
  for (const order of schedulesIn(native, name)) {
    kernelConformance(`${name} ${order}`, (layout) => createNativeKernel(name, layout, native, order))
  }
  if (lack !== null) it(`kernel ${name} runs on this processor`, (context) => context.skip(lack))
}

describe('operation graph', () => {
  // The nonce may start in the high half of any word from 0 to 13.
  const layouts = Array.from({ length: 14 }, (_, k) => tailLayout(4 * 64 + 10 + 4 * k))

  it.each(layouts)('operation graph computes the top word, nonce from word $nonceWord', (layout) => {
    const graph = operationGraph(layout)
    const property = fc.property(
      fc.uint8Array({ minLength: layout.totalBytes, maxLength: layout.totalBytes }),
      (work) => {
        const mid = midstate(work)
        expect(evaluate(graph.top, mid.state, mid.tail)).toBe(finish(mid)[7])
      },
    )
    fc.assert(property, { numRuns: 20 })
  })

  it.each(layouts)('operation graph lists operands before their users, nonce from word $nonceWord', (layout) => {
    const { uniform, steps, shared, top } = operationGraph(layout)
    const known = new Set<LaneWord>()
    const learn = (operation: WordOperation) => {
      for (const value of operands(operation).filter(isOperation)) expect(known.has(value)).toBe(true)
      known.add(operation)
    }
    uniform.forEach(learn)
    for (const value of shared) expect(value.varying).toBe(false)
    steps.flat().forEach(learn)
    expect(steps.flat().at(-1)).toBe(top)
  })

  it('operation graph counts 956 operations a hash for 286 bytes', () => {
    const counts = countOperations(operationGraph(tailLayout(286)))
    expect(counts).toEqual({ adds: 366, xors: 296, rotates: 294, total: 956 })
  })

  it.each(WORK_BYTES)('operation graph costs at most 970 operations a hash for %i bytes', (workBytes) => {
    expect(countOperations(operationGraph(tailLayout(workBytes))).total).toBeLessThanOrEqual(970)
  })
})

describe('self-test', () => {
  const layout = tailLayout(286)

  it('self-test passes a plain kernel', () => {
    expect(selfTestKernel(plainKernel(layout, {}), layout, randomBytes)).toBeNull()
  })

  it.each([0, 3, 7])('self-test refuses a kernel that hashes wrongly in lane %i', (lane) => {
    const faults = { hash: (top: number, swept: number) => (swept % 8 === lane ? top ^ 0x100 : top) }
    expect(selfTestKernel(plainKernel(layout, faults), layout, randomBytes)).toMatch(/instead of/)
  })

  it('self-test refuses a kernel that compares signed', () => {
    const faults = { within: (top: number, bound: number) => (top | 0) <= (bound | 0) }
    expect(selfTestKernel(plainKernel(layout, faults), layout, randomBytes)).toMatch(/instead of/)
  })

  it('self-test refuses a kernel that compares strictly', () => {
    const faults = { within: (top: number, bound: number) => top < bound }
    expect(selfTestKernel(plainKernel(layout, faults), layout, randomBytes)).toMatch(/instead of/)
  })

  it('self-test refuses a kernel that stops a chunk before the end of the sweep', () => {
    const faults = { end: (to: number) => Math.min(to, 65_536 - 8) }
    expect(selfTestKernel(plainKernel(layout, faults), layout, randomBytes)).toMatch(/to 65536 .* instead of/)
  })

  it('self-test refuses a kernel that hashes the nonce of the tail', () => {
    const faults = { low: (_: number, tail: Uint32Array) => tail[layout.nonceWord] >>> 16 }
    expect(selfTestKernel(plainKernel(layout, faults), layout, randomBytes)).toMatch(/instead of/)
  })

  it('self-test refuses a kernel for another layout', () => {
    expect(selfTestKernel(createJsKernel(tailLayout(250)), layout, randomBytes)).toMatch(/instead of/)
  })
})

/** Ways to break the kernel below. */
interface Faults {
  readonly hash?: (top: number, swept: number) => number
  readonly within?: (top: number, bound: number) => boolean
  readonly end?: (to: number) => number
  readonly low?: (low: number, tail: Uint32Array) => number
}

/** A kernel of eight lanes that computes them one after the other with core/blake2s.ts. */
function plainKernel({ nonceWord, tailBytes, totalBytes }: TailLayout, faults: Faults): Kernel {
  const lanes = 8
  let state = new Uint32Array(8)
  let words = new Uint32Array(16)
  let limit = 0
  const isCandidate = (low: number, middle: number, swept: number): boolean => {
    const tail = words.slice()
    tail[nonceWord] = (tail[nonceWord] & 0xffff) | ((faults.low?.(low, words) ?? low) << 16)
    tail[nonceWord + 1] = middle
    tail[nonceWord + 2] = swept
    const top = finish({ state, tail, tailBytes, totalBytes })[7]
    const hashed = (faults.hash?.(top, swept) ?? top) >>> 0
    return faults.within?.(hashed, limit) ?? hashed <= limit
  }
  return {
    name: 'js',
    lanes,
    sliceNonces: 1024,
    setWork(midstateWords, tail, bound) {
      state = midstateWords.slice()
      words = tail.slice()
      limit = bound
    },
    sweep(low, middle, from, to) {
      const end = faults.end?.(to) ?? to
      for (let swept = from; swept < end; swept++) {
        if (isCandidate(low, middle, swept)) return swept - (swept % lanes)
      }
      return to
    },
  }
}

/** The value of a graph for given inputs. It reads all words of `tail` unchanged, including the swept one. */
function evaluate(value: LaneWord, state: Uint32Array, tail: Uint32Array, seen = new Map<LaneWord, number>()): number {
  const read = (operand: LaneWord) => evaluate(operand, state, tail, seen)
  const compute = (): number => {
    switch (value.kind) {
      case 'constant':
        return value.bits
      case 'state':
        return state[value.word]
      case 'message':
      case 'swept':
        return tail[value.word]
      case 'rotate':
        return (read(value.source) >>> value.bits) | (read(value.source) << (32 - value.bits))
      case 'add':
        return read(value.left) + read(value.right)
      case 'xor':
        return read(value.left) ^ read(value.right)
    }
  }
  const result = seen.get(value) ?? compute() >>> 0
  seen.set(value, result)
  return result
}
