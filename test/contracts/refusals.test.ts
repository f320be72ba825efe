/** Error messages for code that is malformed or refers to things that do not exist. */
import { describe, expect, it } from 'vitest'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

/** The outcome of running all programs: the error as text, or `value`. */
function ending(...programs: readonly string[]): string {
  const state = new Layer()
  let last = 'nothing ran'
  for (const program of programs) {
    const result = outcome(evaluatorOn(state), program)
    last = 'error' in result ? result.error.wireMessage : 'value'
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
    ['a binding alone', '{ "a" := b }', 'Expected: [expression; a binding follows a function in a call]'],
    ['a lambda without a body', '(lambda (x))', 'Expected: [expression]'],
    ['a lambda without parameters', '(lambda x 1)', "Expected: ['('; the parameters]"],
    ['a parameter that is not a name', '(lambda (1) 1)', 'Expected: [name of a parameter]'],
    ['a let without bindings', '(let 1 2)', "Expected: ['(']"],
    ['a let of more than pairs', '(let ((a 1 2)) a)', "Expected: [')']"],
    ['a cond without parts', '(cond)', 'cond: expected list of conditions with a default case'],
    ['a cond of more than pairs', '(cond (true 1 2) 3)', 'cond: expected application of conditions'],
    ['an enforce-one without a list', '(enforce-one "no" 1)', 'enforce-one takes a list of tests'],
    ['a with-capability of nothing', '(with-capability)', 'with-capability must take at least 2 expressions'],
    ['a guard that is not a call', '(create-user-guard 1)', 'must take one argument, which must be an application'],
    ['a with-read of nothing', '(with-read)', 'with-read takes a table, a key and a binding'],
    [
      'a default read of nothing',
      '(with-default-read)',
      'with-default-read takes a table, a key, a default and a binding',
    ],
    ['a bind of nothing', '(bind)', 'bind takes an object and a binding'],
    ['a step outside of a pact', '(step 1)', 'Expected: [expression; step is a word of the grammar]'],
    ['a use of a number', '(use 1)', 'Expected: [name of a module]'],
    ['a use with a number', `${MODULE} (use m 1)`, 'Expected: [hash in double quotes, or list of names]'],
    ['a use of a list of numbers', `${MODULE} (use m [1])`, 'Expected: [name of a member]'],
    ['a module in a module', inModule('(module n G (defcap G () true))'), 'Expected: [one of defun'],
    ['a module without a name', '(module 1 G (defcap G () true))', 'Expected: [name of the module]'],
    [
      'a module without governance',
      '(module m 1 (defcap G () true))',
      'Expected: [keyset or capability of governance]',
    ],
    ['an implements of a number', inModule('(implements 1)'), 'Expected: [name of an interface]'],
    ['a field that is not a name', inModule('(defschema s 1)'), 'Expected: [name of a field]'],
    ['a constant without a value', inModule('(defconst C)'), 'Expected: [value of the constant]'],
    ['a constant of itself', inModule('(defconst A B) (defconst B A)'), 'ecursive cycle'],
    [
      'a manager of no parameter',
      inModule('(defun h (a b) a) (defcap M (x) @managed y h true)'),
      'Invalid managed argument. No argument with the name: y',
    ],
    ['a pact without steps', inModule('(defpact p () 1)'), 'Expected: [step or step-with-rollback'],
    ['a member that is not a definition', inModule('1'), 'Expected: [one of defun'],
    ['a definition without a name', inModule('(defun)'), 'Expected: [name of the function]'],
    ['a blessing of a number', inModule('(bless 1)'), 'Expected: [hash of a module]'],
    ['a defun outside of modules', '(defun f () 1)', 'Expected: [expression; defun is a word of the grammar]'],
  ])('loading is refused for %s', (_, program, message) => {
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
    ['a schema as a value', `${MODULE} m.s`, 'Invalid definition in variable position: s'],
    ['a member of no module', '(let ((x 1)) (x::f))', 'the left side of :: is not a module'],
    ['a call of a number', '(let ((x 1)) (x 2))', 'Cannot apply value to a non-closure.'],
    ['too many arguments', '((lambda (x) x) 1 2)', 'rguments'],
    ['a key that the object does not have', '(bind {"a": 1} {"b" := b} b)', 'Key b not found in object.'],
    ['a bind of a number', '(bind 1 {"b" := b} b)', 'Expected an object, but got: integer'],
    ['a number for a string', '(enforce false 1)', 'Expected string value, but got: integer'],
    [
      'a number for a capability',
      `${inModule('(defun f () (with-capability 1 2))')} (m.f)`,
      'Expected capability token value',
    ],
    [
      'a default that is not an object',
      `${MODULE} (acquire-module-admin m) (with-default-read t "k" 1 {"a" := a} a)`,
      'the default of with-default-read is not an object',
    ],
    ['a number for a table', '(read 1 "k")', 'xpected'],
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
    ['a number for a boolean', '(fold and 1 [true])', 'Expected Boolean value, but got: integer'],
    ['a description of no module', '(describe-module "nothing")', 'Cannot find module: nothing'],
    ['a description of no keyset', '(describe-keyset "nothing")', 'Cannot find keyset in the database: nothing'],
    ['a number for a token', '(install-capability 1)', 'rgument'],
    ['a number for a module', '(acquire-module-admin 1)', 'rgument'],
    ['a number for a time', '(add-time 1 2)', 'rgument'],
    [
      'a continue of two things',
      '(module n G (defcap G () true) (defpact q () (step (continue 1 2)))) (n.q)',
      'Failed to apply a function or closure because there were too many arguments.',
    ],
    [
      'a description in a module',
      `${inModule('(defun f () (describe-module "m"))')} (m.f)`,
      'Top-level call used in module',
    ],
  ])('running code is refused for %s', (_, program, message) => {
    const result = ending(program)
    expect(result).not.toBe('value')
    expect(result).toContain(message)
  })
})
