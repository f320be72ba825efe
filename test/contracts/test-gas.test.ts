/** Gas in test files, as the test runner of the network counts it, and the gas of each form. */
import { expect, it } from 'vitest'
import { runTests } from '../../src/language/contracts/repl/run.ts'

function run(text: string, files: Readonly<Record<string, string>> = {}) {
  return runTests('main.repl', {
    resolve: (_, path) => path,
    read: (name) => (name === 'main.repl' ? text : files[name]),
  })
}

/** The milligas that a file prints. */
function printed(text: string): readonly string[] {
  const { output, stopped } = run(text)
  expect(stopped).toBeNull()
  return output
}

it('gas of a test file is free until the file selects the table and sets a limit', () => {
  expect(printed('(+ 1 2) (print (env-milligas))')).toEqual(['0'])
  expect(printed('(env-gasmodel "table") (+ 1 2) (print (env-milligas))')).toEqual(['0'])
  expect(printed('(env-gaslimit 1) (+ 1 2) (print (env-milligas))')).toEqual(['0'])
  const counted = '(env-gasmodel "table") (env-gaslimit 1) (+ 1 2) (print (env-milligas)) (print (env-gas))'
  expect(printed(counted)).toEqual(['130', '1'])
})

it('gas of a test file is free again in a file that begins a new run', () => {
  const text =
    '(env-gasmodel "table") (env-gaslimit 9) (load "other" true) (env-gasmodel "table") (+ 1 2) (print (env-gas))'
  expect(run(text, { other: '1' }).output).toEqual(['0'])
  expect(run(text.replace('true', 'false'), { other: '1' }).output).toEqual(['1'])
})

it('gas of a test file ends a form at the limit', () => {
  const { stopped } = run('(env-gasmodel "table") (env-gaslimit 1)\n(hash "aaaaaaaaaa")')
  expect(stopped).toMatchObject({ place: { line: 1 }, message: 'Gas limit "1" exceeded: 2' })
})

it('the gas limit of a test file is set in gas and in milligas', () => {
  expect(printed('(print (env-gas 7)) (print (env-milligas)) (print (env-gas))')).toEqual([
    '"Set gas to 7"',
    '7000',
    '7',
  ])
  expect(printed('(print (env-set-milligas 1500)) (print (env-gas))')).toEqual(['"Set milligas to 1500"', '2'])
})

it('the gas natives of a test file answer in the words of the network', () => {
  const text = '(print (env-gasmodel)) (print (env-gasmodel "table")) (print (env-gasmodel)) (print (env-gaslimit 5))'
  expect(printed(text)).toEqual([
    `"Current gas model is 'freeGasModel': free gas model"`,
    '"Set gas model to table-based cost model"',
    `"Current gas model is 'table': table-based cost model"`,
    '"Set gas limit to 5"',
  ])
  expect(run('(env-gasmodel "fixed")').stopped?.message).toMatch(/^env-gasmodel: the only model is "table"/)
})

it('the gas log of a test file has all charges since the last look', () => {
  const text = `(env-gasmodel "table") (env-gaslimit 100)
    (print (env-gaslog)) (+ 1 2) (print (env-gaslog)) (print (env-gaslog))`
  expect(printed(text)).toEqual(['["Enabled gas log"]', '["TOTAL: 130mG", "100mG", "30mG"]', '["TOTAL: 0mG"]'])
})

it('gas is listed for each form, counted or not, and separately for those of a loaded file', () => {
  const { gas } = run('(+ 1 2)\n(load "other")\n(expect "three" 3\n  (+ 1 2))', { other: '[1 2]\n(tx-hash)' })
  expect(gas.map(({ file, place, text, milligas }) => [file, place.line, text, milligas])).toEqual([
    ['main.repl', 0, '(+ 1 2)', 130],
    ['main.repl', 1, '(load "other")', 0],
    ['other', 0, '[1 2]', 200],
    ['other', 1, '(tx-hash)', 100],
    ['main.repl', 2, '(expect "three" 3', 130],
  ])
})

it('gas is listed for a form that fails', () => {
  const { gas, stopped } = run('(at 5 [1])')
  expect(stopped).not.toBeNull()
  expect(gas).toMatchObject([{ milligas: 200 }])
})
