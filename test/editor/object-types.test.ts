/** Fields that code names as texts: in rows, in objects of a declared type, and in results of functions. */
import { expect, it } from 'vitest'
import { Answers } from '../../src/language/editor/protocol/answers.ts'
import { ProtocolPlaces } from '../../src/language/editor/protocol/documents.ts'
import { workspaceOf } from './memory-workspace.ts'

const MODULE = `(module bank G
  (defcap G () true)
  (defschema inner old:integer)
  (defschema row old:decimal other:string next:object{row} part:object{inner} parts:[object{inner}])
  (defschema far old:string)
  (deftable rows:{row})
  (deftable fars:{far})
  (defconst FIRST:object{row} { "old": 1.0 })
  (defun get:object{row} (k:string) (read rows k))
  (defun all:[object{row}] () (select rows (constantly true)))
  (defun take-it (o:object{row} l:[object{row}]) true)
  (defun plain (k:string) (read rows k))
`

/** Renames the field `old` of `row`. @returns the text that follows the module, after the rename */
function renamed(member: string, rest: Readonly<Record<string, string>> = {}) {
  const texts = { '/a.pact': `${MODULE}${member})`, ...rest }
  const workspace = workspaceOf(texts)
  const answers = new Answers(workspace, new ProtocolPlaces(workspace))
  const line = MODULE.split('\n').findIndex((each) => each.includes('defschema row'))
  const character = MODULE.split('\n')[line].indexOf('old')
  const { changes = {} } = answers.rename('/a.pact', { line, character }, 'new')
  const after = (file: string, text: string) => {
    const lines = text.split('\n')
    const edits = Object.entries(changes).find(([uri]) => uri.endsWith(file))?.[1] ?? []
    for (const { range, newText } of edits.toSorted((a, b) => b.range.start.character - a.range.start.character)) {
      const { start, end } = range
      lines[start.line] = lines[start.line].slice(0, start.character) + newText + lines[start.line].slice(end.character)
    }
    return lines.join('\n')
  }
  return Object.entries(texts).map(([file, text]) => after(file, text).split('\n').at(-1))
}

/** `*old*` is a place that the rename changes; any other `old` stays. */
it.each([
  ["(defun f (k) (at '*old* (read rows k)))"],
  ['(defun f (k) (at "*old*" (get k)))'],
  ["(defun f (k) (let ((r (read rows k))) (at '*old* r)))"],
  ["(defun f (k) (let* ((r (get k)) (s r)) (+ (at '*old* s) (at '*old* r))))"],
  ["(defun f (k) (let ((r:object{row} (plain k))) (at '*old* r)))"],
  ["(defun f (k) (let ((r:object (get k))) (at '*old* r)))"],
  ["(defun f (k) (let ((r:object{far} (get k))) (at 'old r)))"],
  ["(defun f (r:object{row}) (at '*old* r))"],
  ["(defun f () (at '*old* FIRST))"],
  ['(defconst SECOND:object{row} { "*old*": 1.0 })'],
  ["(defun f () (at '*old* (at 0 (select rows (constantly true)))))"],
  ["(defun f () (at '*old* (at 0 (take 1 (all)))))"],
  ["(defun f () (map (at '*old*) (all)))"],
  ["(defun f () (map (lambda (r) (at '*old* r)) (filter (where '*old* (< 1.0)) (all))))"],
  ["(defun f () (fold (lambda (sum r) (+ sum (at '*old* r))) 0.0 (all)))"],
  ["(defun f (k) (select rows ['*old* 'other] (and? (where '*old* (= 1.0)) (where 'other (= \"old\")))))"],
  ["(defun f (k) (at '*old* (fold (lambda (last r) r) (get k) (all))))"],
  ["(defun f (k) (read rows k ['*old*]))"],
  ["(defun f () (fold-db rows (lambda (k r) (= 1.0 (at '*old* r))) (lambda (k r) (at '*old* r))))"],
  ["(defun f (k) (at '*old* (if true (get k) (plain k))))"],
  ["(defun f (k) (bind (get k) { '*old* := x } x))"],
  ["(defun f (k) (with-read rows k { '*old* := x, 'part := p } (+ x (at 'old p))))"],
  ["(defun f (k) (at 'old (at 'part (get k))))"],
  ["(defun f (k) (map (at 'old) (at 'parts (get k))))"],
  ["(defun f (k) (contains '*old* (drop ['*old*] (get k))))"],
  ['(defun f:object{row} () { "*old*": 1.0 })'],
  ['(defun f:[object{row}] () [{ "*old*": 1.0 } { "*old*": 2.0 }])'],
  ['(defun f () (take-it { "*old*": 1.0 } [{ "*old*": 2.0 }]))'],
  ['(defun f () (let ((r:object{row} { "*old*": 1.0 })) r))'],
  // Another schema, or none that the text tells.
  ["(defun f (k) (at 'old (read fars k)))"],
  ["(defun f (k) (at 'old (plain k)))"],
  ["(defun f (r) (at 'old r))"],
  ["(defun f (k r:object) (at 'old r))"],
  ['(defun f () { "old": 1.0 })'],
  ["(defun f (k) (let ((r (get k))) (let ((r (read fars k))) (at 'old r))))"],
  ["(defun f (t:table k) (at 'old (read t k)))"],
  ["(defun f (k) (at 'old (+ { 'a: 1 } (get k))))"],
])('a rename of a field reaches %s', (member) => {
  const [line] = renamed(member.replaceAll('*old*', 'old'))
  expect(line).toBe(`${member.replaceAll('*old*', 'new')})`)
})

it('a rename of a field reaches other modules, and the objects that they pass on', () => {
  const code = [
    '(module shop G (use bank [all]) (defcap G () true) (defschema row old:string)',
    `(defun f (r:object{row}) (bank.take-it { '*old*: 1.0 } []) (at 'old r))`,
    `(defun g () (+ (at '*old* (bank.get "k")) (+ (at '*old* (at 0 (all))) (at '*old* (at 'next (bank.get "k")))))))`,
  ].join(' ')
  const [, line] = renamed('(defun f () 1)', { '/b.repl': `(load "/a.pact")\n${code.replaceAll('*old*', 'old')}` })
  expect(line).toBe(code.replaceAll('*old*', 'new'))
})

it('a field that a schema does not have is a finding where code reads it', () => {
  const findings = (member: string) => {
    const workspace = workspaceOf({ '/a.pact': `${MODULE}${member})` })
    return workspace.findings('/a.pact').filter(({ code }) => code === 'unknown-field')
  }
  expect(findings("(defun f (k) (at 'othe (get k)))").map(({ message }) => message)).toEqual([
    'row has no field othe; other is similar',
  ])
  expect(findings("(defun f (k) (contains 'older (get k)))")).toEqual([])
})
