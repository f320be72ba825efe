/** Names of natives: on a network they always mean the native, and test files may not give them to anything else. */
import { describe, expect, it } from 'vitest'
import { evaluatorOn, Layer, runOn } from './evaluator.ts'
import { expectAccepted, refusal, report } from './load-checks.ts'

const TEXT = 'Variable length shadows native with the same name'
const ADVICE = 'on the network, it always means the native, so choose another name'

function isForTests(text: string): boolean {
  return /^\((defun|defconst)/.test(text)
}

function value(text: string) {
  return runOn(evaluatorOn(new Layer()), text)
}

describe('on a network the name of a native means the native', () => {
  it.each([
    ['a variable', '(let ((length (lambda (x) 7))) (length [1 2]))', 2n],
    ['a parameter', '((lambda (length) (length [1 2])) 7)', 2n],
    ['a variable of a binding', '(bind {"a": 7} {"a" := length} (length [1 2]))', 2n],
    ['a function', '(module m G (defcap G () true) (defun length (x) 7)) (length [1 2])', 2n],
    [
      'a function, in its module',
      '(module m G (defcap G () true) (defun length (x) 7) (defun f () (length [1 2]))) (m.f)',
      2n,
    ],
    ['a constant', '(module m G (defcap G () true) (defconst length 7) (defun f () (length [1 2]))) (m.f)', 2n],
    ['a form that is a native', '(let ((if 1) (map 2)) (if true (map (+ 1) [1]) 2))', [2n]],
  ])('the name of a native on a network means the native, not %s', (_, text, wanted) => {
    expect(value(text)).toEqual(wanted)
  })

  it.each([
    ['a function by its qualified name', '(module m G (defcap G () true) (defun length (x) 7)) (m.length [1 2])', 7n],
    ['a name that only test files have', '(let ((expect 7)) expect)', 7n],
    ['a name that is a form on the network', '(let ((and 7) (enforce 8)) [and enforce])', [7n, 8n]],
    [
      'a variable before ::',
      '(interface i (defun f ())) (module m G (defcap G () true) (implements i) (defun f () 7)) (let ((read m)) (read::f))',
      7n,
    ],
  ])('the name of a native on a network may also mean %s', (_, text, wanted) => {
    expect(value(text)).toEqual(wanted)
  })

  it('the name of a form on a network means the form', () => {
    expect(value('(let ((and (lambda (a b) 7))) (and true false))')).toBe(false)
    expect(refusal('(let ((error (lambda (a) 7))) (error "real"))').message).toBe('real')
  })
})

describe('a test file is refused where it gives the name of a native to', () => {
  it.each([
    ['a variable', '(let ((«length 1)) 2)'],
    ['a variable of let*', '(let* ((a 1) («length 1)) 2)'],
    ['a nested variable', '(+ 1 (let ((a [(let ((«length 1)) 2)])) 2))'],
    ['a parameter of a lambda', '(map (lambda («length:integer) 1) [])'],
    ['a function', '(defun «length () 1)'],
    ['a parameter', '(defun f (a «length) 1)'],
    ['a constant', '(defconst «length 1)'],
    ['a variable in a constant', '(defconst C (let ((«length 1)) 2))'],
    ['a module', '(module «length G (defcap G () true))'],
    ['a member', '(module m G (defcap G () true) (defun «length () 1))'],
    ['a parameter of a member', '(module m G (defcap C («length) true) (defcap G () true))'],
    ['a variable of a member', '(module m G (defcap G () true) (defun f () (let ((«length 1)) 2)))'],
    ['a parameter of a pact', '(module m G (defcap G () true) (defpact p («length) (step 1)))'],
    ['a variable of a step', '(module m G (defcap G () true) (defpact p () (step (let ((«length 1)) 2))))'],
    ['a schema', '(module m G (defcap G () true) (defschema «length a))'],
    ['a table', '(module m G (defcap G () true) (defschema s a) (deftable «length:{s}))'],
    ['an interface', '(interface «length (defun f ()))'],
    ['a function of an interface', '(interface i (defun «length ()))'],
    ['a parameter of an interface', '(interface i (defcap C («length)))'],
  ])('a test file is refused where it gives the name of a native to %s', (_, text) => {
    const at = text.indexOf('«')
    const refused = text.replace('«', '')
    const place = { line: 1, column: at }
    const first = '(expect "nothing runs" 1 1)'
    expect(report({ 'a.repl': `${first}\n${refused}` })).toMatchObject({
      passed: 0,
      stopped: { file: 'a.repl', place },
    })
    const loaded = report({ 'a.repl': '(load "b.repl") (expect "" 1 1)', 'b.repl': `${first}\n${refused}` })
    expect(loaded).toMatchObject({ passed: 0, stopped: { file: 'b.repl', place } })
    expect(loaded.stopped?.message).toContain(TEXT)
    if (!isForTests(text)) {
      const contract = report({ 'a.repl': '(load "m.pact") (expect "" 1 1)', 'm.pact': `(+ 1 1)\n${refused}` })
      expect(contract).toMatchObject({ passed: 0, output: [], stopped: { file: 'm.pact', place } })
    }
    expect(report({ 'a.repl': text.replace('«length', 'longer') }).stopped).toBeNull()
    expectAcceptedAtTop(text.replace('«', ''))
  })

  function expectAcceptedAtTop(text: string): void {
    if (!isForTests(text)) expectAccepted(text)
  }

  it('a field of a schema may have the name of a native, because it is not a variable', () => {
    const text = '(module m G (defcap G () true) (defschema s length:integer) (defun f (x:object{s}) x))'
    expect(report({ 'a.repl': `${text} (expect "" {"length": 1} (m.f {"length": 1}))` })).toMatchObject({
      passed: 1,
      failures: [],
      output: [],
    })
  })

  it('a test file is refused where it defines a function with the name of a native of test files', () => {
    expect(report({ 'a.repl': '(defun print () 1)' }).stopped?.message).toContain(
      'Variable print shadows native with the same name',
    )
  })

  it('a test file is refused for the first name of a form, inner ones first, and the output lists the others', () => {
    const text = '(let ((hash (let ((length 1)) 2))) 1)\n(let ((map 1)) 1)'
    const { stopped, output } = report({ 'a.repl': text })
    expect(stopped).toMatchObject({
      message: expect.stringContaining('Variable length'),
      place: { line: 0, column: 19 },
    })
    expect(output).toEqual([`WARNING a.repl:1:8: Variable hash shadows native with the same name (${ADVICE})`])
  })
})

describe('a name of a native', () => {
  it('a name of a native is refused in an expectation', () => {
    const { passed, failures } = report({
      'a.repl':
        `(expect-failure "" "${TEXT}" (module m G (defcap G () true) (defun length () 1)))` +
        `(expect-failure "" "${TEXT}" (defun f (length) 1))`,
    })
    expect(passed).toBe(2)
    expect(failures).toEqual([])
  })

  it('a name of a native gets a warning in a binding, which the network accepts', () => {
    const { failures, output } = report({ 'a.repl': '(bind {"a": 1}\n  {"a" := length} 1)' })
    expect(failures).toEqual([])
    expect(output).toEqual([`WARNING a.repl:2:11: ${TEXT} (${ADVICE})`])
  })
})

describe('a contract that a test loads', () => {
  it('a contract that a test loads has no functions of test files', () => {
    const contract = (body: string) => `(module m G (defcap G () true) (defun print (x) x) (defun f () ${body}))`
    const { passed, stopped } = report({
      'a.repl': '(load "m.pact") (expect "its own function" 7 (m.f))',
      'm.pact': contract('(print 7)'),
    })
    expect(passed).toBe(1)
    expect(stopped).toBeNull()
    expect(report({ 'a.repl': '(load "m.pact")', 'm.pact': '(begin-tx)' }).stopped).toMatchObject({
      file: 'm.pact',
      message: expect.stringContaining('begin-tx'),
    })
  })

  it('a contract that a test loads sees no imports at the top level of the test', () => {
    const lib = '(module lib G (defcap G () true) (defun f () 1))'
    const use = '(module m G (defcap G () true) (defun g () (f)))'
    expect(report({ 'a.repl': `${lib} (load "m.pact")`, 'm.pact': use }).stopped).toMatchObject({
      message: expect.stringContaining('Cannot find module:  f'),
    })
    expect(report({ 'a.repl': `${lib} (load "m.repl")`, 'm.repl': use }).stopped).toBeNull()
  })

  it('a contract that a test loads leaves the functions of test files to the test', () => {
    const files = { 'a.repl': '(load "m.pact") (print 1)', 'm.pact': '1' }
    expect(report(files)).toMatchObject({ output: ['1'], stopped: null })
  })
})
