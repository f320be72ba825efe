/** Hostile programs end soon, by gas or by a bound, and never by a limit of JavaScript. */
import { afterAll, describe, expect, it } from 'vitest'
import type { ContractError } from '../../src/language/contracts/errors.ts'
import type { GasMeter } from '../../src/language/contracts/machine/environment.ts'
import { isValue } from '../../src/language/contracts/machine/term.ts'
import { typeName } from '../../src/language/contracts/machine/types.ts'
import { equalValues } from '../../src/language/contracts/values/compare.ts'
import { showValue } from '../../src/language/contracts/values/print.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'
import { valueToJson } from '../../src/language/contracts/values/wire.ts'
import { rotating } from '../rotation.ts'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'
import { canCount, WorkCount } from './work-count.ts'

/** In thousandths of gas. */
const LIMIT = 150_000_000
/** Blocks of the compiled files that a program may run: the longest of the others runs 80 million. */
const MOST_BLOCKS = 200_000_000
/** Programs that run more, with their most: this one runs 460 million. */
const MORE_BLOCKS: Readonly<Record<string, number>> = { '(m.f60)': 1_000_000_000 }
const work = canCount ? new WorkCount() : null
afterAll(() => work?.stop())

/** More steps within each other than the evaluator takes. */
const TOO_DEEP = 600

/**
 * Runs a program with the gas of a full block. Returns its error, or null if it gave a value, which must be
 * traversable.
 */
function attack(text: string, before = ''): ContractError | null {
  const state = new Layer()
  if (before !== '') {
    const prepared = outcome(evaluatorOn(state), before)
    if ('error' in prepared) throw prepared.error
  }
  const gas: GasMeter = { used: 0, limit: LIMIT }
  work?.take()
  const result = outcome(evaluatorOn(state, gas), text)
  if ('value' in result && isValue(result.value)) walk(result.value)
  expect(work?.take() ?? 0, 'blocks').toBeLessThan(MORE_BLOCKS[text] ?? MOST_BLOCKS)
  return 'error' in result ? result.error : null
}

function walk(value: Value): void {
  showValue(value)
  typeName(value)
  JSON.parse(valueToJson(value))
  expect(equalValues(value, value)).toBe(true)
}

function nested(levels: number, wrap: (inner: string, level: number) => string, innermost = '1'): string {
  let text = innermost
  for (let level = 0; level < levels; level++) text = wrap(text, level)
  return text
}

/** A chain of functions: each wraps a call of the previous one. */
function chain(length: number, wrap: (inner: string, index: number) => string, more = ''): string {
  const functions = Array.from({ length }, (_, i) => `(defun f${i + 1} () ${wrap(`(f${i})`, i + 1)})`)
  return `(module m G (defcap G () true) (defschema s a:integer) (deftable t:{s})
    (defun base () [1]) (defun f0 () 1) ${more} ${functions.join('\n')})
    (create-table t) (acquire-module-admin m) (write t "a" {"a": 1})`
}

const many = '(enumerate 1 400000)'
/** Doubles the calls at each of `levels` levels: 2^levels in all. */
const doubled = (levels: number, step: (name: string) => string) =>
  `(let* (${Array.from({ length: levels }, (_, i) => `(g${i + 1} ${step(`g${i}`)})`).join(' ')}) (g${levels} 1))`

const byGas: readonly (readonly [what: string, text: string, before?: string])[] = [
  ['a fold over a long list', `(fold (lambda (a x) (+ a (* x x))) 0 ${many})`],
  ['folds in folds', `(fold (lambda (a x) (fold (lambda (b y) (+ b y)) a ${many})) 0 ${many})`],
  [
    'maps in maps',
    '(map (lambda (a) (map (lambda (b) (map (lambda (c) 1) (enumerate 1 999))) (enumerate 1 999))) (enumerate 1 999))',
  ],
  [
    'lambdas that call lambdas twice',
    `(let ((g0 (lambda (x) x))) ${doubled(50, (g) => `(lambda (x) (${g} (${g} x)))`)})`,
  ],
  [
    'compositions of compositions',
    `(let ((g0 (lambda (x) x))) ${doubled(50, (g) => `(lambda (x) (compose ${g} ${g} x))`)})`,
  ],
  ['functions that call functions twice', '(m.f60)', chain(60, (f) => `(let ((a ${f})) ${f})`)],
  [
    'steps that do nothing',
    `(map (lambda (y) (map (lambda (x) (if true (if true (if true x x) x) x)) (enumerate 1 1000))) (enumerate 1 1000))`,
  ],
  [
    'a variable after many others',
    `(let (${Array.from({ length: 20_000 }, (_, i) => `(v${i} ${i})`).join(' ')}) (map (lambda (x) v0) (enumerate 1 100000)))`,
  ],
  ['a string that doubles', `(fold (lambda (a x) (+ a a)) "a megabyte" (enumerate 1 100))`],
  ['a list that doubles', '(fold (lambda (a x) (+ a a)) [1 2 3] (enumerate 1 100))'],
  ['concat of copies', `(concat (make-list 1000 (concat (make-list 1000 "0123456789"))))`],
  ['format of copies', `(fold (lambda (a x) (format "{}{}" [a a])) "0123456789" (enumerate 1 100))`],
  ['squares of squares', '(fold (lambda (a x) (* a a)) 12345678901234567890 (enumerate 1 100))'],
  ['large products, often', '(let ((n (^ 7 100000))) (map (lambda (x) (* n n)) (enumerate 1 100000)))'],
  ['large sums, often', '(let ((n (^ 7 100000))) (map (lambda (x) (+ n x)) (enumerate 1 100000)))'],
  ['large decimals, often', '(let ((n (/ 1.0 3.0))) (map (lambda (x) (/ n 7.0)) (enumerate 1 1000000)))'],
  ['shifts, often', '(map (lambda (x) (shift 1 400000)) (enumerate 1 100000))'],
  ['sorts, often', `(let ((l (enumerate 1 20000))) (map (lambda (x) (sort l)) (enumerate 1 10000)))`],
  ['distinct, often', `(let ((l (enumerate 1 20000))) (map (lambda (x) (distinct l)) (enumerate 1 10000)))`],
  ['reverse, often', `(let ((l (enumerate 1 20000))) (map (lambda (x) (reverse l)) (enumerate 1 10000)))`],
  ['contains, often', `(let ((l (enumerate 1 20000))) (map (lambda (x) (contains -1 l)) (enumerate 1 10000)))`],
  [
    'equality of large lists, often',
    `(let ((l (enumerate 1 20000)) (k (enumerate 1 20000))) (map (lambda (x) (= l k)) (enumerate 1 10000)))`,
  ],
  ['hashes of a large list', '(let ((l (enumerate 1 20000))) (map (lambda (x) (hash l)) (enumerate 1 10000)))'],
  ['failures that are caught, often', `(map (lambda (x) (try 1 (error "no"))) ${many})`],
  [
    'a declared type of a large list',
    '(let ((l (enumerate 1 100000))) (map (lambda (x) (m.typed l)) (enumerate 1 100000)))',
    chain(0, (f) => f, '(defun typed (l:[integer]) 1)'),
  ],
  [
    'a capability with a large argument',
    '(use m) (let ((l (enumerate 1 100000)) (k (enumerate 1 100000))) (map (lambda (x) (try 1 (ask l k))) (enumerate 1 10000)))',
    chain(0, (f) => f, '(defcap C (l) true) (defun ask (l k) (with-capability (C l) (require-capability (C k))))'),
  ],
  [
    'a large capability that is refused',
    '(use m) (let ((l (enumerate 1 100000))) (map (lambda (x) (try 1 (ask l))) (enumerate 1 10000)))',
    chain(0, (f) => f, '(defcap C (l) true) (defun ask (l) (require-capability (C l)))'),
  ],
  [
    'large events',
    '(use m) (let ((l (enumerate 1 100000))) (map tell (make-list 1000 l)))',
    chain(0, (f) => f, '(defcap C (l) @event true) (defun tell (l) (emit-event (C l)))'),
  ],
  [
    'writes',
    '(use m) (map fill (enumerate 1 100000))',
    chain(0, (f) => f, '(defun fill (n) (write t (int-to-str 10 n) {"a": n}))'),
  ],
  ['reads', '(use m) (map look (enumerate 1 100000))', chain(0, (f) => f, '(defun look (n) (at "a" (read t "a")))')],
  [
    'installed capabilities and caught failures',
    '(use m) (map put (enumerate 1 20000))',
    chain(
      0,
      (f) => f,
      '(defun less (a b) a) (defcap C (n a) @managed a less true) (defun put (n) (install-capability (C n 1)))',
    ),
  ],
  [
    'rows that are written again and again',
    `(use m) (acquire-module-admin m) (map (lambda (x) (write t "a" {"a": x})) ${many})`,
    chain(0, (f) => f),
  ],
  [
    'tests of which many fail',
    `(map (lambda (x) (enforce-one "n" [(enforce false "a") (enforce false "b") true])) ${many})`,
  ],
  [
    'a capability that is found among many others',
    '(use m) (acquire-module-admin m) (with-capability (ALL) (map ask (enumerate 1 100000)))',
    chain(
      0,
      (f) => f,
      `(defcap MANY (x) true) (defcap LAST (x) true) (defun ask (x) (require-capability (LAST 1)))
       (defcap ALL () (map (lambda (x) (compose-capability (MANY x))) (enumerate 1 1000)) (compose-capability (LAST 1)))`,
    ),
  ],
  ['objects', `(map (lambda (x) {"a": x, "b": {"c": x}}) ${many})`],
  ['lists in lists', `(map (lambda (x) [[x x] [x x] [x x]]) ${many})`],
]

const byBound: readonly (readonly [what: string, message: RegExp, text: string, before?: string])[] = [
  ['brackets', /^Nested more than/, nested(100_000, (inner) => `(${inner}`)],
  ['lists', /^Nested more than/, nested(10_000, (inner) => `[${inner}]`)],
  ['lambdas in the text', /^Nested more than/, nested(1000, (inner) => `(lambda (x) ${inner})`)],
  [
    'types',
    /^Nested more than|^Expected|^Unexpected/,
    `(lambda (x:${nested(10_000, (inner) => `[${inner}]`, 'integer')}) 1)`,
  ],
  ['lists that a fold nests', /nested too deeply/, `(fold (lambda (a x) [a]) [] ${many})`],
  ['objects that a fold nests', /nested too deeply/, `(fold (lambda (a x) {"a": a}) {} ${many})`],
  ['lists that map nests', /nested too deeply/, `(fold (lambda (a x) (map (lambda (y) a) [1])) [] ${many})`],
  ['lists that make-list nests', /nested too deeply/, `(fold (lambda (a x) (make-list 1 a)) [] ${many})`],
  [
    'guards in guards',
    /nested too deeply/,
    `(use m) (fold (lambda (a x) (wrap a)) (wrap 1) ${many})`,
    chain(0, (f) => f, '(defun ok (a) true) (defun wrap (a) (create-user-guard (ok a)))'),
  ],
  [
    'tokens in tokens',
    /nested too deeply/,
    `(use m) (fold (lambda (a x) (C a)) (C 1) ${many})`,
    chain(0, (f) => f, '(defcap C (a) true)'),
  ],
  ['shared parts, ten by ten', /too large/, '(fold (lambda (a x) [a a a a a a a a a a]) [1] (enumerate 1 200))'],
  ['shared parts in objects', /too large/, '(fold (lambda (a x) {"a": a, "b": a, "c": a}) {} (enumerate 1 200))'],
  [
    'shared parts in zip',
    /too large/,
    '(fold (lambda (a x) (zip (lambda (y z) a) [1 2 3] [1 2 3])) [1] (enumerate 1 200))',
  ],
  ['make-list of a billion', /List too long|Gas limit/, '(make-list 1000000000 0)'],
  ['enumerate to a billion', /List too long|Gas limit/, '(enumerate 1 1000000000)'],
  ['a power', /^Gas limit/, '(^ 10 1000000000)'],
  ['a power of a decimal', /^Gas limit/, '(^ 10.0 1000000000.0)'],
  ['a shift', /^Gas limit/, '(shift 1 1000000000)'],
  ['functions that call functions', /nested too deeply/, `(m.f${TOO_DEEP})`, chain(TOO_DEEP, (f) => f)],
  [
    'maps that call functions',
    /nested too deeply/,
    `(m.f${TOO_DEEP})`,
    chain(TOO_DEEP, (f) => `(map (lambda (x) ${f}) [1])`),
  ],
  [
    'zips that call functions',
    /nested too deeply/,
    `(m.f${TOO_DEEP})`,
    chain(TOO_DEEP, (f) => `(zip (lambda (x y) ${f}) [1] [1])`),
  ],
  [
    'maps, lets and reads that call functions',
    /nested too deeply/,
    `(m.f${TOO_DEEP})`,
    chain(TOO_DEEP, (f) => `(map (lambda (x) (let ((q 1)) (with-read t "a" {"a" := a} (try 1 ${f})))) [1])`),
  ],
  [
    'capabilities that are composed of capabilities',
    /nested too deeply/,
    '(m.f1)',
    chain(
      1,
      () => `(with-capability (C${TOO_DEEP}) 1)`,
      `(defcap C0 () true) ${Array.from({ length: TOO_DEEP }, (_, i) => `(defcap C${i + 1} () (compose-capability (C${i})))`).join(' ')}`,
    ),
  ],
  [
    'guards that call functions',
    /nested too deeply/,
    `(m.f${TOO_DEEP})`,
    chain(
      TOO_DEEP,
      (_, i) => `(enforce-guard (create-user-guard (g${i})))`,
      Array.from({ length: TOO_DEEP }, (_, i) => `(defun g${i + 1} () (f${i}))`).join(' '),
    ),
  ],
  [
    'queries that call functions',
    /nested too deeply|Gas limit/,
    `(m.f${TOO_DEEP})`,
    chain(TOO_DEEP, (f) => `(select t (lambda (x) (= 1 ${f})))`),
  ],
  [
    'constants of constants',
    /nested too deeply/,
    `(module n G (defcap G () true) ${Array.from({ length: TOO_DEEP }, (_, i) => `(defconst C${i} C${i + 1})`).join(' ')} (defconst C${TOO_DEEP} 1))`,
  ],
  [
    'a function that calls itself through a reference',
    /Recursion detected/,
    '(n.f n)',
    '(interface i (defun f (r:module{i}))) (module n G (defcap G () true) (implements i) (defun f (r:module{i}) (r::f r)))',
  ],
  [
    'functions that call each other',
    /Recursive cycle/,
    '(module n G (defcap G () true) (defun a () (b)) (defun b () (a)))',
  ],
]

describe('hostile code', () => {
  it.each(rotating(byGas, byGas.length / 6).map(([what, text, before = '']) => ({ what, text, before })))(
    'hostile code ends by gas: $what',
    ({ text, before }) => {
      expect(attack(text, before)?.message).toMatch(/^Gas limit|too large|too long/)
    },
  )

  it.each(byBound.map(([what, message, text, before = '']) => ({ what, message, text, before })))(
    'hostile code ends by a bound: $what',
    ({ message, text, before }) => {
      expect(attack(text, before)?.message).toMatch(message)
    },
  )

  it('hostile code gets the type of a large list many times within the work of its gas', () => {
    const often = '(let ((l (enumerate 1 20000))) (map (lambda (x) (typeof l)) (enumerate 1 10000)))'
    expect(attack(often)).toBeNull()
  })

  it('a module of thousands of functions that call each other in a chain loads', () => {
    const length = 2500
    const functions = Array.from({ length }, (_, i) => `(defun f${i} () (f${i + 1}))`)
    expect(attack(`(module m G (defcap G () true) ${functions.join('')} (defun f${length} () 1))`)).toBeNull()
  })

  it('the reader refuses texts that are too long', () => {
    const functions = Array.from({ length: 30_000 }, (_, i) => `(defun function-number-${i} () ${i})`)
    expect(attack(`(module m G (defcap G () true) ${functions.join('')})`)?.message).toMatch(/^Code of more than/)
  })

  const longest: readonly (readonly [what: string, text: string])[] = [
    ['numbers', '1 '.repeat(190_000)],
    ['digits', `${'7'.repeat(9999)} `.repeat(39)],
    ['calls', '()'.repeat(190_000)],
    ['brackets', ('['.repeat(240) + ']'.repeat(240)).repeat(800)],
    ['escapes', `"${'\\n'.repeat(190_000)}"`],
    ['comments', ';\n'.repeat(190_000)],
    ['lambdas', '((lambda (x) x)0)'.repeat(20_000)],
    ['fields', `{${Array.from({ length: 30_000 }, (_, i) => `"${i}":1`).join(',')}}`],
    ['imports', `${chain(100, () => '1')}${'(use m)'.repeat(50_000)}`],
  ]
  it.each(rotating(longest, longest.length / 5))(
    'the longest texts run within the work of their gas: %s',
    (_, text) => {
      expect(attack(text)?.message ?? '').toBe('')
    },
  )

  it('values up to the depth bound are accepted, even from code as deep as possible', () => {
    const deep = '(fold (lambda (a x) [a]) [] (enumerate 1 240))'
    expect(attack(deep)).toBeNull()
    const text = `(hash (format "{} {}" [(m.f40) (= (m.f40) ${deep})]))`
    expect(
      attack(
        text,
        chain(40, (f, i) => (i === 1 ? `(map (lambda (x) (hash ${deep})) [1])` : `(map (lambda (x) ${f}) [1])`)),
      ),
    ).toBeNull()
  })

  it('hostile code costs the same each time', () => {
    const used = [1, 2].map(() => {
      const gas: GasMeter = { used: 0, limit: LIMIT }
      outcome(
        evaluatorOn(new Layer(), gas),
        '(fold (lambda (a x) (+ a (length (format "{}" [x])))) 0 (enumerate 1 500))',
      )
      return gas.used
    })
    expect(used[0]).toBeGreaterThan(0)
    expect(used[0]).toBe(used[1])
  })
})
