/** `newcut/contracts`: what programs get from texts and test files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { formatCode, loadModules, runCode, testFiles } from '../../src/language/testing/public.ts'

const SUMS = `(module sums G
  "Sums of numbers."
  (defcap G () true)
  (defschema pair a:integer b:[string])
  (deftable pairs:{pair})
  (defconst ONE:integer 1)
  (defcap PAID (to:string) @event true)
  (defun sum:integer (a:integer b:integer) "Adds two numbers." (+ a b)))`

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-entry-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

describe('loadModules', () => {
  it('loadModules lists the members of a module with their types and documents', () => {
    expect(loadModules(SUMS)).toEqual([
      {
        name: 'sums',
        isInterface: false,
        doc: 'Sums of numbers.',
        members: [
          {
            kind: 'function',
            name: 'sum',
            doc: 'Adds two numbers.',
            fields: [
              { name: 'a', type: 'integer' },
              { name: 'b', type: 'integer' },
            ],
            type: 'integer',
          },
          { kind: 'capability', name: 'G', doc: null, fields: [], type: null },
          { kind: 'capability', name: 'PAID', doc: null, fields: [{ name: 'to', type: 'string' }], type: null },
          {
            kind: 'schema',
            name: 'pair',
            doc: null,
            fields: [
              { name: 'a', type: 'integer' },
              { name: 'b', type: '[string]' },
            ],
            type: null,
          },
          { kind: 'table', name: 'pairs', doc: null, fields: [], type: 'pair' },
          { kind: 'constant', name: 'ONE', doc: null, fields: [], type: 'integer' },
        ],
      },
    ])
  })

  it('loadModules throws for a module that a node would not load, with the place', () => {
    expect(() => loadModules('(module m G\n (defcap G () true)\n (defun f () (nothing)))')).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', message: expect.stringMatching(/^code\.pact:3:\d+: /) }),
    )
    expect(() => loadModules('(module m', { name: 'open.pact' })).toThrow(/^open\.pact:1:/)
  })

  it('loadModules loads a module after its setup, and reports a setup that fails', () => {
    const setup = `(env-data { "k": { "keys": ["a"], "pred": "keys-all" } }) (env-keys ["a"])
      (define-namespace "free" (read-keyset "k") (read-keyset "k"))`
    expect(loadModules(`(namespace "free") ${SUMS}`, { setup })[0].name).toBe('free.sums')
    expect(() => loadModules(SUMS, { setup: '\n(+ 1 "a")' })).toThrow(/^setup\.repl:2:/)
    expect(() => loadModules(SUMS, { setup: '(expect "two" 2 1)' })).toThrow('setup.repl: two: expected 2, got 1')
  })
})

describe('runCode', () => {
  it('runCode returns the last value in source form, and the gas', () => {
    const { value, gas, error, tests } = runCode(`${SUMS} [(sums.sum 1 2) "a"]`)
    expect({ value, error, tests }).toEqual({ value: '[3, "a"]', error: null, tests: [] })
    expect(gas).toBeGreaterThan(0)
    expect(runCode('1').gas).toBeLessThan(gas)
  })

  it('runCode runs the text of a test file, which may load files of a folder', () => {
    const folder = folderWith({ 'sums.pact': SUMS })
    const text =
      '(load "sums.pact")\n(expect "three" 3 (sums.sum 1 2))\n(expect "four" 4 (sums.sum 1 2))\n(print "done")'
    expect(runCode(text, { name: 'a.repl', folder })).toMatchObject({
      output: ['"done"'],
      tests: [
        { name: 'three', at: 'a.repl:2:1', failure: null },
        { name: 'four', at: 'a.repl:3:1', failure: 'expected 4, got 3' },
      ],
      error: null,
    })
    expect(runCode('(load "none.pact")', { name: 'a.repl', folder }).error).toMatch(/^a\.repl:1:1: cannot read /)
  })

  it('runCode returns the place and the reason of an early end', () => {
    expect(runCode('1\n(enforce false "no")')).toMatchObject({ value: null, error: 'code.pact:2:1: no' })
    // Natives of tests are for test files.
    expect(runCode('(expect "one" 1 1)').error).toMatch(/^code\.pact:1:/)
  })
})

describe('testFiles', () => {
  const files = () => {
    const folder = folderWith({
      'sums.pact': SUMS,
      'a.repl': '(load "sums.pact")\n(expect "three" 3 (sums.sum 1 2))\n(print "hello")',
      'b.repl': '(expect "right" 1 1)\n(expect "wrong" 2 1)\n(enforce false "no")',
    })
    return { folder, a: join(folder, 'a.repl'), b: join(folder, 'b.repl') }
  }

  it('testFiles counts tests, in the order of the files, with an early end as one more', async () => {
    const { a, b } = files()
    const { passed, failed, files: results, junit, coverage, lcov, gas } = await testFiles([a, b])
    expect(passed).toBe(2)
    expect(failed).toBe(2)
    expect(coverage).toBeNull()
    expect(lcov).toBeNull()
    expect(gas).toBeNull()
    expect(results.map(({ file, tests, output }) => [file, tests.map(({ what }) => what), output])).toEqual([
      [a, [null], ['"hello"']],
      [b, [null, 'expected 2, got 1', 'no'], []],
    ])
    expect(results[0].tests[0]).toMatchObject({ name: 'three', at: expect.stringMatching(/a\.repl:2:1$/) })
    expect(results[0].tests[0].gas).toBeGreaterThan(0)
    expect(junit).toContain('<testsuites name="newcut test" tests="4" failures="2" errors="0" time="')
  })

  it('testFiles counts only tests of matching names', async () => {
    const { a, b } = files()
    expect(await testFiles([a, b], { match: 'right', jobs: 1 })).toMatchObject({ passed: 1, failed: 1, skipped: 2 })
  })

  it('testFiles measures coverage and gas', async () => {
    const { a, folder } = files()
    // Files outside of the working directory count as dependencies.
    const { coverage, lcov, gas } = await testFiles([a], { coverage: { dependencies: true }, gas: true })
    expect(coverage).toMatchObject([{ functions: { hit: 1 }, file: expect.stringMatching(/sums\.pact$/) }])
    expect(coverage?.[0].missedLines).toContain(3)
    expect(lcov).toContain(`SF:${join(folder, 'sums.pact')}`)
    expect(gas?.find(({ name }) => name === 'sum')).toMatchObject({ kind: 'function', module: 'sums', calls: 1 })
    expect((await testFiles([a], { coverage: true })).coverage).toEqual([])
  })

  it('testFiles draws the same values for the same seed', async () => {
    const text = '(for-all "small" ["integer"] (lambda (n:integer) (< n 3)))'
    const file = join(folderWith({ 'p.repl': text }), 'p.repl')
    const whats = async (seed: number) => (await testFiles([file], { seed, runs: 50 })).files[0].tests[0].what
    expect(await whats(7)).toBe(await whats(7))
  })

  it('testFiles refuses a file that calls for a fork', async () => {
    const file = join(folderWith({ 'f.repl': '(env-fork "http://127.0.0.1:9" {})' }), 'f.repl')
    await expect(testFiles([file])).rejects.toThrow('calls env-fork')
  })
})

describe('formatCode', () => {
  it('formatCode formats programs and test files, and throws with the place of an open bracket', () => {
    expect(formatCode('(+   1 2)')).toBe('(+ 1 2)\n')
    expect(formatCode('(expect   "a" 1 1)', 'a.repl')).toBe('(expect "a" 1 1)\n')
    expect(() => formatCode('(+ 1', 'b.pact')).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', message: expect.stringMatching(/^b\.pact:1:\d+: /) }),
    )
  })
})
