/** A program that is followed expression by expression does what it does otherwise. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readProgram, readTest } from '../../src/language/contracts/syntax/program.ts'
import { CodeStops } from '../../src/language/debugger/code-stops.ts'
import { ProgramFollower } from '../../src/language/debugger/program-follower.ts'
import { TestFileProgram } from '../../src/language/debugger/test-file-program.ts'
import { runTestFile } from '../../src/language/testing/files.ts'
import { bank } from './programs.ts'

const suites = fileURLToPath(new URL('../contracts/suites/', import.meta.url))
const files = readdirSync(suites, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.repl'))

const chance = { seed: 1, runs: 4 }
const questions = { traces: 'none', hasGas: false, coverage: null, runs: chance } as const
const idle = { enter: () => undefined, leave: () => undefined, fail: () => undefined, noteWrite: () => undefined }

it.each(files)('%s has the same results and the same gas while it is followed', (file) => {
  const program = new TestFileProgram(`${suites}${file}`, chance)
  let ticks = 0
  const followed = program.run(new ProgramFollower(program, { ...idle, enter: () => void ticks++ }))
  const plain = runTestFile(`${suites}${file}`, questions).report
  const { passed, failures, stopped } = plain
  expect(followed.text.split('\n').at(-1)).toBe(
    `${passed} passed, ${failures.length + (stopped === null ? 0 : 1)} failed`,
  )
  expect(program.output).toEqual(plain.output)
  expect(program.gas[0].text).toBe(String(plain.gas.reduce((sum, { milligas }) => sum + milligas, 0) / 1000))
  expect(ticks).toBeGreaterThan(0)
})

describe('lines with code', () => {
  const linesOf = (text: string) => new CodeStops(readTest(text)).lines.map((line) => line + 1)

  it('lines of a module with code are those of its bodies, not of types, docs, tables and imports', () => {
    const program = new TestFileProgram(bank.repl, chance)
    const lines = program.stopsIn(bank.pact).lines.map((line) => line + 1)
    expect(lines).toEqual([1, 2, 6, 9, 11, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28])
    expect(new CodeStops(readProgram('(interface i\n (defconst a\n  1)\n (defschema s\n  x:string))')).lines).toEqual([
      0, 2,
    ])
  })

  it('bindings, conditions and lambdas have code in their values and bodies alone', () => {
    expect(linesOf('(let (\n (a\n 1)\n (b\n (f)))\n a)')).toEqual([1, 5, 6])
    expect(linesOf('(cond\n (a\n b)\n c)')).toEqual([1, 2, 3, 4])
    expect(linesOf('(map (lambda\n (x)\n x)\n [\n 1\n (f)])')).toEqual([1, 3, 6])
    expect(linesOf('; none\n\n')).toEqual([])
  })
})
