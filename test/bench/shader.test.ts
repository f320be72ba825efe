/** Instructions that AMD GPUs execute for one nonce. Mesa's compiler counts them, so no GPU is needed. */
import { describe, expect, it } from 'vitest'
import { compileFor, findRadv, type RadvCode } from '../../bench/radv.ts'
import { TARGETS } from '../../bench/shader.ts'
import { handMinimum } from '../../bench/shader-minimum.ts'
import { shaderText } from '../../src/mining/engine/gpu/shader.ts'
import { runProcess } from '../cli/run.ts'
import { describeWith } from '../needs.ts'

const found = findRadv()
const env = typeof found === 'string' ? {} : found

/** Throws with the driver's message if the shader does not compile. */
function codeFor(target: string, changed = shaderText()): RadvCode {
  const code = compileFor(env, target, changed)
  if (typeof code === 'string') throw new Error(`${target}: ${code}`)
  return code
}

/** The shader with one replacement in its text. */
function changed(from: string, to: string): string {
  expect(shaderText().split(from)).toHaveLength(2)
  return shaderText().replace(from, to)
}

describeWith(typeof found === 'string' ? found : null, 'the shader, by its instructions', () => {
  it.each([
    ['navi21', 880],
    ['navi31', 880],
    ['polaris10', 955],
  ])('the shader takes on %s at most %i instructions a nonce, no spills, and all waves', (name, most) => {
    const { vector, waves, spilled } = codeFor(name)
    const target = TARGETS.find((entry) => entry.name === name)
    expect(vector).toBeLessThanOrEqual(most)
    expect(vector).toBeGreaterThanOrEqual(handMinimum(target?.terms ?? { add: 2, xor: 2 }))
    expect({ waves, spilled }).toEqual({ waves: target?.maxWaves, spilled: 0 })
  })

  it('the shader would take over 100 more instructions with rotations by plain constants', () => {
    const plain = changed('select(bits, params.tag, false)', 'bits')
    expect(codeFor('navi21', plain).vector).toBeGreaterThan(980)
    expect(codeFor('polaris10', plain).vector).toBeGreaterThan(1055)
  })

  it('the shader takes one more instruction for an additional addition, and none for code that only candidates run', () => {
    const { vector, scalar } = codeFor('navi31')
    const summed = changed('return params.h7 ^ v.b.w ^ v.d.w;', 'return (params.h7 ^ v.b.w ^ v.d.w) + m6;')
    expect(codeFor('navi31', summed).vector).toBe(vector + 1)
    const padded = changed('(m5 >> 16u) | (m6 << 16u),', '((m5 >> 16u) | (m6 << 16u)) ^ (m6 * m6),')
    expect(codeFor('navi31', padded)).toMatchObject({ vector, scalar })
  })

  it('the shader has fewer waves if it uses many registers', () => {
    const wide = `
      override WORKGROUP: u32; override SPLIT: bool;
      @group(0) @binding(0) var<storage, read_write> words: array<u32>;
      @compute @workgroup_size(WORKGROUP)
      fn search(@builtin(global_invocation_id) id: vec3u) {
        var sum = u32(SPLIT);
        for (var n = words[0]; n > 0u; n--) {
          ${Array.from({ length: 100 }, (_, i) => `let w${i} = words[id.x * ${2 * i + 3}u + n];`).join('\n')}
          sum = sum * 31u + (${Array.from({ length: 100 }, (_, i) => `(w${i} ^ w${(7 * i + 1) % 100})`).join(' * ')});
        }
        words[id.x] = sum;
      }`
    const { registers, waves } = codeFor('navi21', wide)
    expect(registers).toBeGreaterThan(64)
    expect(waves).toBeLessThan(32)
  })

  it('the compiler reports an unknown model, and a shader that does not compile', () => {
    expect(compileFor(env, 'navi99', shaderText())).toMatch(/navi99/)
    expect(compileFor(env, 'navi21', 'fn search( {')).toMatch(/\S/)
  })
})

it('`newcut bench shader` prints a row for each card, or why it has none', async () => {
  const { code, out, err } = await runProcess(['bench', 'shader'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  if (typeof found === 'string') return expect(out).toContain(`  skipped: ${found}`)
  for (const { name } of TARGETS) {
    const row = '\\d+ instructions .* x hand minimum \\d+, .* of \\d+ waves, no spills'
    expect(out).toMatch(new RegExp(`^  ${name} +(${row}|skipped: \\S)`, 'm'))
  }
})

describe('handMinimum', () => {
  it('handMinimum matches the operation graph of the compression function', () => {
    expect(handMinimum({ add: 3, xor: 3 })).toBe(874)
    // Only the last xor has three operands.
    expect(handMinimum({ add: 3, xor: 2 })).toBe(875)
    expect(handMinimum({ add: 2, xor: 2 })).toBe(948)
  })
})
