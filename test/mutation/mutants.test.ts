/** Which mutants are made, and how runs with them end. */
import { expect, it } from 'vitest'
import { ignoreCommentsIn } from '../../src/language/mutation/ignore-comments.ts'
import { operatorNames } from '../../src/language/mutation/operators.ts'
import { changesOf, judge, moduleOf, mutantsIn, mutatedText } from './planted.ts'

const changes = (contract: string) => mutantsIn(contract).flatMap((each) => changesOf(contract, each))

it('mutants leave documents, properties, messages of errors and code outside of modules as they are', () => {
  const contract = `(namespace "free")
(module m G
  @doc "Begins with 0."
  @model [(property (= 1 1))]
  (defconst NAME "one" "Its 1 name.")
  (defcap G () "Governs." true)
  (defschema row "Row 0." n:integer)
  (deftable rows:{row} "Rows 0.")
  (defun pay (n) @doc "Pays 1." @model [(property (> 1 0))] (enforce (check n) (format "not {} < {}" [n 1])))
  (defun check (n) "Checks 1." n))
(if (= 1 1) "a" "b")`
  expect(changes(contract)).toEqual(['"one" => ""', '(enforce (check n) (format "not {} < {}" [n 1])) => true'])
})

it('mutants of equal text count once, and none equals the contract', () => {
  const contract = moduleOf('(defpact p () (step (yield {"k": "x"})) (step (resume {"k" := k} (= k "y"))))')
  const texts = mutantsIn(contract).map((each) => mutatedText(contract, each))
  expect(new Set(texts).size).toBe(texts.length)
  expect(texts).not.toContain(contract)
  expect(texts.length).toBeGreaterThan(2)
})

it('a variable of the same name as a parameter is not the account that it stands for', () => {
  const call = '(pay a b)'
  const pay = '(defun pay (a:string b:string) [a b])'
  const wrong = (body: string) => {
    const contract = moduleOf(`${pay} (defun both (a:string b:string) ${body})`)
    return mutantsIn(contract).filter(({ operator }) => operator === 'wrong-account').length
  }
  expect(wrong(call)).toBe(2)
  expect(wrong(`(let ((a:string "x")) ${call})`)).toBe(1)
})

it('a check in a variable that nobody reads is a call whose value is not used', () => {
  const checked = (body: string) => {
    const contract = moduleOf(`(defun check (n) (enforce n "no")) (defun pay (n) (let ((ok (check n))) ${body}))`)
    return mutantsIn(contract).some(({ operator }) => operator === 'remove-call')
  }
  expect(checked('n')).toBe(true)
  expect(checked('ok')).toBe(false)
})

it('a mutant that does not load is invalid, and one that stops a later form is killed', () => {
  const contract = moduleOf('(defconst PART:decimal (/ 1.0 1.0)) (defun part () PART)')
  const byZero = mutantsIn(contract).filter(({ operator }) => operator === 'constant')[1]
  expect(judge(contract, byZero, '(expect "1" 1.0 (m.part))')).toMatchObject({
    kind: 'invalid',
    why: expect.stringContaining('zero'),
  })
  const lazy = moduleOf('(defun part () (/ 1.0 1.0))')
  const later = mutantsIn(lazy).filter(({ operator }) => operator === 'constant')[1]
  expect(judge(lazy, later, '(m.part)')).toMatchObject({
    kind: 'killed',
    by: { at: 'm.pact:3:16', name: 'the file runs to its end' },
  })
})

it('a mutant that fails when its module is loaded again is killed', () => {
  const contract = '(module m G (defcap G () (enforce (= 1 1) "closed")) (defun one () 1))'
  const [closed] = mutantsIn(contract).filter(({ operator }) => operator === 'opposite')
  expect(judge(contract, closed, '(begin-tx) (commit-tx) (load "m.pact")')).toMatchObject({
    kind: 'killed',
    by: { what: 'closed' },
  })
})

it('a mutant that runs without end is ended by its cost', () => {
  const contract = moduleOf('(defun long () (length (enumerate 1 (/ 1000000 1000))))')
  const [endless] = mutantsIn(contract).filter(({ operator }) => operator === 'arithmetic')
  const bounds = { milligas: 10_000_000, work: 10_000_000 }
  expect(judge(contract, endless, '(expect-that "long" (<= 1000) (m.long))', bounds)).toEqual({ kind: 'endless' })
})

it('nothing in a test file catches the end of a mutant that costs too much', () => {
  const contract = moduleOf('(defun long () (length (enumerate 1 (/ 1000000 1000))))')
  const [endless] = mutantsIn(contract).filter(({ operator }) => operator === 'arithmetic')
  const bounds = { milligas: 10_000_000, work: 10_000_000 }
  expect(judge(contract, endless, '(expect-failure "fails" (m.long))', bounds)).toEqual({ kind: 'endless' })
  expect(judge(contract, endless, '(expect "caught" 0 (try 0 (m.long)))', bounds)).toEqual({ kind: 'endless' })
})

it('a run with a mutant ends at its first failure, and a property is not shrunk', () => {
  const contract = moduleOf('(defun less (a:integer b:integer) (- a b))')
  const [mutant] = mutantsIn(contract).filter(({ operator }) => operator === 'arithmetic')
  const property = '(for-all "less" [(gen-integer 1 1000000000)] (lambda (n) (< (m.less n n) n)))'
  const verdict = judge(contract, mutant, `${property}\n(expect "never comes here" 1 2)`)
  expect(verdict).toMatchObject({ kind: 'killed', by: { at: 'm.repl:2:1', name: 'less', what: 'returned false' } })
})

it('a comment silences the mutants of its line, or of the next line of code, for some operators or all', () => {
  const text = `(a) ; newcut-mutate: ignore it is fine
;; newcut-mutate: ignore boundary, off-by-one: rounds down

(b)
(c) ; an ordinary comment`
  expect(ignoreCommentsIn(text, 'm.pact', operatorNames)).toEqual([
    { line: 0, at: 'm.pact:1', operators: [], reason: 'it is fine' },
    { line: 3, at: 'm.pact:2', operators: ['boundary', 'off-by-one'], reason: 'rounds down' },
  ])
  const refusals = ['skip it', 'ignore', 'ignore boundary:', 'ignore boundry: no'].map((directive) => {
    try {
      ignoreCommentsIn(`; newcut-mutate: ${directive}`, 'm.pact', operatorNames)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  })
  expect(refusals).toEqual([
    'm.pact:1: the comment says "skip", not "ignore"',
    'm.pact:1: the comment has no reason',
    'm.pact:1: the comment has no reason',
    'm.pact:1: boundry is not the name of an operator; did you mean boundary?',
  ])
})
