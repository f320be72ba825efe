/** Compiles shaders/search.wgsl with Dawn's compiler and checks its text. shader.test.ts tests its results. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { MIX_INDICES, SIGMA } from '../../src/ground/chain/blake2s.ts'
import { MAX_RESULT_NONCES } from '../../src/mining/engine/gpu/layout.ts'
import { describeWith } from '../needs.ts'

const shader = readFileSync(new URL('../../shaders/search.wgsl', import.meta.url), 'utf8')
const program = fileURLToPath(new URL('./compile-child.mjs', import.meta.url))

/** Messages of the compiler, or a text if Dawn does not load. */
function compile(code: string): readonly string[] | string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], {
    input: code,
    encoding: 'utf8',
  })
  // The answer is the last line of the child's output: Dawn itself prints refused code before it.
  return status === 0 ? (JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as string[]) : stderr
}

const verdict = compile(shader)
const lack = typeof verdict === 'string' ? `Dawn does not load: ${verdict}` : null

describeWith(lack, 'shader, by the compiler of Dawn', () => {
  it('the shader has neither errors nor warnings', () => {
    expect(verdict).toEqual([])
  })

  it.each([
    ['fn rotate(x: vec4u, bits: u32)', 'fn rotate(x: vec4u, bits: f32)'],
    ['fn search(', 'fn seek('],
    ['params.h7 ^', 'params.h8 ^'],
  ])('the shader would be refused with %s as %s', (right, wrong) => {
    expect(shader).toContain(right)
    expect(compile(shader.replace(right, wrong))).not.toEqual([])
  })
})

describe('shader, by its text', () => {
  it('the shader has the same capacity as the host', () => {
    expect(shader).toContain(`const MAX_RESULT_NONCES = ${MAX_RESULT_NONCES}u;`)
  })

  it('the shader has the message schedule of RFC 7693, with words 8 to 15 as zero', () => {
    const lines = SIGMA.flatMap((sigma, round) =>
      [0, 4].flatMap((first) => {
        const words = (half: number) =>
          [0, 1, 2, 3].map((g) => sigma[2 * (first + g) + half]).map((word) => (word < 8 ? `m${word}` : '0'))
        const name = first === 0 ? 'columns' : 'diagonals'
        // The columns of round 1 are mixed earlier: two by the host, two once for all trips or lanes.
        if (round === 0 && first === 0) return []
        return `v = ${name}(v, vec4u(${words(0).join(', ')}), vec4u(${words(1).join(', ')}));`
      }),
    )
    expect(MIX_INDICES[4]).toEqual([0, 5, 10, 15])
    const own = shader.split('\n').map((line) => line.trim().replace(/^var /, ''))
    expect(own.filter((line) => /^v = (columns|diagonals)/.test(line))).toEqual(lines)
  })
})
