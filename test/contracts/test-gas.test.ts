/** Gas in test files, as the test runner of the network counts it, and the gas of each form. */
import { describe, expect, it } from 'vitest'
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

describe('the gas log of a test file', () => {
  /** The lines of the log about a text, with the file and the span of each. */
  function logged(text: string, before = ''): readonly string[] {
    const start = '(env-gasmodel "table") (env-gaslimit 150000)'
    const shown = printed(`${start} ${before} (env-gaslog)\n${text}\n(map (lambda (line) (print line)) (env-gaslog))`)
    const lines = shown.map((line) => line.slice(1, -1))
    expect(lines.at(-1)).toMatch(/^GNative \(RBuiltinRepl REnvGasLog\) main.repl:\d+:34-\d+:46: 0mG$/)
    return lines.slice(0, -1)
  }

  it('the gas log of a test file begins with its first call', () => {
    expect(printed('(env-gasmodel "table") (env-gaslimit 1) (print (env-gaslog))')).toEqual(['["Enabled gas log"]'])
  })

  it('the gas log of a test file says what each charge since the last look was for, where and how much', () => {
    expect(logged('(+ 1 2)')).toEqual([
      'TOTAL: 130mG',
      'GNative (RBuiltinWrap CoreAdd) main.repl:1:0-1:7: 100mG',
      'GIntegerOpCost PrimOpAdd 1 2 main.repl:1:0-1:7: 30mG',
    ])
    expect(logged('')).toEqual(['TOTAL: 0mG'])
  })

  it.each([
    ['(- 1)', ['GNative (RBuiltinWrap CoreNegate) 1:0-1:5: 100mG']],
    [
      '(* -2\n 3)',
      ['GNative (RBuiltinWrap CoreMultiply) 1:0-2:3: 100mG', 'GIntegerOpCost PrimOpMul (-2) 3 1:0-2:3: 26mG'],
    ],
    [
      '(= "a\\"ü1" "b")',
      ['GNative (RBuiltinWrap CoreEq) 1:0-1:15: 100mG', 'GComparison (TextComparison "a\\"\\252\\&1") 1:0-1:15: 104mG'],
    ],
    ['(round 1.55 1)', ['GNative (RBuiltinWrap CoreRoundPrec) 1:0-1:14: 100mG']],
    [
      '(bind {"a": 1} {"a" := x} x)',
      [
        'GConcat (ObjConcat 1) 1:6-1:14: 100mG',
        'GNative (RBuiltinWrap CoreBind) 1:0-1:28: 100mG',
        'GAApplyLam Nothing 1 1:0-1:28: 75mG',
        'GNative (RBuiltinWrap CoreAt) 1:23-1:24: 100mG',
        'GObjOp (ObjOpLookup "a" 1) 1:23-1:24: 1mG',
      ],
    ],
    ['(expect "" 1 1)', ['GNative (RBuiltinRepl RExpect) 1:0-1:15: 0mG']],
  ])('the gas log of a test file has the names of the network: %s', (text, lines) => {
    const [, ...found] = logged(text)
    expect(found.map((line) => line.replace('main.repl:', ''))).toEqual(lines)
  })

  it('the gas log of a test file names functions and modules with their hashes', () => {
    const module = '(begin-tx)(module m G (defcap G () true) (defun f (a:[integer]) (length a)))(commit-tx)'
    const [, read, merge, list, call, type, native] = logged('(m.f [1])', module)
    expect(read).toMatch(/^GModuleOp \(MOpLoadModule \d{3}\) main.repl:1:1-1:4: 1\dmG$/)
    expect(merge).toBe('GModuleOp (MOpMergeDeps 0 2) main.repl:1:1-1:4: 0mG')
    expect(list).toBe('GConcat (ListConcat (GasListLength 1)) main.repl:1:5-1:8: 100mG')
    expect(call).toMatch(
      /^GAApplyLam \(Just \(FullyQualifiedName {_fqModule = ModuleName {_mnName = "m", _mnNamespace = Nothing}, _fqName = "f", _fqHash = ModuleHash {_mhHash = "[\w-]{43}"}}\)\) 1 main.repl:1:0-1:9: 75mG$/,
    )
    expect(type).toBe('GAConstant (MilliGas 25) main.repl:1:0-1:9: 25mG')
    const at = `main.repl:0:${module.indexOf('(length') + 45}-0:${module.indexOf(')))') + 46}`
    expect(native).toBe(`GNative (RBuiltinWrap CoreLength) ${at}: 100mG`)
  })
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
