/** The gas of code in thousandths (milligas): the prices of the network, computed by hand from its rules. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/language/contracts/machine/environment.ts'
import { type TraceNode, TraceTree } from '../../src/language/contracts/trace/tree.ts'
import type { Value } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, Layer, outcome, runOn, tracingEvaluatorOn } from './evaluator.ts'

const MODULE = `
(interface face (defun ask:integer (n:integer)))
(module m G (defcap G () true) (implements face)
  (defschema row v:integer) (defschema pair a:integer b:string)
  (deftable rows:{row}) (deftable pairs:{pair})
  (defun none () 1)
  (defun one (a b) 1)
  (defun ask:integer (n:integer) n)
  (defun ints (a:[integer]) 1)
  (defun texts:[string] () ["x" "y"])
  (defun object-of (a:object{pair}) 1)
  (defun through (a:module{face}) (a::ask 1))
  (defcap HELD () true)
  (defcap WITH (n:integer) true)
  (defcap EVENT () @event true)
  (defcap LEFT (n:integer) @managed n left true)
  (defun left (a:integer b:integer) (- a b))
  (defcap BOTH () (compose-capability (HELD)))
  (defun asks () (require-capability (HELD)))
  (defun held () (with-capability (HELD) (asks)))
  (defun both () (with-capability (BOTH) (asks)))
  (defun event () (emit-event (EVENT)))
  (defun install () (install-capability (LEFT 5)))
  (defun managed () (install-capability (LEFT 5)) (with-capability (LEFT 2) 1))
  (defun guard () (create-user-guard (none)))
  (defun guard-with () (create-user-guard (one 1 2)))
  (defun module-guard () (create-module-guard "g"))
  (defpact steps (n:integer) (step (yield {"n": n})) (step (resume {"n" := n} n)))
  (defpact bare () (step (pact-id))))
(create-table rows) (create-table pairs) (acquire-module-admin m)
(write m.rows "k" {"v": 1}) (write m.pairs "k" {"a": 1, "b": "abc"})`

const KEY = 'a'.repeat(64)
const data = new Map<string, Value>([
  ['key', 'text'],
  ['number', '12'],
  [
    'keyset',
    new Map<string, Value>([
      ['keys', [KEY]],
      ['pred', 'keys-any'],
    ]),
  ],
])

function prepared(): Layer {
  const state = new Layer()
  runOn(evaluatorOn(state), MODULE)
  return state
}

const base = prepared()

/** Milligas of code with all that it loads. */
function wholeCost(text: string, changes: Partial<Message> = { data }): number {
  const gas = { used: 0, limit: Number.POSITIVE_INFINITY }
  runOn(evaluatorOn(new Layer(base), gas, changes), text)
  expect(tracedCost(text, changes)).toBe(gas.used)
  return gas.used
}

/** The milligas of all steps of the same code. */
function tracedCost(text: string, changes: Partial<Message>): number {
  const gas = { used: 0, limit: Number.POSITIVE_INFINITY }
  const tree = new TraceTree({ name: text, gas: () => gas.used, messageOf: String })
  runOn(tracingEvaluatorOn(new Layer(base), gas, changes, tree), text)
  tree.close()
  const sum = ({ gasOwn, children }: TraceNode): number => children.reduce((all, each) => all + sum(each), gasOwn)
  return sum(tree.root)
}

const LOADING = wholeCost('m')

/** Milligas of code without those of looking up the module `m`. */
function cost(text: string, changes: Partial<Message> = { data }): number {
  return wholeCost(text, changes) - (/\bm\b/.test(text) ? LOADING : 0)
}

/** Milligas of code with admin rights on `m`, without those of acquiring them. */
function costAsAdmin(text: string): number {
  return cost(`(acquire-module-admin m) ${text}`) - cost('(acquire-module-admin m)')
}

/** A call of a function or lambda, or of a capability. */
const call = (args: number) => 50 + 25 * args
/** A text within a value: tags of the value and the literal, four bytes of length, the characters. */
const text = (length: number) => 2 + 2 + 4 + length
/** An integer of a word within a value. */
const INTEGER = 2 + 2 + 8
/** A field of an object: its name and its value. */
const field = (name: number, value: number) => 1 + 4 + name + value
const ROW = 5 + field(1, INTEGER)
const PAIR = 5 + field(1, INTEGER) + field(1, text(3))

type Case = readonly [code: string, milligas: number]

describe('prices', () => {
  it.each<Case>([
    // Measured on the public network.
    ['(fold + 0 [1 2 3 4 5])', 1750],
    // The native and an operation on integers of up to 664 bits.
    ['(+ 1 2)', 100 + 30],
    ['(- 1 2)', 100 + 30],
    ['(+ 1.5 2)', 100 + 30],
    // The larger operand has 3, 4 and 8 bits: 26 and three twentieths of them.
    ['(* 2 7)', 100 + 26],
    ['(* 2 15)', 100 + 26],
    ['(/ 255 2)', 100 + 26 + 1],
    // 1.5 is 15 tenths.
    ['(* 1.5 100.25)', 100 + 26 + Math.floor((3 * 14) / 20)],
    // Operands are compared with their sign, so 0 is the larger one.
    [`(+ -${'9'.repeat(300)} 0)`, 100 + 30],
    // 997 bits: by the square.
    [`(+ ${'9'.repeat(300)} 0)`, 100 + Math.floor(997 ** 2 / 6400)],
    [`(* ${'9'.repeat(300)} 0)`, 100 + Math.floor(997 ** 2 / 6400)],
    ['(- 1)', 100],
    ['(mod 13 8)', 100],
    ['(abs -1)', 100],
    ['(round 1.55 1)', 100],
    ['(& 1 2)', 250],
    ['(~ 1)', 250],
    // An exponent of 7 bits: 12 multiplications of numbers of 2^3 bits on average.
    ['(^ 1 100)', 100 + 12 * 8 ** 2],
    ['(^ 2.0 3.0)', 100 + 2 * (2 * 2) ** 2],
    ['(^ 5 0)', 100],
    ['(shift 255 8)', 100 + 6 * 6 ** 2 + 1 + 26],
    ['(shift 255 -1)', 100],
    ['(sqrt 10)', 1000 + 4 * 2 * 1],
    ['(sqrt 10.0)', 1000 + 7 * 2 * 1],
    ['(ln 10)', 1000 + 4 * 2 * 1],
    ['(log 2 256)', 1000 + 2 * 1 * 0 + 9 * 5 * 1],
    ['(exp 1)', 2000],
    ['(exp 1.0)', 2000 + 6 * 89],
  ])('the gas of arithmetic is that of the network: %s', (code, milligas) => expect(cost(code)).toBe(milligas))

  it.each<Case>([
    // Integers of a machine word count as 64 bits.
    ['(< 1 2)', 100 + 100 + 64],
    ['(= 9223372036854775807 1)', 100 + 100 + 64],
    ['(= 9223372036854775808 1)', 100 + 100 + 64],
    ['(= 18446744073709551616 1)', 100 + 100 + 65],
    // Decimals cost a division, too.
    ['(= 1.5 2.5)', 100 + (26 + 0) + 100 + 64],
    // Texts: the length of the first one.
    ['(= "abc" "a")', 100 + 100 + 3],
    ['(= "a" "abc")', 100 + 100 + 1],
    ['(= "\u{1f600}" "a")', 100 + 100 + 1],
    ['(< true false)', 100],
    ['(= 1 "a")', 100],
    ['(= (time "2020-01-01T00:00:00Z") (time "2020-01-01T00:00:00Z"))', 100 + 2 * 500],
    // Lists of one length: each item, and those up to the first difference.
    ['(= [1 2] [1 2])', 400 + 100 + 200 + 2 * 164],
    ['(= [1 2] [2 2])', 400 + 100 + 200 + 164],
    ['(= [1] [1 2])', 300 + 100],
    // Objects compare the values in the order of the names.
    ['(= {"b": 1, "a": "x"} {"a": "y", "b": 1})', 400 + 100 + 200 + 101],
    ['(= {"b": 1, "a": "x"} {"a": "x", "b": 1})', 400 + 100 + 200 + 101 + 164],
    ['(= {"a": 1} {"b": 1})', 200 + 100 + 100],
    ['(= (m.guard-with) (m.guard-with))', 100 + 200 + 2 * 164],
    ['(= (create-capability-guard (m.HELD)) (create-capability-guard (m.HELD)))', 100 + 2 * (100 + call(0))],
    ['(= (m.WITH 1) (m.WITH 1))', 100 + 2 * call(1) + 100 + 164],
    ['(= m m)', 100],
  ])('the gas of comparisons is that of the network: %s', (code, milligas) => expect(cost(code)).toBe(milligas))

  it.each<Case>([
    ['(+ "ab" "c")', 100 + 300],
    ['(+ "\u{1f600}" "c")', 100 + 200],
    ['(length "abcdefgh")', 100 + 1],
    [`(length "${'a'.repeat(200)}")`, 100 + 3],
    ['(take 2 "abcd")', 100 + 200],
    ['(take 9 "abcd")', 100 + 400],
    ['(take -3 "ab")', 100 + 300],
    ['(drop 1 "abcd")', 100],
    ['(reverse "abc")', 100 + 300],
    ['(concat ["ab" "c"])', 200 + 100 + 300 + 2 * 40],
    ['(concat [])', 100],
    ['(str-to-list "abc")', 250 + 300 + 1],
    ['(str-to-int 16 "ff")', 100 + 5 * 2 + 1],
    ['(int-to-str 16 65535)', 100 + 400],
    ['(int-to-str 10 0)', 100 + 100],
    // Two bytes are 2 2/3 characters, rounded down.
    ['(int-to-str 64 43981)', 100 + 200],
    ['(is-charset CHARSET_ASCII "abc")', 500 + 16],
    ['(base64-encode "abc")', 250 + 16],
    ['(base64-decode "YWJj")', 250 + 21],
    ['(show 1)', 100 + 100 * INTEGER],
    ['(show "ab")', 100 + 100 * text(2)],
    ['(show true)', 100 + 100 * 5],
    ['(show 1.5)', 100 + 100 * (4 + 1 + 1 + 8)],
    ['(show [1 2])', 200 + 100 + 100 * (2 + 5 + 2 * INTEGER)],
    ['(show {"ab": 1})', 100 + 100 + 100 * (2 + 5 + field(2, INTEGER))],
    ['(show (time "2020-01-01T00:00:00Z"))', 500 + 100 + 100 * 10],
    // The template, and the texts that it is filled with.
    ['(format "{}-{}" ["ab" "c"])', 200 + 100 + 100 * (1 + 3)],
    ['(format "{}" [1])', 100 + 100 + 100 * INTEGER + 100 * 1],
    ['(format "none" [1])', 100 + 100 + 5 * 4 + 1],
    ['(hash "abc")', 100 + 300],
    ['(hash "\u{e4}")', 100 + 200],
    ['(hash {"foo": 1})', 100 + 100 + 100 * (2 + 5 + field(3, INTEGER))],
    ['(hash-keccak256 ["YWJj"])', 100 + 1000 + 146 + 2120],
    ['(hash-keccak256 ["" ""])', 200 + 1000 + 2 * 2120],
    ['(time "2020-01-01T00:00:00Z")', 500],
    ['(parse-time "%F" "2020-01-01")', 500 + 1 + 100 + 1],
    ['(format-time "%F" (time "2020-01-01T00:00:00Z"))', 500 + 500 + 2 * 20 + 1],
    ['(add-time (time "2020-01-01T00:00:00Z") 1)', 500 + 250],
    // 86,400 has 17 bits.
    ['(days 1)', 250 + 26 + 2],
    ['(minutes 1.5)', 250 + 26],
  ])('the gas of texts and times is that of the network: %s', (code, milligas) => expect(cost(code)).toBe(milligas))

  it.each<Case>([
    ['[1 2 3]', 300],
    ['{"a": 1, "b": 2}', 200],
    ['(+ [1] [2 3])', 300 + 100 + 300],
    ['(+ {"a": 1} {"a": 2})', 200 + 100 + 200],
    ['(length [1 2])', 200 + 100],
    ['(take 1 [1 2])', 200 + 100 + 100],
    ['(take -3 [1 2])', 200 + 100 + 300],
    ['(take ["a" "b"] {"a": 1})', 300 + 100 + 200],
    ['(drop ["a"] {"a": 1})', 200 + 100],
    ['(reverse [1 2])', 200 + 100 + 200],
    ['(at 0 [1])', 100 + 100],
    // Two fields take two bits, times the length of the name.
    ['(at "bar" {"foo": 1, "bar": 2})', 200 + 100 + 2 * 3],
    ['(contains "bc" "abcd")', 100 + 100 + 2 + 4],
    ['(contains "a" {"a": 1, "b": 2})', 200 + 100 + 100 + 2],
    ['(contains "b" ["abc" "b" "b"])', 300 + 100 + 2 * 101],
    ['(remove "bar" {"foo": 1, "bar": 2})', 200 + 100 + 2 * 3 * 10],
    ['(make-list 5 true)', 100 + 5 * 5],
    ['(enumerate 0 10 2)', 100 + 6 * 8],
    ['(enumerate 3 3)', 100 + 8],
    ['(enumerate 1 0 0)', 100],
    // The largest item times the square of the number of items, by 1000.
    ['(sort [3 1 2])', 300 + 100],
    [`(sort ["${'a'.repeat(500)}" "b"])`, 200 + 100 + Math.floor((4 * text(500)) / 1000)],
    ['(sort ["a"] [{"a": 2} {"a": 1}])', 100 + 200 + 200 + 100],
    // Each value against those after it: 3 against 5, the first 1 against 3, 2 against 1.
    ['(distinct [3 3 1 1 2 2])', 600 + 100 + (5 + 3 + 1) * 164],
    ['(distinct [true true false])', 300 + 100],
  ])('the gas of lists and objects is that of the network: %s', (code, milligas) => expect(cost(code)).toBe(milligas))

  it.each<Case>([
    ['(m.none)', 0],
    ['(m.one 1 2)', call(2)],
    ['((lambda () 1))', 0],
    ['((lambda (a b) a) 1 2)', call(2)],
    ['(m.through m)', call(1) + call(1)],
    // The network adds a lambda around a call in `map`, but not around a name or in other natives.
    ['(map (+ 1) [1 2])', 200 + 100 + 2 * (100 + call(1) + 130)],
    ['(map (abs) [1 2])', 200 + 100 + 2 * (100 + call(1) + 100)],
    ['(map abs [1 2])', 200 + 100 + 2 * (100 + 100)],
    ['(filter (< 1) [1 2])', 200 + 100 + 2 * (100 + 264)],
    ['(zip (+) [1 2] [1])', 300 + 100 + 100 + 130],
    ['(constantly 1 2)', call(2)],
    ['(filter (constantly true) [1 2])', 200 + call(1) + 100 + 2 * (100 + call(1))],
    ['(compose (+ 1) (+ 2) 3)', 100 + 2 * 130],
    ['(identity 1)', 100],
    ['(and? (< 1) (> 9) 5)', 100 + 2 * 264],
    ['(or? (< 1) (> 9) 5)', 100 + 264],
    ['(where "a" (< 1) {"a": 2})', 100 + 100 + 1 + 264],
    ['(bind {"a": 1, "bc": 2} {"a" := a, "bc" := b} a)', 200 + 100 + call(1) + (100 + 2) + (100 + 4)],
    ['(bind {"a": 1} (lambda (o) 1))', 100 + 100 + call(1)],
    ['(let ((a 1)) (if true a 2))', 0],
    ['(do 1 2)', 0],
    ['(and true (or false true))', 0],
    ['(enforce true "")', 0],
    ['(cond (false 1) ((= 1 1) 2) 3)', 100 + 264],
    ['(enforce-one "" [false true])', 100],
    ['(try 1 2)', 100],
    ['(try 1 (enforce false ""))', 100],
    ['(m.ints [1 2 3])', 300 + call(1) + 3 * 25],
    ['(m.texts)', 200 + 2 * 25],
    ['(m.object-of {"a": 1, "b": "x"})', 200 + call(1) + 2 * 25],
    ['((lambda (a:[integer]) 1) [1 2 3])', 300 + call(1)],
    ['(let ((a:[integer] [1 2 3])) 1)', 300 + 3 * 25],
  ])('the gas of functions and forms is that of the network: %s', (code, milligas) => expect(cost(code)).toBe(milligas))

  it.each<Case>([
    ['(m.HELD)', call(0)],
    // The capability in scope, when another one is required.
    ['(m.held)', call(0) + call(0) + 500 + 100],
    // The composed one counts, too.
    ['(m.both)', call(0) + call(0) + 500 + call(0) + 500 + 2 * 100],
    ['(m.event)', call(0) + 1000],
    ['(m.install)', call(1) + 500],
    // The manager is a function of two arguments; it subtracts.
    ['(m.managed)', call(1) + 500 + call(1) + call(2) + 130],
    ['(acquire-module-admin m)', 20_000],
    ['(m.guard)', 0],
    ['(enforce-guard (m.guard))', 2000],
    ['(enforce-guard (m.guard-with))', 2000 + call(2)],
    ['(create-capability-guard (m.WITH 1))', call(1) + 100],
    ['(m.module-guard)', 200],
  ])('the gas of capabilities and guards is that of the network: %s', (code, milligas) =>
    expect(cost(code)).toBe(milligas),
  )

  it.each<Case>([
    ['(tx-hash)', 100],
    ['(chain-data)', 500],
    ['(read-msg)', 200],
    // Three fields take two bits, times the length of the name.
    ['(read-msg "key")', 200 + 2 * 3],
    ['(read-string "key")', 200 + 2 * 3],
    ['(read-integer "number")', 200 + 2 * 6 + 20 * 2 + 1],
    ['(read-decimal "number")', 200 + 2 * 6 + 20 * 2 + 1],
    ['(read-keyset "keyset")', 200 + 2 * 6 + 2 * (2 * 4) + 5 * 8 + 1],
    ['(create-principal (m.guard-with))', 100 + 100 * (1 + (1 + 4 + 3 + (1 + 4 + 1 + 2)) + (5 + 2 * INTEGER)) + 1000],
    ['(is-principal "k:")', 100 + 5 * 2 + 1],
    ['(typeof-principal "k:")', 100 + 5 * 2 + 1],
  ])('the gas of messages and principals is that of the network: %s', (code, milligas) =>
    expect(cost(code)).toBe(milligas),
  )

  it.each<Case>([
    ['(read m.rows "k")', 2500 + 100 * ROW],
    ['(read m.pairs "k" ["a"])', 100 + 2500 + 100 * PAIR],
    ['(with-read m.rows "k" {"v" := v} v)', 2500 + 100 * ROW + call(1) + 100 + 1],
    ['(with-default-read m.rows "k" {"v": 0} {"v" := v} v)', 100 + 2500 + 100 * ROW + call(1) + 100 + 1],
    ['(with-default-read m.rows "none" {"v": 0} {"v" := v} v)', 100 + 2500 + call(1) + 100 + 1],
    ['(write m.rows "l" {"v": 2})', 100 + 25_000 + 25 + 200 * ROW],
    ['(insert m.pairs "l" {"a": 1, "b": "abc"})', 200 + 25_000 + 50 + 200 * PAIR],
    // An update checks the names first, then the types of what it has.
    ['(update m.pairs "k" {"a": 2})', 100 + 25_000 + 25 + 25 + 200 * (5 + field(1, INTEGER))],
    ['(keys m.rows)', 40_000_000],
    ['(select m.rows (constantly true))', call(1) + 40_000_000 + call(1)],
    ['(fold-db m.rows (lambda (k o) true) (lambda (k o) o))', 40_000_000 + 2 * call(2)],
  ])('the gas of rows is that of the network: %s', (code, milligas) => expect(costAsAdmin(code)).toBe(milligas))

  /** A keyset of one key: the set, the key, and one of the predicates of the language. */
  const KEYSET = 1 + (5 + 4 + 64) + 2
  const READ = 200 + 2 * 6 + 2 * (2 * 4) + 5 * 8 + 1
  const DEFINED = 5000 + 200 * KEYSET
  const NAMESPACE = 1 + (4 + 3) + 2 * (2 + KEYSET)

  it.each<Case>([
    ['(define-keyset "keyset")', DEFINED + READ - 200],
    ['(define-keyset "ks" (read-keyset "keyset"))', DEFINED + READ],
    ['(define-keyset "ks" (read-keyset "keyset")) (keyset-ref-guard "ks")', DEFINED + READ + 2000 + 5 * 2 + 1],
    [
      '(define-namespace "abc" (read-keyset "keyset") (read-keyset "keyset"))',
      25_000 + 2 * READ + 100 * 3 + 200 * NAMESPACE,
    ],
    [
      '(define-namespace "abc" (read-keyset "keyset") (read-keyset "keyset")) (namespace "abc")',
      25_000 + 2 * READ + 100 * 3 + 200 * NAMESPACE + 100 + 100 * 3 + 100 * NAMESPACE,
    ],
  ])('the gas of keysets and namespaces is that of the network: %s', (code, milligas) => {
    expect(cost(code, { data, signers: new Map([[KEY, []]]) })).toBe(milligas)
  })

  it('the gas of a pact includes the state after each step', () => {
    const name = (length: number) => 1 + 4 + length + (1 + 4 + 1 + 2)
    // Steps, no yield, the step, the id, the call, whether there is a rollback, nested pacts.
    const state = (yielded: number, id: number, args: number) =>
      1 + 5 + (2 + yielded) + 5 + (4 + id) + (1 + name(args === 0 ? 4 : 5) + 5 + args) + 1 + 5
    const hash = 'h'.repeat(43)
    const bare = cost('(m.bare)', { data, hash })
    expect(bare).toBe(call(0) + 100 + 200 * state(0, 43, 0))
    const yielded = 1 + (5 + field(1, INTEGER)) + 2 + 2
    expect(cost('(m.steps 1)', { data, hash })).toBe(call(1) + 100 + 100 + 200 * state(yielded, 43, INTEGER))
  })
})

describe('the gas of code', () => {
  const pieces = [
    '(+ 1 2)',
    '(m.one 1 2)',
    '(show [1 "a"])',
    '(m.held)',
    '(try 1 (enforce false ""))',
    '(hash {"a": 1})',
  ]

  it('the gas of code is the sum of its parts', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 6 }), (codes) => {
        const sum = codes.reduce((total, code) => total + cost(code), 0)
        expect(cost(codes.join(' '))).toBe(sum)
        expect(cost(`[${codes.join(' ')}]`)).toBe(sum + 100 * codes.length)
      }),
    )
  })

  it.each(pieces)('the gas of code is the smallest limit that suffices: %s', (code) => {
    const needed = wholeCost(code)
    const within = (limit: number) => outcome(evaluatorOn(new Layer(base), { used: 0, limit }, { data }), code)
    expect(within(needed)).toHaveProperty('value')
    expect(within(needed - 1)).toMatchObject({
      error: { message: expect.stringMatching(/^Gas limit "\d+" exceeded: \d+$/) },
    })
  })

  it('the gas error names the limit and the gas used, both rounded up', () => {
    const result = outcome(evaluatorOn(new Layer(base), { used: 0, limit: 1500 }), '(hash "abcdefghijklmnopqrst")')
    expect(result).toMatchObject({ error: { message: 'Gas limit "2" exceeded: 3' } })
  })

  it('the gas limit refuses a value that it cannot pay for before the value is measured', () => {
    const text = 'a'.repeat(1000)
    const code = `(sort ["${text}"])`
    const size = 2 + 2 + 4 + 1000
    const within = (limit: number) => outcome(evaluatorOn(new Layer(), { used: 0, limit }), code)
    expect(cost(code)).toBe(100 + 100 + 1)
    expect(within(200 + 5 * size)).toHaveProperty('value')
    expect(within(200 + 5 * size - 1)).toMatchObject({ error: { message: expect.stringContaining('Gas limit') } })
  })

  it('the gas of code does not include work, which has the same limit and a little more', () => {
    const run = (count: number, limit: number) => {
      const gas = { used: 0, limit, work: 0 }
      const result = outcome(evaluatorOn(new Layer(), gas), `(do ${'1 '.repeat(count)})`)
      return { gas, result }
    }
    const few = run(9000, 0)
    expect(few.gas).toMatchObject({ used: 0, work: 0 })
    expect(few.result).toHaveProperty('value')
    const [more, most] = [run(15_000, 1e9), run(20_000, 1e9)]
    expect(most.gas.work - more.gas.work).toBe(5000 * 10)
    expect(most.gas.used).toBe(0)
    expect(run(100_000, 0).result).toHaveProperty('value')
    expect(run(115_000, 0).result).toMatchObject({ error: { message: 'Gas limit "0" exceeded: 1001' } })
  })
})
