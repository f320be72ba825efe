/** The test suites of the language, and `newcut test`, which runs such files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ContractError } from '../../src/language/contracts/errors.ts'
import { runTests, type TestReport } from '../../src/language/contracts/repl/run.ts'
import { run as runCommand } from '../cli/run.ts'
import { contractIn, withoutTimes } from './contract-in.ts'

const SUITES = join(import.meta.dirname, 'suites')
const EXAMPLES = join(SUITES, 'examples')

function run(file: string): TestReport {
  return runTests(file, {
    resolve: (from, path) => resolve(dirname(from), path),
    read: (path) => readFileSync(path, 'utf8'),
  })
}

/** The minimum number of expectations in each suite. */
const FEWEST: Readonly<Record<string, number>> = {
  'capabilities.repl': 49,
  'corners.repl': 19,
  'errors.repl': 30,
  'guards.repl': 40,
  'modrefs.repl': 14,
  'modules.repl': 50,
  'namespaces.repl': 41,
  'nested-pacts.repl': 31,
  'pacts.repl': 37,
  'purity.repl': 48,
  'runner.repl': 68,
  'schemas.repl': 32,
  'signatures.repl': 64,
  'slh-dsa.repl': 27,
  'table-values.repl': 57,
  'tables.repl': 38,
  'types.repl': 30,
}

describe('suites of the language', () => {
  it.each(Object.entries(FEWEST))('the suite %s passes', (name, fewest) => {
    const { passed, failures, stopped } = run(join(SUITES, name))
    expect(stopped).toBeNull()
    expect(failures).toEqual([])
    expect(passed).toBeGreaterThanOrEqual(fewest)
  })

  it('the list of suites names every file of the folder', () => {
    const names = readdirSync(SUITES).filter((name) => name.endsWith('.repl'))
    expect(names.sort()).toEqual(Object.keys(FEWEST).sort())
  })
})

describe('a report of a test file', () => {
  it('a report of a test file names place, name and actual value of each failure', () => {
    const file = join(EXAMPLES, 'wrong.repl')
    const { passed, failures, output, stopped } = run(file)
    expect(failures).toEqual([
      { file, place: { line: 1, column: 0 }, name: 'two and two', what: 'expected 5, got 4' },
      { file, place: { line: 3, column: 0 }, name: 'addition fails', what: 'expected a failure, got 2' },
      {
        ...{ file, place: { line: 4, column: 0 }, name: 'the text of a failure' },
        what: 'expected a failure with "poor", got "rich"',
      },
      {
        ...{ file, place: { line: 5, column: 2 }, name: 'a value' },
        what: 'expected a value, got the error: no value',
      },
      { file, place: { line: 6, column: 0 }, name: 'a condition', what: 'did not satisfy the condition: 2' },
    ])
    expect(passed).toBe(1)
    expect(output).toEqual(['"printed"'])
    expect(stopped).toBeNull()
  })

  it('a report of a test file names where the file stopped', () => {
    const { passed, failures, stopped } = run(join(EXAMPLES, 'stops.repl'))
    expect({ passed, failures }).toEqual({ passed: 1, failures: [] })
    expect(stopped).toEqual({
      file: join(EXAMPLES, 'stops.repl'),
      place: { line: 2, column: 2 },
      calledAt: null,
      message: 'outside of expectations',
      wireMessage: 'outside of expectations',
    })
  })

  it('a report names the file of the module that failed, and the form of a failure without place', () => {
    const files: Record<string, string> = {
      'in-module.repl': '(begin-tx)\n(load "m.pact")\n(m.second [])',
      'm.pact': '(module m G (defcap G () true)\n  (defun second (x:list) (at 1 x)))',
      'types.repl': '(load "m.pact")\n  (m.second 1)',
      'missing.repl': '\n(load "none.repl")',
      'after-caught.repl': '(load "m.pact")\n(expect-failure "x" (load "bad.repl"))\n\n (m.second [])',
      'bad.repl': '(+ 1 "a")',
    }
    const stop = (name: string) => {
      const read = (file: string) => {
        if (files[file] === undefined) throw new ContractError('EvalError', `cannot read ${file}`)
        return files[file]
      }
      const { file, place, calledAt } = runTests(name, { resolve: (_, path) => path, read }).stopped ?? {}
      const by = calledAt == null ? '' : `, called at ${calledAt.file}:${calledAt.place.line}:${calledAt.place.column}`
      return `${file}:${place?.line}:${place?.column}${by}`
    }
    expect(stop('in-module.repl')).toBe('m.pact:1:25, called at in-module.repl:2:0')
    expect(stop('after-caught.repl')).toBe('m.pact:1:25, called at after-caught.repl:3:1')
    expect(stop('types.repl')).toBe('types.repl:1:2')
    expect(stop('missing.repl')).toBe('missing.repl:1:0')
  })

  it('a report counts the expectations of loaded files, and names the file of a failure', () => {
    expect(run(join(EXAMPLES, 'loads.repl'))).toMatchObject({ passed: 2, failures: [], stopped: null })
    const { failures, stopped } = run(join(EXAMPLES, 'loads-wrong.repl'))
    expect(new Set(failures.map(({ file }) => file))).toEqual(new Set([join(EXAMPLES, 'wrong.repl')]))
    expect(stopped?.file).toBe(join(EXAMPLES, 'stops.repl'))
  })
})

it('a constant of a test file is evaluated where it stands', () => {
  const read = () =>
    '(env-data {"a": 1})(defconst A (read-integer "a"))(env-data {"a": 2})(expect "1" 1 A)\n(defconst B (+ A ""))'
  const { passed, failures, stopped } = runTests('t.repl', { resolve: (_, path) => path, read })
  expect({ passed, failures }).toEqual({ passed: 1, failures: [] })
  expect(stopped).toMatchObject({ place: { line: 1, column: 12 }, message: expect.stringContaining('+') })
})

describe('newcut test', () => {
  const command = (...args: string[]) => contractIn(process.cwd(), args)
  const path = (name: string) => relative(process.cwd(), join(SUITES, name))

  it('newcut test exits with 0 if all expectations hold', async () => {
    const { status, lines } = await command(path('errors.repl'), path('examples/loads.repl'))
    expect(status).toBe(0)
    expect(lines[0]).toMatch(/errors\.repl {2}\d+ tests T$/)
    expect(lines[1]).toMatch(/loads\.repl {2}2 tests T$/)
    expect(lines[2]).toMatch(/^\d+ passed, 0 failed, 0 skipped, 2 files, T$/)
  })

  it('newcut test exits with 1 and reports failures with their place, counted from 1', async () => {
    const { status, lines } = await command(path('examples/wrong.repl'))
    expect(status).toBe(1)
    expect(lines.slice(0, 8)).toEqual([
      `FAIL ${path('examples/wrong.repl')} T`,
      '  "printed"',
      '  FAIL two and two T      1 gas',
      `    ${path('examples/wrong.repl')}:2:1`,
      '    2 | (expect "two and two" 5 (+ 2 2))',
      '      | ^^^^^^^',
      '    expected   5',
      '    actual     4',
    ])
    expect(lines.at(-1)).toBe('1 passed, 5 failed, 0 skipped, 1 file, T')
  })

  it('newcut test names where a test calls the code of another file that fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-contract-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(
      join(folder, 'm.pact'),
      '(module m G (defcap G () true)\n  (defun f (n) (enforce (> n 0) "positive")))',
    )
    writeFileSync(join(folder, 'm.repl'), '(load "m.pact")\n(m.f 1)\n(m.f 0)')
    const { lines } = await command(join(folder, 'm.repl'))
    expect(lines.slice(1)).toEqual([
      '  FAIL the file ends early',
      expect.stringMatching(/^ {4}\S*m\.pact:2:16$/),
      '    2 | (defun f (n) (enforce (> n 0) "positive")))',
      '      |              ^^^^^^^^',
      expect.stringMatching(/^ {4}called at \S*m\.repl:3:1$/),
      '    3 | (m.f 0)',
      '      | ^^^^',
      '    positive',
      '',
      '0 passed, 1 failed, 0 skipped, 1 file, T',
    ])
  })

  it('newcut test exits with 1 if a file stops early', async () => {
    const { status, lines } = await command(path('examples/stops.repl'))
    expect(status).toBe(1)
    expect(lines).toEqual([
      `FAIL ${path('examples/stops.repl')} T`,
      '  ok   before the end T      0 gas',
      '  FAIL the file ends early',
      `    ${path('examples/stops.repl')}:3:3`,
      '    3 | (enforce false "outside of expectations"))',
      '      | ^^^^^^^^',
      '    outside of expectations',
      '',
      '1 passed, 1 failed, 0 skipped, 1 file, T',
    ])
  })

  it('newcut test refuses a file that does not exist, and guesses which one is meant', async () => {
    const { status, stderr } = await command(path('examples/lodas.repl'))
    expect(status).toBe(2)
    expect(stderr).toContain('examples/lodas.repl: no such file or folder; did you mean loads.repl?')
  })

  it('newcut test --json prints one JSON object for each file', async () => {
    const { status, lines } = await command('--json', path('examples/wrong.repl'), path('examples/loads.repl'))
    expect(status).toBe(1)
    const reports = lines.map((line) => JSON.parse(line))
    expect(reports.map(({ file, passed }) => [file, passed])).toEqual([
      [path('examples/wrong.repl'), 1],
      [path('examples/loads.repl'), 2],
    ])
    expect(reports[0].failures[0]).toMatchObject({ place: { line: 1, column: 0 }, name: 'two and two' })
  })

  it('newcut test without arguments runs the test files below the current folder', async () => {
    const { status, lines } = await contractIn(join(SUITES, 'examples'), [])
    expect(status).toBe(1)
    const heads = lines.flatMap((line) => /^(?:ok {2}|FAIL) (\S+)/.exec(line)?.[1] ?? [])
    expect(heads).toEqual(['fresh.repl', 'loads-wrong.repl', 'loads.repl'])
  })

  it('newcut contract is newcut test, also in the help', async () => {
    const [old, now] = await Promise.all(
      ['contract', 'test'].map(async (name) => {
        const { code, out } = await runCommand([name, path('examples/loads.repl')])
        return { code, out: withoutTimes(out) }
      }),
    )
    expect(old).toEqual(now)
    expect((await runCommand(['help', 'contract'])).out).toMatch(/newcut\s+contract\s+is\s+the\s+same\s+command/)
  })
})
