import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { amdBound, nvidiaBound, shareOf } from '../../bench/gpu-bounds.ts'

/** Topology nodes as Linux's compute driver lists them. */
function topology(...nodes: Record<string, number>[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-'))
  for (const [index, figures] of nodes.entries()) {
    mkdirSync(join(folder, String(index)))
    const lines = Object.entries(figures).map(([name, value]) => `${name} ${value}\n`)
    writeFileSync(join(folder, String(index), 'properties'), lines.join(''))
  }
  return folder
}

const processor = { cpu_cores_count: 16, simd_count: 0, vendor_id: 0 }
const card = {
  cpu_cores_count: 0,
  simd_count: 160,
  vendor_id: 4098,
  gfx_target_version: 100_300,
  max_engine_clk_fcompute: 2250,
}

it('the bound of an AMD card follows from its lanes, its clock and the instructions of its generation', () => {
  expect(amdBound(topology(processor, card))?.rate).toBeCloseTo((32 * 160 * 2250) / 877)
  const vega = { ...card, gfx_target_version: 90_006 }
  expect(amdBound(topology(processor, vega))?.rate).toBeCloseTo((16 * 160 * 2250) / 878)
  const polaris = { ...card, gfx_target_version: 80_003 }
  expect(amdBound(topology(processor, polaris))).toEqual({
    rate: (16 * 160 * 2250) / 951,
    text: '16 lanes x 160 SIMD units x 2250 MHz / 951 instructions',
  })
})

it('a card has no bound if the platform reports no figures, or those of several cards', () => {
  expect(amdBound(topology(processor))).toBeNull()
  expect(amdBound(topology(processor, card, card))).toBeNull()
  expect(amdBound(topology({ ...card, max_engine_clk_fcompute: 0 }))).toBeNull()
  expect(amdBound('/there/is/no/such/folder')).toBeNull()
})

it('the bound of an NVIDIA card follows from its multiprocessors, and is higher with split sums', () => {
  expect(nvidiaBound(132, 1983, false).rate).toBeCloseTo((64 * 132 * 1983) / 662)
  expect(nvidiaBound(132, 1983, true).rate).toBeCloseTo((64 * 132 * 1983) / 596)
})

it('a rate above the bound is reported as wrong', () => {
  const bound = { rate: 1000, text: '' }
  expect(shareOf(930, bound)).toBe('93 %')
  expect(shareOf(1000, bound)).toBe('100 %')
  expect(shareOf(1020, bound)).toBe('102 %, so this bound is wrong')
})
