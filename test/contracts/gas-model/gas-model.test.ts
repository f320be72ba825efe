/**
 * Gas is computed twice: by the evaluator, and by a model that was written from the price list of the original alone.
 * `npm run check:gas` runs more programs.
 */
import { expect, it } from 'vitest'
import { addResults, checkPrograms, NOTHING } from './check.ts'
import { compareProgram } from './compare.ts'
import { describeProgram } from './describe.ts'
import { make, type Program } from './program/tree.ts'
import { REACHING_SEEDS, REQUIRED } from './reach.ts'
import { shrinkProgram } from './shrink.ts'

const PROGRAMS = 60

it('the gas of random programs is that of the model, and they reach every form, native and look-up', () => {
  const single = REACHING_SEEDS.map((seed) => checkPrograms({ from: seed, to: seed + 1 }))
  const { found, reached } = [checkPrograms({ from: 1, to: 1 + PROGRAMS }), ...single].reduce(addResults, NOTHING)
  expect(found).toEqual([])
  expect(REQUIRED.filter((what) => !reached.has(what))).toEqual([])
})

it('the gas of operations on nothing is that of the model: 0 has one bit, also as a number of fields', () => {
  const { call, int, str } = make
  const expressions = [
    call('^', int(0), int(5)),
    call('^', int(0), int(0)),
    call('shift', int(0), int(3)),
    call('try', int(0), call('read-integer', str('missing'))),
    call('try', int(0), call('at', int(0), call('make-list', int(1), call('read-string', str('none'))))),
  ]
  for (const expr of expressions) {
    const transaction = { run: { forms: [{ f: 'expr' as const, expr }] }, signers: [], data: [] }
    expect(compareProgram({ areResultsChecked: true, transactions: [transaction] }).difference).toBeNull()
  }
})

it('a program that differs is made smaller until nothing more can be left out', () => {
  const { call, int, str, list } = make
  // The model hashes another text than the language, and only lengths of hashes count.
  const differing = call('take', int(3), call('hash', list([int(1)])))
  const forms = [call('+', int(1), int(2)), call('do', str('before'), call('concat', list([differing, str('b')])))]
  const program: Program = {
    areResultsChecked: true,
    transactions: forms.map((expr) => ({ run: { forms: [{ f: 'expr', expr }] }, signers: [], data: [] })),
  }
  const { difference } = compareProgram(program)
  if (difference === null) throw new Error('no difference')
  const small = shrinkProgram(program, difference)
  expect(small.program.transactions).toHaveLength(1)
  const text = describeProgram(small.program)
  expect(text).toContain('(hash ')
  expect(text).not.toContain('before')
})
