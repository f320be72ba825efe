/** Codes of findings, gas of natives, unused imports, and comments that silence findings. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { systemContracts } from '../../src/language/contracts/system/system.ts'
import { findingCodes, LOUD_CODES } from '../../src/language/editor/text/finding-codes.ts'
import { Workspace, type WorkspaceFiles } from '../../src/language/editor/workspace/workspace.ts'

/** Findings of a text as `line:column severity code`, from 1. */
function found(text: string, file = 'a.pact'): string[] {
  const files: WorkspaceFiles = {
    read: () => null,
    resolve: (_, path) => path,
    list: () => [],
    refresh: () => undefined,
    systemFile: (name) => `/system/${name}.pact`,
  }
  const workspace = new Workspace(files, null, {
    areVirtual: true,
    onArrival: () => undefined,
    onTrouble: () => undefined,
  })
  workspace.change(file, text)
  const { lines } = workspace.parsedFile(file) ?? {}
  return workspace.findings(file).map(({ from, severity, code }) => {
    return `${(lines?.lineOf(from) ?? 0) + 1}:${(lines?.columnOf(from) ?? 0) + 1} ${severity} ${code}`
  })
}

const HEAD = '(module m G (defcap G () true) (defschema s a:integer) (deftable t:{s})\n'
const inModule = (members: string) => found(`${HEAD}${members}\n)`)

it.each([
  ['syntax', '(defun f () (+ 1 2)'],
  ['unknown-name', '(defun f () (nothing))'],
  ['unknown-field', '(defun f () (insert t "k" {"b": 1}))'],
  ['wrong-arguments', '(defun f () (abs 1 2))'],
  ['unused-variable', '(defun f () (let ((x 1)) 2))'],
  ['unused-import', '(use coin [transfer]) (defun f () 1)'],
  ['shadowed-native', '(defun length () 1)'],
  ['test-native', '(defun f () (env-data {}))'],
  ['top-level-native', '(defun f () (create-table t))'],
  ['local-native', '(defun f () (list-modules))'],
  ['table-scan', '(defun f () (keys t))'],
  ['costly-native', '(defun f (l) (hash-poseidon l))'],
  ['duplicate-member', '(defun f () 1) (defun f () 2)'],
  ['circular-members', '(defun f () (g)) (defun g () (f))'],
  ['not-an-interface', '(implements coin) (defun f () 1)'],
  ['refused-module', '(implements fungible-v2) (defun f () 1)'],
])('the linter gives the code %s', (code, members) => {
  expect(inModule(members).map((each) => each.split(' ')[2])).toContain(code)
})

it('the linter gives codes of test files', () => {
  expect(found('(load "none.pact")', 'a.repl')).toEqual(['1:7 error load-file'])
  expect(found('(coin.details "a")', 'a.repl')).toEqual(['1:2 warning not-loaded'])
})

it.each(['select', 'keys', 'fold-db'])(
  'the linter warns of the table scan of %s in a contract, and not in a test file',
  (native) => {
    const rest =
      native === 'keys' ? '' : native === 'select' ? ' (constantly true)' : ' (lambda (k r) true) (lambda (k r) k)'
    expect(inModule(`(defun f () (${native} t${rest}))`)).toEqual(['2:14 warning table-scan'])
    expect(found(`${HEAD}(defun f () (${native} t${rest})))`, 'a.repl')).toEqual([])
    // Code after the module is a part of the transaction that deploys it.
    expect(found(`${HEAD}(defun f () 1))\n(${native} t${rest})`)).toEqual(['3:2 warning table-scan'])
  },
)

it.each([
  ['a row that is read by its key', '(defun f () (read t "a"))'],
  ['a table that is created behind the module', '(defun f () 1))\n(create-table t'],
  ['an import that is used', '(use coin [transfer]) (defun f () (transfer "a" "b" 1.0))'],
  ['an import that is used in a type', '(use coin [coin-schema]) (defun f (x:object{coin-schema}) x)'],
  ['an import of a whole module', '(use coin) (defun f () 1)'],
])('the linter finds nothing in %s', (_, members) => {
  expect(inModule(members)).toEqual([])
})

it('the linter does not count a call with the module in front as a use of an import', () => {
  expect(inModule('(use coin [transfer]) (defun f () (coin.transfer "a" "b" 1.0))')).toEqual([
    '2:12 hint unused-import',
  ])
})

it.each(systemContracts.map(({ name, text }) => [name, text]))(
  'the linter finds no gas to save in %s',
  (name, text) => {
    expect(found(text, `/system/${name}.pact`).filter((each) => /scan|costly|native|import/.test(each))).toEqual([])
  },
)

it.each([
  ['behind the code', '(defun f () (keys t)) ; newcut-ignore table-scan'],
  ['on the line before', '; newcut-ignore table-scan\n(defun f () (keys t))'],
  [
    'before other comments and blank lines',
    ';; newcut-ignore table-scan: only local calls\n\n; what\n(defun f () (keys t))',
  ],
  ['for the file, from anywhere', '(defun f () (keys t))\n(defun g () (keys t)) ; newcut-ignore-file table-scan'],
  ['with other codes', '(defun f () (let ((x 1)) (keys t))) ; newcut-ignore unused-variable, table-scan'],
])('a comment silences the linter %s', (_, members) => {
  expect(inModule(members).filter((each) => !each.endsWith('silence-comment'))).toEqual([])
})

it('a comment silences the finding that it names, on its line, and nothing else', () => {
  const text = '; newcut-ignore table-scan\n(defun f () (let ((x 1)) (keys t)))\n(defun g () (keys t))'
  expect(inModule(text)).toEqual(['3:20 hint unused-variable', '4:14 warning table-scan'])
})

it('the linter reports comments that name no finding, silence nothing, or would hide an error', () => {
  expect(inModule('(defun f () 1) ; newcut-ignore')).toEqual(['2:16 warning silence-comment'])
  expect(inModule('(defun f () (keys t)) ; newcut-ignore table-scam')).toEqual([
    '2:14 warning table-scan',
    '2:39 warning silence-comment',
  ])
  expect(inModule('(defun f () 1) ; newcut-ignore table-scan')).toEqual(['2:32 hint silence-comment'])
  expect(inModule('(defun f () ) ; newcut-ignore syntax')).toContain('2:31 warning silence-comment')
  // Words that only begin like it do not count.
  expect(inModule('(defun f () 1) ; newcut-ignored, newcut-ignore-files')).toEqual([])
})

it('the linter reports no comments in a broken text, which hides findings', () => {
  const codes = found(`${HEAD}(defun f () (keys t) ; newcut-ignore table-scan\n`).map((each) => each.split(' ')[2])
  expect(codes).toContain('syntax')
  expect(codes).not.toContain('silence-comment')
})

it('a comment silences the line on which a string of several lines ends, not the next', () => {
  const text = '(defun f () (+ "a\\\n  \\b" ; newcut-ignore table-scan\n (keys t)))'
  expect(inModule(text)).toEqual(['3:23 hint silence-comment', '4:3 warning table-scan'])
  expect(inModule('(defun f () (+ "a\\\n  \\b" (keys t))) ; newcut-ignore table-scan')).toEqual([])
})

it('the documents have all codes of the linter, each with its meaning', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/EDITORS.md', import.meta.url)), 'utf8')
  const rows = new Map([...text.matchAll(/^\| `([a-z-]+)` \| (.+?) \|/gm)].map(([, code, what]) => [code, what]))
  expect(Object.fromEntries(rows)).toEqual(findingCodes)
  for (const code of LOUD_CODES) expect(text).toContain(`\`${code}\``)
})
