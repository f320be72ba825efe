import { expect, it } from 'vitest'
import { vocabulary } from '../../src/language/contracts/repl/vocabulary.ts'
import { nativeHover } from '../../src/language/editor/features/hover.ts'
import type { ModuleTexts } from '../../src/language/editor/workspace/live-modules.ts'
import type { Workspace } from '../../src/language/editor/workspace/workspace.ts'
import { until } from '../wait.ts'
import { workspaceOf } from './memory-workspace.ts'

/** Findings as `line:column severity message`, from 1. */
function findingsOf(workspace: Workspace, file: string): string[] {
  const { lines } = workspace.parsedFile(file) ?? {}
  return workspace.findings(file).map(({ from, severity, message }) => {
    return `${(lines?.lineOf(from) ?? 0) + 1}:${(lines?.columnOf(from) ?? 0) + 1} ${severity} ${message}`
  })
}

const inContract = (text: string) => findingsOf(workspaceOf({ 'a.pact': text }), 'a.pact')
const inTest = (text: string, more: Readonly<Record<string, string>> = {}) => {
  return findingsOf(workspaceOf({ ...more, 'a.repl': text }), 'a.repl')
}
const inModule = (members: string) => inContract(`(module m G (defcap G () true)\n${members})`)

it('the reader continues at the next member after an unclosed bracket, a grammar error or an unknown name', () => {
  const found = inModule(`  (defun a () (+ 1 2)
  (defun b)
  (defun c () (nothing))
  (defun d () 1)`)
  expect(found).toEqual([
    "2:3 error Expected: [')'] (the ( of line 2, column 3 is not closed)",
    "3:10 error Expected: ['('; the parameters]",
    '4:16 error Cannot find module:  nothing (no variable, member, import or module has this name)',
  ])
})

it.each([
  [
    'two half-typed types',
    '(defun a (x:) 1)\n(defun b (y:) 2)',
    ['1:13 error Expected: [name]', '2:13 error Expected: [name]'],
  ],
  [
    'an error that shows again as the text is repaired',
    'x:[ (',
    ["1:5 error Expected: [')'] (the ( of line 1, column 5 is not closed)", '1:6 error Expected: [name]'],
  ],
  [
    'a module without a name, and without members',
    '(module 1 G (bless "x"))',
    ['1:9 error Expected: [name of the module]'],
  ],
])('the reader reports each error of %s once', (_, text, expected) => {
  expect(inContract(text).filter((finding) => finding.includes('Expected'))).toEqual(expected)
})

it('the reader ends an unclosed form at the next one that begins a line, in a test file too', () => {
  const open = "error Expected: [')'] (the ( of line"
  expect(inTest('(expect "a" 1 1\n(defun f () 1)\n(f)')).toEqual([`1:1 ${open} 1, column 1 is not closed)`])
  const module = '(module m G\n  (defcap G () true))\n(defun f () 1)\n(f)\n'
  expect(inTest(`${module}(+ 1 2`)).toEqual([`5:1 ${open} 5, column 1 is not closed)`])
})

it('the reader reports an extra bracket where it ends a module early', () => {
  expect(inModule('  (defun a () 1)))\n  (defun b () 2)')[0]).toBe('2:18 error Unexpected input: )')
})

it.each([
  ['an unclosed string', '(defun a () "x\n)', /^2:13 error newline in string literal/],
  ['a character that begins nothing', '(defun a () `1)', /^2:13 error Unexpected character: "`"/],
  ['an unknown type', '(defun a (x:strin) 1)', /^2:13 error No such type: strin/],
  ['an unknown schema', '(defun a (x:object{row}) x)', /^2:20 error Cannot find module: {2}row/],
  ['an unknown member of a module', '(defun a () (coin.nothing))', /^2:14 error .*coin.*nothing/],
  [
    'too many arguments of a member',
    '(defun a (x) x) (defun b () (a 1 2))',
    /^2:30 error m\.a takes 1 argument, not 2$/,
  ],
  ['too many arguments of a native', '(defun a () (abs 1 2))', /^2:14 error abs takes 1 argument, not 2$/],
  ['too few arguments', '(defun a () (hash))', /^2:14 warning hash takes 1 argument, not 0: the result is a function/],
  [
    'too few arguments of what map takes behind its function',
    '(defun f (a b) a) (defun g () (map (f 1) (f 2)))',
    /^2:43 warning m\.f takes 2 arguments, not 1: the result/,
  ],
  ['a form with wrong parts', '(defun a () (if true 1))', /^2:13 error .*if must take three arguments/],
  ['a variable without use', '(defun a () (let ((x 1)) 2))', /^2:20 hint x is never used$/],
  ['a variable in its own value', '(defun a () (let ((x (+ x 1))) x))', /^2:25 error Cannot find module: {2}x/],
  [
    'a second member of a name',
    '(defun a () 1) (defun a (x) 2) (defun b () (a))',
    /^2:23 error m has a member a already$/,
  ],
  ['members in a circle', '(defun a () (b)) (defun b () (a))', /^2:1 error .*[Rr]ecursive/],
  [
    'a missing field',
    '(defschema s a:integer) (deftable t:{s}) (defun f () (insert t "k" {"b": 1}))',
    /warning s has no field b$/,
  ],
  ['a name of a native', '(defun length () 1)', /warning Variable length shadows native/],
  ['a native of test files', '(defun a () (env-data {}))', /^2:14 error env-data is a native of test files/],
  ['an unknown interface', '(implements nothing) (defun a () 1)', /^2:13 error Cannot find module: {2}nothing/],
  [
    'what only the loader finds: an interface',
    '(implements fungible-v2) (defun a () 1)',
    /^1:1 error Interface member not impl/,
  ],
  ['what only the loader finds: a failing constant', '(defconst A (at 1 []))', /error/],
])('the checks report %s', (_, members, wanted) => {
  const found = inModule(members)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(wanted)
})

it.each([
  ['partial applications', '(defun f (a b) a) (defun g (l) (map (f 1) (filter (< 2) (fold (+) [] [l]))))'],
  ['constants of the command', '(defconst KEYS (read-keyset "ks")) (defun f () KEYS)'],
  ['variables that begin with _', '(defun f () (let ((_ 1)) 2))'],
  ['bindings of rows', '(defschema s a:integer) (deftable t:{s}) (defun f () (with-read t "k" {"a" := x} x))'],
  ['bindings with several forms', '(defun f (o) (bind o {"a" := x} (format "{}" [x]) x))'],
  ['imports', '(use coin [transfer]) (defun f () (transfer "a" "b" 1.0))'],
  ['a pact', '(defpact p (x) (step (+ x 1)) (step-with-rollback x 2) (step x))'],
])('the checks find nothing wrong in %s', (_, members) => {
  expect(inModule(members)).toEqual([])
})

it('the checks know what a test file loads, defines and commits', () => {
  const loaded = { 'm.pact': '(module m G (defcap G () true) (defun f () 1))' }
  expect(inTest('(load "m.pact")\n(expect "f" 1 (f))\n(expect "m" 1 (m.f))', loaded)).toEqual([])
  expect(inTest('(defun g () 1)\n(begin-tx)\n(load "m.pact")\n(commit-tx)\n(g)\n(f)', loaded)).toEqual([
    '6:2 error Cannot find module:  f (no variable, member, import or module has this name)',
  ])
  expect(inTest('(load "none.pact")')).toEqual(['1:7 error cannot read none.pact; no such file beside this one'])
  expect(inTest('(load "a.repl")')).toEqual(['1:7 error a.repl loads itself'])
  expect(inTest('(load "b.pact")', { 'b.pact': '(' })[0]).toMatch(/^1:7 warning b\.pact has 1 error: Expected/)
})

it('the checks resolve a name at its place: natives before variables, no members of interfaces, no ended namespace', () => {
  const shadowed = inModule('(defun f () (let ((length 1)) length))')
  expect(shadowed.map((each) => each.slice(0, 40))).toEqual([
    expect.stringContaining('2:20 warning Variable length shadows'),
    '2:20 hint length is never used',
  ])
  const face = '(interface i (defun c:string ()))'
  expect(inTest(`${face}\n(c)\n(i.c)`).map((each) => each.slice(0, 35))).toEqual([
    '2:2 error Cannot find module:  c (n',
    '3:2 error Module i has no such memb',
  ])
  const module = '(namespace "free")\n(module b G (defcap G () true) (defun f () 1))\n'
  expect(inTest(`${module}(b.f)`)).toEqual([])
  expect(inTest(`${module}(commit-tx)\n(free.b.f)\n(b.f)`).map((each) => each.slice(0, 9))).toEqual(['5:2 error'])
})

it('the checks allow natives of tests in modules only after they are enabled', () => {
  const module = '(module m G (defcap G () true) (defun f () (env-data {})))'
  expect(inTest(module)).toHaveLength(1)
  expect(inTest(`(env-enable-repl-natives true)\n${module}`)).toEqual([])
})

it('the checks find a module again whose namespace the command names', () => {
  const files = {
    'b.pact': '(namespace (read-msg "ns"))\n(module b G (defcap G () true) (defschema s a:integer) (defun f (x) x))',
    'a.pact':
      '(namespace (read-msg "ns"))\n(module a G (defcap G () true) (use free.b [s]) (defun g (x:object{s}) (free.b.f 1 2)))',
  }
  expect(findingsOf(workspaceOf(files), 'a.pact')).toEqual(['2:73 error b.f takes 1 argument, not 2'])
  // The loader would not find it under this name, so it is not asked.
  const rooted = { ...files, 'c.pact': '(module c G (defcap G () true) (defun h () (free.b.f 1)))' }
  expect(findingsOf(workspaceOf(rooted), 'c.pact')).toEqual([])
  // A test file states the namespace in its data.
  const test = (text: string) => inTest(`(env-data { "ns": "free" })\n(load "b.pact")\n${text}`, files)
  expect(test('(free.b.f 1)')).toEqual([])
  expect(test('(free.b.f 1 2)')).toEqual(['3:2 error free.b.f takes 1 argument, not 2'])
  expect(test('(other.b.f 1)')).toEqual([expect.stringMatching(/^3:2 (error|warning) /)])
})

it('an import of an unknown module has one finding, not one at each name', () => {
  const found = inModule('(use free.none) (use free.nobody [f]) (defun a () (f (g)))')
  expect(found.map((each) => each.split(' ')[0])).toEqual(['2:6', '2:22'])
  expect(inModule('(use free.nobody [f]) (defun a () (f (g)))').map((each) => each.split(' ')[0])).toEqual([
    '2:6',
    '2:39',
  ])
})

it('the checks expect failures in code that is expected to fail', () => {
  expect(inTest('(expect-failure "unknown" (nothing 1))\n(nothing)')).toHaveLength(1)
  expect(inTest('[(expect-failure "unknown" (nothing 1)) (nothing)]')).toHaveLength(1)
})

it('the checks warn of a module that a test file uses and does not load', () => {
  const found = inTest('(coin.get-balance "a")')
  expect(found).toEqual(['1:2 warning this file does not load coin'])
})

it('the checks treat unknown modules after env-fork as those of a network', () => {
  const fork = '(env-fork "http://127.0.0.1:1848" {"cut": 5})\n'
  const uses = '(coin.get-balance "a") (free.nobody.f 1) (use free.nowhere) (f)\n(nothing) (coin.nothing)'
  expect(inTest(`${fork}${uses}`).map((found) => found.split(' ')[0])).toEqual(['3:12'])
  expect(inTest(`(load "s.repl")\n${uses}`, { 's.repl': fork }).map((found) => found.split(' ')[0])).toEqual(['3:12'])
  expect(inTest(`\n${uses}`).map((found) => found.split(' ')[0])).toEqual(['2:2', '2:25', '2:47', '3:12'])
  expect(inTest('(env-fork) (env-fork "u" {} 1)')).toEqual([
    expect.stringContaining('1:2 warning env-fork takes 1 to 2 arguments, not 0'),
    '1:13 error env-fork takes 1 to 2 arguments, not 3',
  ])
  const [word] = [...vocabulary.values()].filter(({ name }) => name === 'env-fork')
  expect(nativeHover(word)).toBe(
    '```pact\n(env-fork url options)\n```\n\nreads what the file has not written from a live network\n\nTest files only.',
  )
  // An editor with a fork of its own knows better.
  const moduleTexts: ModuleTexts = { textOf: async () => null, names: async () => [], keep: () => '' }
  const workspace = workspaceOf({ 'a.repl': `${fork}(free.nobody.f 1)` }, moduleTexts)
  return until(() =>
    findingsOf(workspace, 'a.repl').some((found) => found.includes('Cannot find module:  free.nobody')),
  )
})

it('the checks request a live module once, and drop the finding when the text has arrived', async () => {
  const asked: string[] = []
  const moduleTexts: ModuleTexts = {
    textOf: async (full) => {
      asked.push(full)
      if (full !== 'free.live') return null
      return { path: 'free.live.pact', text: '(namespace "free") (module live G (defcap G () true) (defun f (x) x))' }
    },
    names: async () => ['free.live'],
    keep: () => '',
  }
  const text = '(module m G (defcap G () true)\n(defun a () (free.live.f 1 2)) (defun b () (free.dead.f)))'
  const workspace = workspaceOf({ 'a.pact': text }, moduleTexts)
  expect(findingsOf(workspace, 'a.pact')).toEqual([])
  await until(() => findingsOf(workspace, 'a.pact').length === 2)
  expect(findingsOf(workspace, 'a.pact')).toEqual([
    '2:14 error free.live.f takes 1 argument, not 2',
    expect.stringMatching(/^2:45 error .*free\.dead/),
  ])
  expect(asked.toSorted().filter((name) => name === 'free.live')).toEqual(['free.live'])
})
