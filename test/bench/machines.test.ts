/** The place of a machine among those of docs/SPEED.md. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { machines, rankAmongMachines } from '../../bench/machines.ts'

it('a machine stands between faster and slower ones', () => {
  const lines = rankAmongMachines(55.25, 'native-avx2')
  expect(lines.at(-2)).toBe('> 55.3          this machine, native-avx2')
  expect(lines.at(-3)).toBe('  61.0 to 63.0  AMD Zen 3, in quiet moments, AVX2')
  expect(rankAmongMachines(1000, 'native-avx512')[1]).toMatch(/^> 1,?000 +this machine/)
  expect(rankAmongMachines(1, 'js').at(-1)).toMatch(/^> 1\.00 +this machine, js$/)
})

it('the machines are those of the first table of docs/SPEED.md', () => {
  const speed = readFileSync(fileURLToPath(new URL('../../docs/SPEED.md', import.meta.url)), 'utf8')
  const [, table] = speed.split('## Hashrates of machines')
  const rates = [...table.split('\n## ')[0].matchAll(/\| ([\d.]+) to ([\d.]+) MH\/s \|/g)]
  expect(rates.map(([, from, to]) => [Number(from), Number(to)]).toSorted()).toEqual(
    machines.map(({ from, to }) => [from, to]).toSorted(),
  )
})
