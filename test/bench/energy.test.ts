/** Energy as a column of benchmarks. */
import { describe, expect, it } from 'vitest'
import { cardProblem, cardWatts, PackageEnergy } from '../../bench/energy.ts'
import { kernels } from '../../bench/kernels.ts'
import { reportOf, tableOf } from '../../bench/report.ts'
import { kernelNames } from '../../src/mining/engine/cpu/names.ts'
import { hwmonFolder, nvidiaTool, ZEN } from '../api/running.ts'

const effort = { sampleMs: 1, rounds: 2, isQuick: true }
const row = { suite: 'kernels', name: 'x', unit: 'MH/s', samples: [2, 2] } as const

/** Rows of measured ports have no energy. */
const isOfKernel = ({ unit }: { readonly unit: string }) => unit === 'MH/s'

/** A package whose counter goes on by a joule with every reading. */
function countingPackage() {
  let joules = 0
  return async () => [{ name: 'package-0', microjoules: ++joules * 1_000_000, highest: null }]
}

describe('the energy of a kernel', () => {
  it('the energy of a kernel is that of the package for each sample, without the warm-up', async () => {
    const told: string[] = []
    const rows = await kernels(effort, (line) => told.push(line), countingPackage())
    expect(told).toEqual([])
    for (const { name, joulesPerMegahash } of rows.filter(isOfKernel)) {
      expect(joulesPerMegahash, name).toHaveLength(2)
      for (const joules of joulesPerMegahash ?? []) expect(joules, name).toBeGreaterThan(0)
    }
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['crypto.hash', kernelNames[3]]))
  })

  it('the energy of a kernel is unknown where nothing can be read, with one line that says why', async () => {
    const told: string[] = []
    const energy = await PackageEnergy.open(async () => ({ problem: 'denied', path: '/x/energy_uj' }))
    await energy.start()
    await energy.end('x', 100)
    expect(energy.samplesOf('x')).toBeNull()
    const rows = await kernels(
      effort,
      (line) => told.push(line),
      async () => ({ problem: 'absent', path: '/x' }),
    )
    expect(told).toEqual(['J/MH: this machine does not report the power of the processor: /x has no package'])
    expect(rows.filter(isOfKernel).every(({ joulesPerMegahash }) => joulesPerMegahash === null)).toBe(true)
  })

  it('the energy of a kernel is joules divided by millions of hashes', async () => {
    const energy = await PackageEnergy.open(countingPackage())
    for (const hashes of [500_000, 0, 4_000_000]) {
      await energy.start()
      await energy.end('x', hashes)
    }
    expect(energy.samplesOf('x')).toEqual([2, 0.25])
  })
})

describe('the power of a card', () => {
  const nvidia = (...cards: string[]) => nvidiaTool(`printf '%s\\n' ${cards.map((card) => `'${card}'`).join(' ')}`)
  const amd = { pci: '0000:03:00.0', files: { name: 'amdgpu', power1_average: '212000000' } }
  const first = 'NVIDIA H200, 00000000:5D:00.0, 57, [N/A], 612.34'
  const second = 'NVIDIA GeForce RTX 4090, 00000000:01:00.0, 66, 43, 301.5'

  it('the power of a card is that of the only card of its vendor', async () => {
    const folder = hwmonFolder([ZEN, amd])
    expect(await cardWatts({ vendor: 'nvidia' }, nvidia(first), folder)).toBe(612.34)
    expect(await cardWatts({ vendor: 'amd' }, nvidia(first), folder)).toBe(212)
  })

  it('the power of a card is unknown with several cards of the vendor, and without a tool', async () => {
    const folder = hwmonFolder([amd, { ...amd, pci: '0000:04:00.0' }])
    expect(await cardWatts({ vendor: 'nvidia' }, nvidia(first, second), folder)).toBeNull()
    expect(await cardWatts({ vendor: 'amd' }, nvidia(first), folder)).toBeNull()
    expect(await cardWatts({ vendor: 'nvidia' }, { PATH: '/nowhere' }, folder)).toBeNull()
  })
})

describe('the column of energy', () => {
  const tableFor = (...energies: (readonly number[] | null | undefined)[]) =>
    tableOf(
      reportOf(
        energies.map((joulesPerMegahash) => ({
          ...row,
          ...(joulesPerMegahash !== undefined && { joulesPerMegahash }),
        })),
      ).results,
    )

  it('the column of energy has the median, or a dash where it cannot be read', () => {
    expect(tableFor([0.05, 0.07, 0.06], null, [])).toEqual([
      '  x  2.00 MH/s  2.00 to 2.00  n=2  0.0600 J/MH',
      '  x  2.00 MH/s  2.00 to 2.00  n=2  - J/MH',
      '  x  2.00 MH/s  2.00 to 2.00  n=2  - J/MH',
    ])
  })

  it('the column of energy is only in suites that have it', () => {
    expect(tableFor(undefined)).toEqual(['  x  2.00 MH/s  2.00 to 2.00  n=2'])
  })

  it('the column of energy has a reason for each kind of card without a figure', () => {
    expect(cardProblem({ name: 'SwiftShader', software: true })).toContain('SwiftShader is a software driver')
    expect(cardProblem({ name: 'X', software: false })).toContain('no power of X alone can be read')
  })
})
