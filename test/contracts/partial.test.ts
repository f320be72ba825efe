/** Partial application: functions of modules, lambdas, natives and forms with fewer arguments. */
import { beforeAll, describe, expect, it } from 'vitest'
import { asValue } from '../../src/language/contracts/machine/term.ts'
import { showValue } from '../../src/language/contracts/values/print.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'

const LIBRARY = `(interface shape (defun area:integer (a:integer b:integer)))
(module square G
  (defcap G () true)
  (implements shape)
  (defun area:integer (a:integer b:integer) (* a b)))
(module m G
  (defcap G () true)
  (defschema row a:integer)
  (deftable rows:{row})
  (defcap CAP (x:integer) true)
  (defpact p (x:integer y:integer) (step x))
  (defun none () 7)
  (defun one:integer (x:integer) (+ x 1))
  (defun f:integer (x:integer y:integer) (+ (* 10 x) y))
  (defun three:integer (x:integer y:integer z:integer) (+ (* 100 x) (f y z)))
  (defun less:bool (limit:integer x:integer) (< x limit))
  (defun enough:bool (limit:integer x:integer) (enforce (<= limit x) "too little"))
  (defun any (x) x)
  (defun given (key) (write rows key {"a": 1}) 1)
  (defun add (a b c) c)
  (defun small:bool (limit:integer r:object{row}) (< (at "a" r) limit))
  (defun keyed:bool (limit:integer key:string r:object{row}) (and (!= key "z") (small limit r)))
  (defun bad (x y) (f x))
  (defun worse:integer (x y) (one))
  (defun bare (x y) (+ 1))
  (defun wrong:string (x:integer y:integer) x)
  (defun again (x y) (ring::turn x y))
  (defun shaped (s:module{shape}) (map (s::area 2) [1 2]))
  (defun shaped-fold (s:module{shape}) (fold (s::area) 1 [2 3]))
  (defun in-let () (let ((g (f 1))) (map g [1 2])))
  (defun in-fold () (fold (f) 0 [1 2]))
  (defun in-compose () (compose (f 1) (one) 2))
  (defun in-lambda () (let ((k 3)) (map (lambda (x) (fold (f k) 0 [])) [1])))
  (defun in-filter () (filter (compose (one) (< 2)) [1 2]))
  (defun add-row (k a) (insert rows k {"a": a}))
  (defun chosen () (select rows (small 3)))
  (defun folded () (fold-db rows (keyed 3) (lambda (k r) k)))
  (defun chosen-where () (select rows (where "a" (< 2)))))
(create-table m.rows)
(module other G
  (defcap G () true)
  (use m)
  (defun imported () (zip (f) [1 2] [3 4]))
  (defun qualified () (zip (m.f) [1 2] [3 4]))
  (defun given () (filter (m.less 2) [1 2 3])))
(m.add-row "a" 1) (m.add-row "b" 2) (m.add-row "c" 3)`.replace(/ {2}\(defun again.*\n/, '')

const library = new Layer()

beforeAll(() => {
  runOn(evaluatorOn(library), LIBRARY)
})

function resultOf(code: string): string {
  const result = outcome(evaluatorOn(library), code)
  return 'error' in result ? `error: ${result.error.wireMessage}` : showValue(asValue(result.value))
}

describe('a partially applied function', () => {
  it.each([
    // Natives that apply functions.
    ['(map (m.one) [1 2])', '[2, 3]'],
    ['(map (m.f 1) [1 2])', '[11, 12]'],
    ['(map (m.three 1 2) [3 4])', '[123, 124]'],
    ['(map m.one [1 2])', '[2, 3]'],
    ['(map (+ 1) [1 2])', '[2, 3]'],
    ['(map (m.CAP) [1])', '[CapToken(m.CAP 1)]'],
    ['(fold (m.f) 0 [1 2])', '12'],
    ['(fold (m.three 1) 2 [3])', '123'],
    ['(fold (+) 0 [1 2])', '3'],
    ['(fold + 0 [1 2])', '3'],
    ['(filter (m.less 2) [1 2 3])', '[1]'],
    ['(filter (< 3) [1 4 5])', '[4, 5]'],
    ['(zip (m.f) [1 2] [3 4])', '[13, 24]'],
    ['(zip (m.three 5) [1 2] [3 4])', '[513, 524]'],
    ['(zip (+) [1] [2])', '[3]'],
    ['(compose (m.f 1) (m.f 2) 3)', '33'],
    ['(compose (+ 1) (* 2) 3)', '8'],
    ['(filter (compose (m.one) (< 2)) [1 2])', '[2]'],
    ['(map (compose (m.one) (m.f 1)) [1 2])', '[12, 13]'],
    ['(and? (< 1) (m.less 5) 3)', 'true'],
    ['(or? (> 1) (m.less 3) 3)', 'false'],
    ['(not? (m.less 3) 3)', 'true'],
    ['(filter (and? (< 0) (> 2)) [0 1 2])', '[1]'],
    ['(filter (not? (< 1)) [0 1 2])', '[0, 1]'],
    ['(where "a" (m.less 5) {"a": 3})', 'true'],
    ['(filter (where "a" (> 2)) [{"a": 1} {"a": 2}])', '[{"a": 1}]'],
    ['(bind {"a": 1} (m.small 2))', 'true'],
    ['(compose (+) (typeof) 1)', '"<<closure>>"'],
    // Any number of steps.
    ['(fold (fold (+)) 0 [])', '0'],
    ['(map (fold (m.f) 0) [[1 2] [3]])', '[12, 3]'],
    ['(map (map (m.f 1)) [[1] [2 3]])', '[[11], [12, 13]]'],
    ['(compose (m.f 1) (compose (m.one) (m.one)) 2)', '14'],
    // Variables.
    ['(let ((g (m.f 1))) (map g [1 2]))', '[11, 12]'],
    ['(let ((g (m.f 1)) (h (m.f 1))) (zip (lambda (a b) (+ a b)) (map g [1]) (map h [1])))', '[22]'],
    ['(let ((g (+ 1))) (map g [1 2]))', '[2, 3]'],
    ['(let ((g (m.f))) (g 1 2))', '12'],
    ['(let ((g (+))) (g 1 2))', '3'],
    ['(let ((g m.f)) (fold (g) 0 [1 2]))', '12'],
    ['(let ((g:integer (m.f 1))) (map g [1]))', '[11]'],
    ['(let ((h (lambda (x:integer) (m.f 1 x)))) (map (h) [1 2]))', '[11, 12]'],
    ['(let ((k 7) (h (lambda (x y z) [x y z k]))) (zip (h 1) [2] [3]))', '[[1, 2, 3, 7]]'],
    ['(let ((h (lambda (x y) [x y]))) (fold (h) 0 [1]))', '[0, 1]'],
    ['(zip ((lambda (x y) (- x y))) [5] [3])', '[2]'],
    ['(map ((lambda (x y) (- x y)) 1) [3])', '[-2]'],
    ['(let ((h (lambda (x y) (- x y)))) (compose (h 1) (m.one) 3))', '-1'],
    // Modules.
    ['(m.in-let)', '[11, 12]'],
    ['(m.in-fold)', '12'],
    ['(m.in-compose)', '13'],
    ['(m.in-lambda)', '[0]'],
    ['(m.in-filter)', '[2]'],
    ['(other.imported)', '[13, 24]'],
    ['(other.qualified)', '[13, 24]'],
    ['(other.given)', '[1]'],
    ['(m.shaped square)', '[2, 4]'],
    ['(m.shaped-fold square)', '6'],
    ['(do (use m) (fold (f) 0 [1 2]))', 'error: Expected: [expression; use is a word of the grammar]'],
    // Tables.
    ['(acquire-module-admin m) (map (at "a") (m.chosen))', '[1, 2]'],
    ['(acquire-module-admin m) (map (at "a") (m.chosen-where))', '[3]'],
    ['(acquire-module-admin m) (m.folded)', '["a", "b"]'],
    // Values in between.
    ['(do (m.f) 1)', '1'],
    ['(do (+) 1)', '1'],
    ['(typeof (m.f 1))', '"<<closure>>"'],
    ['(fold (and) true (map (m.enough 2) [2 3]))', 'true'],
    ['(map (m.enough 2) [2 1])', 'error: too little'],
    ['(try 0 (fold (m.enough) 2 [1]))', '0'],
  ])('a partially applied function makes %s evaluate to %s', (code, shown) => {
    expect(resultOf(code)).toBe(shown)
  })
})

describe('a form with fewer operands', () => {
  it.each([
    ['(fold (and) true [true false])', 'false'],
    ['(fold (or) false [true false])', 'true'],
    ['(zip (and) [true true false] [true false true])', '[true, false, false]'],
    ['(zip (or) [true false false] [true false true])', '[true, false, true]'],
    ['(filter (and true) [true false])', '[true]'],
    ['(filter (or true) [true false])', '[true, false]'],
    ['(map (and true) [true false])', '[true, false]'],
    ['(map (enforce true) ["x"])', '[true]'],
    ['(map (enforce false) ["x"])', 'error: x'],
    ['(filter (enforce true) [true])', '[true]'],
    [
      '(filter (enforce true) ["x"])',
      'error: Type check failed. The argument is  string but the expected type is  bool',
    ],
    ['(fold (and) true [1])', 'error: Type check failed. The argument is  integer but the expected type is  bool'],
    ['(filter (and true) [1])', 'error: Type check failed. The argument is  integer but the expected type is  bool'],
    ['(filter (and 1) [])', 'error: Type check failed. The argument is  integer but the expected type is  bool'],
    ['(do (and true) 1)', 'error: Incorrect number of arguments (1) for lambda supplied; expected (2)'],
    ['(do (enforce true) 1)', 'error: Incorrect number of arguments (1) for lambda supplied; expected (2)'],
    ['(do (or) 1)', 'error: Incorrect number of arguments (0) for lambda supplied; expected (2)'],
    ['(and true true true)', 'error: Failed to apply a function or closure because there were too many arguments.'],
    ['(enforce true "x" 1)', 'error: Failed to apply a function or closure because there were too many arguments.'],
    ['(if (m.less 1) 1 2)', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(enforce (m.less 1) "x")', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(enforce false (m.less 1))', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(with-capability (m.f 1) 1)', 'error: Expected a Pact value, but got a closure or table reference.'],
  ])('a form with fewer operands makes %s evaluate to %s', (code, shown) => {
    expect(resultOf(code)).toBe(shown)
  })
})

describe('map of a call', () => {
  it('map of a call evaluates the call for each item, and not for an empty list', () => {
    expect(resultOf('(map (m.f (enforce false "evaluated")) [])')).toBe('[]')
    const evaluator = evaluatorOn(new Layer())
    const counts = `(module c G (defcap G () true) (defcap E (n:integer) @event true)
      (defun f (x y) y) (defun count () (emit-event (E 1)) 1) (defun all () (map (f (count)) [1 2 3])))
      (c.all)`
    runOn(evaluator, counts)
    expect(evaluator.transaction.events.map(({ name }) => name)).toEqual(['E', 'E', 'E'])
  })

  it.each([
    // The item counts as an argument when the overload of a native is selected.
    ['(map (- 5) [1 2])', '[4, 3]'],
    ['(map (-) [1 2])', '[-1, -2]'],
    ['(map (str-to-int 16) ["ff"])', '[255]'],
    ['(map (enumerate 0 4) [2])', '[[0, 2, 4]]'],
    ['(map (round 1.25) [1])', '[1.2]'],
    ['(map (sort ["a"]) [[{"a": 2} {"a": 1}]])', '[[{"a": 1}, {"a": 2}]]'],
    ['(map (constantly 1) [2 3])', '[1, 1]'],
    ['(map (lambda (x) (+ 1 x)) [1])', '[2]'],
    ['(map (let ((x 1)) (+ x)) [1])', '[2]'],
    ['(map (let* ((x 1)) (+ x)) [1])', '[2]'],
    ['(let ((x 1)) (map (m.three x x) [x]))', '[111]'],
    ['(map (do 1) [5])', '[5]'],
    ['(map ((lambda (x y) [x y]) 1) [2])', '[[1, 2]]'],
    ['(let ((map (lambda (a b) b))) (map (+ 1) [2]))', '[3]'],
    ['(do (map) 1)', '1'],
    ['(do (map (+ 1)) 1)', 'error: Incorrect number of arguments (1) for native function map supplied; expected (2)'],
    ['(map (if true m.one) [1])', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(map () [1])', 'error: Type error: failed to call native function map, with argument(s) of type(s): unit, list'],
    ['(map (+) [1])', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(map (m.f) [1])', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(map (+ 1 2) [1])', 'error: Failed to apply a function or closure because there were too many arguments.'],
    ['(map (m.f 1 2) [1])', 'error: Failed to apply a function or closure because there were too many arguments.'],
    ['(map (m.none) [1])', 'error: Failed to apply a function or closure because there were too many arguments.'],
  ])('map of a call makes %s evaluate to %s', (code, shown) => {
    expect(resultOf(code)).toBe(shown)
  })
})

describe('a native as a value', () => {
  it.each([
    ['(fold (-) 5 [1 1])', '3'],
    ['(fold - 5 [1 1])', '3'],
    ['(zip (-) [3] [1])', '[2]'],
    [
      '(filter (compose (- 5) (< 2)) [1])',
      'error: Type error: failed to call native function compose, with argument(s) of type(s): integer, closure, integer',
    ],
    ['(compose (-) (m.one) 5)', 'error: Expected a Pact value, but got a closure or table reference.'],
    ['(fold (enumerate) 0 [2])', '[0, 1, 2]'],
    [
      '(zip (enumerate 0) [4] [2])',
      'error: Failed to apply a function or closure because there were too many arguments.',
    ],
    [
      '(let ((e enumerate)) (e 0 4 2))',
      'error: Failed to apply a function or closure because there were too many arguments.',
    ],
    [
      '(zip (sort) [["a"]] [[]])',
      'error: Failed to apply a function or closure because there were too many arguments.',
    ],
    ['(enumerate 0 4 2)', '[0, 2, 4]'],
    ['(- 5)', '-5'],
    [
      '(do (enumerate 1) 1)',
      'error: Incorrect number of arguments (1) for native function enumerate supplied; expected (2)',
    ],
    [
      '(compose (read-msg) (m.any) "a")',
      'error: Type error: failed to call native function compose, with argument(s) of type(s): object, closure, string',
    ],
    ['(compose read-msg (m.any) "nothing")', 'error: read-msg failed. Invalid format or missing key.'],
    ['(length (read-msg))', '0'],
  ])('a native as a value makes %s evaluate to %s', (code, shown) => {
    expect(resultOf(code)).toBe(shown)
  })
})

const TOO_MANY = 'Failed to apply a function or closure because there were too many arguments.'
const NO_VALUE = 'Expected a Pact value, but got a closure or table reference.'
const OUTSIDE = 'Failed to apply a partial closure outside of the native callsite.'
const typed = (given: string, wanted: string) =>
  `Type check failed. The argument is  ${given} but the expected type is  ${wanted}`

describe('a refused partial application', () => {
  it.each([
    ['called by code', '((m.f 1) 2)', OUTSIDE],
    ['of a native, called by code', '((take 1) "foo")', OUTSIDE],
    ['of a lambda, called by code', '(((lambda (x y) x) 1) 2)', OUTSIDE],
    ['in a variable, called by code', '(let ((g (m.f 1))) (g 2))', OUTSIDE],
    ['in a variable, called by code without arguments', '(let ((g (+ 1))) (g))', OUTSIDE],
    ['in a variable, in a call of map', '(let ((g (m.f 1))) (map (g) [1]))', OUTSIDE],
    ['as an argument of a function', '(m.any (m.f 1))', NO_VALUE],
    ['as an argument of a partial application', '(fold (m.f (m.f 1)) 0 [])', NO_VALUE],
    ['as an argument of a later application', '(compose (m.one) (m.f (+ 1)) 2)', NO_VALUE],
    ['as an argument of a capability', '(m.CAP (m.f 1))', NO_VALUE],
    ['as a result', '(m.bad 1 2)', NO_VALUE],
    ['without arguments, as a result of a declared type', '(m.worse 1 2)', NO_VALUE],
    ['of a native, as a result', '(m.bare 1 2)', NO_VALUE],
    ['as a result of a completed one', '(zip (m.bad) [1] [2])', NO_VALUE],
    ['as a result of a lambda', '((lambda (x) (m.f x)) 1)', NO_VALUE],
    ['as a result of a completed lambda', '(zip ((lambda (x y) (m.f x))) [1] [2])', NO_VALUE],
    ['as a result of a lambda in compose', '(do (compose (m.one) ((lambda (x y) (m.f x)) 1) 1) 1)', NO_VALUE],
    ['as a result in a fold', '(fold (m.three) 0 [1])', NO_VALUE],
    ['as a result in a filter', '(filter (m.three 1) [1])', NO_VALUE],
    ['in a list', '[(m.f 1)]', NO_VALUE],
    ['in an object', '{"a": (+ 1)}', NO_VALUE],
    [
      'in a comparison',
      '(= (m.f 1) (m.f 1))',
      'Type error: failed to call native function =, with argument(s) of type(s): closure, closure',
    ],
    [
      'shown',
      '(show (m.f 1))',
      'Type error: failed to call native function show, with argument(s) of type(s): closure',
    ],
    ['formatted', '(format "{}" [(m.f 1)])', NO_VALUE],
    ['stored', '(acquire-module-admin m) (insert m.rows "k" {"a": (m.f 1)})', NO_VALUE],
    ['at the top level', '(m.f 1)', 'Evaluation did not reduce to a value'],
    ['at the top level, not last', '(m.f 1) 1', 'Evaluation did not reduce to a value'],
    ['at the top level, without arguments', '(m.f)', 'Evaluation did not reduce to a value'],
    ['of the wrong type', '(do (m.f "a") 1)', typed('string', 'integer')],
    ['of the wrong type, for nothing', '(fold (m.f "a") 0 [])', typed('string', 'integer')],
    ['of the wrong type, later', '(filter (m.less 1) ["a"])', typed('string', 'integer')],
    ['of the wrong type, in a lambda', '(fold ((lambda (x:integer y z) x) "a") 0 [])', typed('string', 'integer')],
    [
      'of the wrong type, in a lambda, later',
      '(filter ((lambda (x y:integer) true) 1) ["a"])',
      typed('string', 'integer'),
    ],
    ['with a result of the wrong type', '(zip (m.wrong) [1] [2])', typed('integer', 'string')],
    ['with a result of the wrong type, completed', '(compose (m.one) (m.wrong 1) 1)', typed('integer', 'string')],
    ['to too many arguments', '(m.f 1 2 3)', TOO_MANY],
    ['to too many arguments, later', '(fold (m.f 1) 0 [1])', TOO_MANY],
    ['to too many arguments, in a lambda', '(fold ((lambda (x y) x) 1) 0 [1])', TOO_MANY],
    ['to too many arguments, in a native', '(fold (+ 1) 0 [1])', TOO_MANY],
    ['of a defcap', '(m.CAP)', TOO_MANY],
    ['of a defcap, as a token', '(with-capability (m.CAP) 1)', TOO_MANY],
    ['of a defpact', '(m.p 1)', TOO_MANY],
    ['of a defpact without arguments', '(m.p)', TOO_MANY],
    ['of a defpact in a map', '(map m.p [1])', TOO_MANY],
    ['of a function in a sequence', '(do (m.f 1) 1)', 'Incorrect number of arguments (1) for function m.f.{'],
    ['of three parameters in a sequence', '(do (m.three 1 2) 1)', '}. supplied; expected (3)'.replace('.', '')],
    [
      'of a native in a sequence',
      '(do (+ 1) 1)',
      'Incorrect number of arguments (1) for native function + supplied; expected (2)',
    ],
    [
      'of a lambda in a sequence',
      '(do ((lambda (x y z) x) 1) 1)',
      'Incorrect number of arguments (1) for lambda supplied; expected (3)',
    ],
    [
      'of a lambda without arguments in a sequence',
      '(do ((lambda (x) x)) 1)',
      'Incorrect number of arguments (0) for lambda supplied; expected (1)',
    ],
    [
      'as a guard',
      '(enforce-guard (create-user-guard (m.enough 1)))',
      'apply a partial closure outside of the native callsite',
    ],
  ])('a partial application is refused %s', (_, code, message) => {
    expect(resultOf(code)).toContain(`error: `)
    expect(resultOf(code)).toContain(message)
  })

  it('a partial application is refused as the manager of a capability', () => {
    const code = `(module n G (defcap G () true)
      (defun manage (a b c) a) (defcap PAY (x:integer) @managed x manage true)
      (defun pay () (install-capability (PAY 1)) (with-capability (PAY 1) 1))) (n.pay)`
    expect(resultOf(code)).toBe(`error: ${NO_VALUE}`)
  })

  it('a partial application that recurses is refused', () => {
    const code = `(interface i (defun turn (s:module{i} x)))
      (module ring G (defcap G () true) (implements i) (defun turn (s:module{i} x) (filter (s::turn s) [x])))
      (ring.turn ring 1)`
    expect(resultOf(code)).toContain('Recursion detected by the runtime in function: ring.turn')
  })

  it('the error of a partial application names its function and place', () => {
    const result = outcome(evaluatorOn(library), '(fold (m.f) 0 [1])\n (fold (m.bad) 1 [2])')
    expect(result).toMatchObject({ error: { place: { line: 1, column: 1 } } })
    expect('error' in result && result.error.within).toMatch(/^m\.bad\.\{/)
  })
})

describe('gas of a partial application', () => {
  const cost = (code: string) => {
    const gas = freeGas()
    runOn(evaluatorOn(library, gas), code)
    return gas.used
  }
  const call = (args: number) => 50 + 25 * args
  /** Gas of looking up the module. */
  const load = () => cost('m')

  it.each([
    ['a function', '(let ((g (m.f 1))) 1)', call(1)],
    ['a function without arguments', '(let ((g (m.f))) 1)', 0],
    ['a lambda', '(let ((g ((lambda (x y) x) 1))) 1)', call(1)],
    ['a lambda without arguments', '(let ((g ((lambda (x y) x)))) 1)', call(0)],
    ['a native', '(let ((g (+ 1))) 1)', 0],
    ['a native without arguments', '(let ((g (+))) 1)', 0],
    ['a form', '(let ((g (and))) 1)', call(0)],
    ['a form with an operand', '(let ((g (and true))) 1)', call(1)],
    ['a form that is completed', '(fold (and) true [true])', call(0) + 300 + call(2)],
    ['a lambda that is completed', '(filter ((lambda (x y) true) 1) [2])', call(1) + 300 + call(1)],
    ['a native that is completed', '(filter (< 1) [2])', 300 + cost0()],
  ])('the gas of a partial application is counted for %s', (_, code, milligas) => {
    expect(cost(code) - (code.includes('m.') ? load() : 0)).toBe(milligas)
  })

  it('a partially applied function that is completed costs gas for each application', () => {
    const inside = cost('(m.less 1 2)') - call(2)
    expect(cost('(filter (m.less 1) [2])')).toBe(call(1) + 300 + call(1) + inside)
    expect(cost('(zip (m.less) [1] [2])')).toBe(100 + 300 + call(2) + inside)
  })

  it('map of a call costs the call inside, and the arguments for each item', () => {
    const less = (code: string) => cost(code) - load()
    expect(less('(map (m.less 1) [2 3])')).toBe(500 + 2 * (call(1) + less('(m.less 1 2)')))
    expect(less('(map (m.less (+ 1 1)) [2 3])')).toBe(500 + 2 * (call(1) + less('(m.less (+ 1 1) 2)')))
  })

  /** A comparison of two integers of one word. */
  function cost0(): number {
    return 100 + 100 + 64
  }
})
