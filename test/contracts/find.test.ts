/** Test files that `newcut test` finds in folders. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findTestFiles } from '../../src/language/testing/find.ts'

/** Writes files into a new folder, which is the working directory until the test ends. */
function inFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-find-'))
  const before = process.cwd()
  onTestFinished(() => {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  process.chdir(folder)
  return folder
}

it('a search finds test files below, without hidden folders and dependencies', () => {
  inFolder({
    'b.repl': '',
    'sub/deep/a.repl': '',
    'a.pact': '',
    '.git/x.repl': '',
    'node_modules/x.repl': '',
    'sub/lib/x.repl': '',
  })
  expect(findTestFiles([])).toEqual({
    files: ['b.repl', 'sub/deep/a.repl'],
    folders: ['.'],
    searched: ['.', 'sub', 'sub/deep'],
  })
  expect(findTestFiles(['sub/lib', 'sub', './sub/deep/a.repl']).files).toEqual(['sub/lib/x.repl', './sub/deep/a.repl'])
})

it('a search leaves out files that another one loads, and keeps one of a circle', () => {
  inFolder({
    'all.repl': '(load "parts/setup.repl")\n(expect-failure "x" (load "parts/one.repl"))',
    'parts/setup.repl': '(load "../m.pact")',
    'parts/one.repl': '; (load "two.repl")\n(load "setup.repl")',
    'parts/two.repl': '(load "two.repl") (',
    'circle/a.repl': '(load "b.repl")',
    'circle/b.repl': '(load "a.repl")',
  })
  expect(findTestFiles([]).files).toEqual(['all.repl', 'circle/a.repl', 'parts/two.repl'])
  expect(findTestFiles(['parts/setup.repl']).files).toEqual(['parts/setup.repl'])
})

it('a search follows links to files, and none to folders', () => {
  const folder = inFolder({ 'tests/a.repl': '', 'shared.repl': '' })
  symlinkSync(join(folder, 'shared.repl'), 'tests/linked.repl')
  symlinkSync('nowhere.repl', 'tests/broken.repl')
  symlinkSync(folder, 'tests/circle')
  expect(findTestFiles(['tests']).files).toEqual(['tests/a.repl', 'tests/linked.repl'])
})

it('a search says what is missing', () => {
  inFolder({ 'token.repl': '', 'empty/token.pact': '', 'locked/a.repl': '' })
  expect(() => findTestFiles(['tokn.repl'])).toThrow('tokn.repl: no such file or folder; did you mean token.repl?')
  expect(() => findTestFiles(['token'])).toThrow('token: no such file or folder; did you mean token.repl?')
  expect(() => findTestFiles(['no/token.repl'])).toThrow('no such file or folder; there is no folder no')
  // A file stands where a folder is named.
  expect(() => findTestFiles(['token.repl/a.repl'])).toThrow('no such file or folder; there is no folder token.repl')
  expect(() => findTestFiles(['a'.repeat(5000)])).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }))
  expect(() => findTestFiles(['empty'])).toThrow('empty: no test file (*.repl) is in it or below')
  expect(findTestFiles(['tokn.repl', 'empty'], true)).toEqual({
    files: ['tokn.repl'],
    folders: ['empty'],
    searched: ['empty'],
  })
})
