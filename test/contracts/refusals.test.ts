/** Error messages for code that is malformed or refers to things that do not exist. */
import { describe, expect, it } from 'vitest'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

/** The outcome of running all programs: the error as text, or `value`. */
function ending(...programs: readonly string[]): string {
  const state = new Layer()
  let last = 'nothing ran'
  for (const program of programs) {
    const result = outcome(evaluatorOn(state), program)
    last = 'error' in result ? result.error.message : 'value'
  }
  return last
}

const inModule = (text: string) => `(module m G (defcap G () true) ${text})`
const MODULE = `(module m G
  (defcap G () true)
  (defschema s a:integer)
  (deftable t:{s})
  (defconst C 1)
  (defun f (x) x)
  (defcap CAP (x:integer) true)
  (defpact p () (step 1)))
  (create-table t)`

describe('malformed code', () => {
  it.each([
    ['a binding alone', '{ "a" := b }', 'a binding is not an expression'],
    ['a lambda without a body', '(lambda (x))', 'Expected: [expression]'],
    ['a lambda without parameters', '(lambda x 1)', "Expected: ['(']"],
    ['a parameter that is no name', '(lambda (1) 1)', 'a parameter is a name'],
    ['a let without bindings', '(let 1 2)', "Expected: ['(']"],
    ['a let of more than pairs', '(let ((a 1 2)) a)', 'let takes pairs of a name and a value'],
    ['a cond without parts', '(cond)', 'cond takes at least one part'],
    ['a cond of more than pairs', '(cond (true 1 2) 3)', 'cond takes pairs of a test and a value'],
    ['an enforce-one without a list', '(enforce-one "no" 1)', 'enforce-one takes a list of tests'],
    ['a with-capability of nothing', '(with-capability)', 'with-capability takes a capability and a body'],
    ['a guard that is no call', '(create-user-guard 1)', 'a call of a function is expected'],
    ['a with-read of nothing', '(with-read)', 'with-read takes a table, a key and a binding'],
    [
      'a default read of nothing',
      '(with-default-read)',
      'with-default-read takes a table, a key, a default and a binding',
    ],
    ['a bind of nothing', '(bind)', 'bind takes an object and a binding'],
    ['a step outside of a pact', '(step 1)', 'step is not an expression'],
    ['a use of no name', '(use 1)', 'use takes the name of a module'],
    ['a use with a number', `${MODULE} (use m 1)`, 'use takes a module, a hash and a list of names'],
    ['a use of no names', `${MODULE} (use m [1])`, 'use takes a list of names'],
    ['a module in a module', inModule('(module n G (defcap G () true))'), 'module'],
    ['a module without a name', '(module 1 G (defcap G () true))', 'a module has a name'],
    [
      'a module without governance',
      '(module m 1 (defcap G () true))',
      'a module names its keyset or capability of governance',
    ],
    ['an implements of no name', inModule('(implements 1)'), 'implements takes the name of an interface'],
    ['a field that is no name', inModule('(defschema s 1)'), 'a field of a schema is a name'],
    ['a constant without a value', inModule('(defconst C)'), 'defconst takes a value'],
    ['a constant of itself', inModule('(defconst A B) (defconst B A)'), 'ecursive cycle'],
    [
      'a manager of no parameter',
      inModule('(defun h (a b) a) (defcap M (x) @managed y h true)'),
      'No argument with the name: y',
    ],
    ['a pact without steps', inModule('(defpact p () 1)'), 'a defpact consists of steps'],
    ['a definition of nothing', inModule('1'), 'a definition is expected'],
    ['a definition without a name', inModule('(defun)'), 'a definition has a name'],
    ['a blessing of no text', inModule('(bless 1)'), 'a string is expected'],
    ['a defun outside of modules', '(defun f () 1)', 'defun is allowed in modules only'],
  ])('%s', (_, program, message) => {
    expect(ending(program)).toContain(message)
  })
})

describe('code that refers to something that does not exist', () => {
  it.each([
    [
      'admin of an interface',
      '(interface i (defun f ())) (acquire-module-admin i)',
      'Attempt to use an interface as a module reference failed: i',
    ],
    ['a schema as a value', `${MODULE} m.s`, 'is a schema, not a value'],
    ['a member of no module', '(let ((x 1)) (x::f))', 'the left side of :: is not a module'],
    ['a call of a number', '(let ((x 1)) (x 2))', 'Cannot apply value to a non-closure.'],
    ['too many arguments', '((lambda (x) x) 1 2)', 'rguments'],
    ['a key that is not bound', '(bind {"a": 1} {"b" := b} b)', 'Key b not found in object.'],
    ['a bind of no object', '(bind 1 {"b" := b} b)', 'Expected an object, but got: integer'],
    ['a string that is none', '(enforce false 1)', 'Expected a string, but got: integer'],
    [
      'a capability that is none',
      `${inModule('(defun f () (with-capability 1 2))')} (m.f)`,
      'Expected capability token value',
    ],
    [
      'a default that is no object',
      `${MODULE} (acquire-module-admin m) (with-default-read t "k" 1 {"a" := a} a)`,
      'the default of with-default-read is not an object',
    ],
    ['a table that is none', '(read 1 "k")', 'xpected'],
    [
      'half a row',
      `(module n G (defcap G () true) (defschema r a:integer b:integer) (deftable u:{r})) (create-table u) (acquire-module-admin n) (insert u "k" {"a": 1})`,
      'schema mismatch',
    ],
    [
      'a query of numbers',
      `${MODULE} (acquire-module-admin m) (insert t "k" {"a": 1}) (select t (constantly 1))`,
      'a query gives true or false',
    ],
    ['a boolean that is none', '(fold and 1 [true])', 'Expected Boolean value, but got: integer'],
    ['a description of no module', '(describe-module "nothing")', 'Cannot find module: nothing'],
    ['a description of no keyset', '(describe-keyset "nothing")', 'Cannot find keyset in the database: nothing'],
    ['a token that is none', '(install-capability 1)', 'rgument'],
    ['a module that is none', '(acquire-module-admin 1)', 'rgument'],
    ['a time that is none', '(add-time 1 2)', 'rgument'],
    [
      'a yield to no chain',
      '(module n G (defcap G () true) (defpact q () (step (yield {"a": 1} "")) (step 2))) (n.q)',
      'a yield to another chain needs the id of that chain',
    ],
    [
      'a continue of no pact',
      '(module n G (defcap G () true) (defpact q () (step (continue (+ 1 2))))) (n.q)',
      'continue takes a call of a defpact',
    ],
    [
      'a description in a module',
      `${inModule('(defun f () (describe-module "m"))')} (m.f)`,
      'Top-level call used in module',
    ],
  ])('%s', (_, program, message) => {
    const result = ending(program)
    expect(result).not.toBe('value')
    expect(result).toContain(message)
  })
})
