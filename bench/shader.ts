/**
 * Vector instructions per nonce of shaders/search.wgsl under Mesa's driver for AMD cards, compared with the minimum.
 * They limit the hashrate of these cards: rate = lanes * clock / instructions. No card is needed or used.
 */
import { shaderText } from '../src/mining/engine/gpu/shader.ts'
import { compileFor, findRadv, type RadvCode } from './radv.ts'
import type { Row } from './report.ts'
import { handMinimum, type Terms } from './shader-minimum.ts'
import type { Effort } from './suite.ts'

export interface Target {
  /** Name in the shim. */
  readonly name: string
  readonly what: string
  /** `waves` of a shader with minimal registers. */
  readonly maxWaves: number
  /** Operands per instruction: v_add3_u32 exists since Vega, v_xor3_b32 since RDNA. */
  readonly terms: Terms
}

export const TARGETS: readonly Target[] = [
  { name: 'navi10', what: 'RDNA', maxWaves: 40, terms: { add: 3, xor: 3 } },
  { name: 'navi21', what: 'RDNA2', maxWaves: 32, terms: { add: 3, xor: 3 } },
  { name: 'navi31', what: 'RDNA3', maxWaves: 32, terms: { add: 3, xor: 3 } },
  { name: 'gfx1201', what: 'RDNA4', maxWaves: 32, terms: { add: 3, xor: 3 } },
  { name: 'vega10', what: 'Vega', maxWaves: 10, terms: { add: 3, xor: 2 } },
  { name: 'vega20', what: 'Vega', maxWaves: 10, terms: { add: 3, xor: 2 } },
  { name: 'polaris10', what: 'Polaris', maxWaves: 8, terms: { add: 2, xor: 2 } },
]

/** Measures the shader. Reports each target that the shim or the driver does not know. */
export async function shader(_effort: Effort, tell: (line: string) => void): Promise<Row[] | string> {
  const env = findRadv()
  if (typeof env === 'string') return env
  const rows: Row[] = []
  for (const target of TARGETS) {
    const minimum = handMinimum(target.terms)
    const code = compileFor(env, target.name, shaderText())
    if (typeof code === 'string') tell(`${target.name} skipped: ${code}`)
    else if (code.vector < minimum) tell(`${target.name} skipped: ${code.vector} instructions cannot be all of them`)
    else rows.push(rowOf(target, code, minimum))
  }
  return rows
}

function rowOf({ name, what, maxWaves }: Target, code: RadvCode, minimum: number): Row {
  const note = [
    `${what}, ${(code.vector / minimum).toFixed(3)} x hand minimum ${minimum}`,
    `${code.scalar} scalar`,
    `${code.registers} registers`,
    `${code.waves} of ${maxWaves} waves`,
    code.spilled === 0 ? 'no spills' : `${code.spilled} registers spilled`,
    code.driver,
  ].join(', ')
  return { suite: 'shader', name, unit: 'instructions', samples: [code.vector], note }
}
