/** The bytes that are hashed, where hashes of the network do not show them. Derived from the rules by hand. */
import { describe, expect, it } from 'vitest'
import { hexOf, type Loaded, loaded, OWN } from './encoded.ts'

const BASE = '(interface shape (defconst CORNERS 4) (defschema size w:decimal) (defun area:decimal (s:object{size})))'
const OTHER =
  '(module other G (defcap G () true) (implements shape) (defschema pair a:integer) (defun area:decimal (s:object{shape.size}) 1.0) (defun twice (x) [x x]) (defconst ONE 1))'

function load(members: string): Loaded {
  return loaded('m', [BASE, OTHER, `(module m G (defcap G () true) ${members})`])
}

/** Encoded body of the function `f` with arguments `x` and `y`. */
function body(code: string, others = ''): string {
  const { text } = load(`${others} (defun f (x y) ${code})`)
  const args = '<["x" [] null] ["y" [] null]>'
  const before = `[0 [["f" [] null] ${args} [1 ${args} `
  const from = text.indexOf(before) + before.length
  let [to, depth] = [from, 0]
  do depth += text[to] === '[' ? 1 : text[to] === ']' ? -1 : 0
  while (to++ < text.length && depth > 0)
  return text.slice(from, to)
}

const [x, y] = ['[0 ["x" [0 1]] null]', '[0 ["y" [0 0]] null]']
const one = '[8 [1 1] null]'
const call = (number: number, ...args: string[]) =>
  `[3 [7 ${number} null] ${args.length === 0 ? '[]' : `<${args.join(' ')}>`} null]`
/** A reference of the module to itself. */
const own = (name: string) => `[0 ["${name}" [1 ["m" []] ${OWN}]] null]`

describe('encoded terms', () => {
  it.each([
    ['x', x],
    ['"ü"', '[8 [0 "ü"] null]'],
    ["'sym", '[8 [0 "sym"] null]'],
    ['-1.50', '[8 [2 [2 -150]] null]'],
    ['true', '[8 [4 true] null]'],
    ['()', '[8 [3] null]'],
    ['18446744073709551615', '[8 [1 18446744073709551615] null]'],
    ['18446744073709551616', '[8 [1 big x010000000000000000] null]'],
    ['-18446744073709551616', '[8 [1 -18446744073709551616] null]'],
    ['-18446744073709551617', '[8 [1 -big x010000000000000000] null]'],
    ['[]', '[9 [] null]'],
    ['[x, y]', `[9 <${x} ${y}> null]`],
    ['{}', '[10 [] null]'],
    ['{"b": x, "a": y}', `[10 <["b" ${x}] ["a" ${y}]> null]`],
    ['x y 1', `[4 ${x} [4 ${y} ${one} null] null]`],
    ['(do x)', x],
    ['(lambda () x)', `[5 ${x} null]`],
    ['(lambda (a:[integer]) a)', '[1 <["a" [[1 [0 0]]] null]> [0 ["a" [0 0]] null] null]'],
    [
      '(let ((a 1) (b:bool x)) b)',
      `[2 ["a" [] null] ${one} [2 ["b" [[0 2]] null] [0 ["x" [0 2]] null] [0 ["b" [0 0]] null] null] null]`,
    ],
    ['(let* ((x y)) x)', `[2 ["x" [] null] ${y} [0 ["x" [0 0]] null] null]`],
    ['CHARSET_LATIN1', one],
    ['(x y)', `[3 ${x} <${y}> null]`],
    ['(x::area y)', `[3 [0 ["x" [3 ["area" 1]]] null] <${y}> null]`],
    ['other', '[0 ["other" [2 ["other" []] <["shape" []]>]] null]'],
    ['m', '[0 ["m" [2 ["m" []] []]] null]'],
    ['(m.G)', `[3 ${own('G')} [] null]`],
  ])('the term %s is encoded as the network encodes it', (code, expected) => {
    expect(body(code)).toBe(expected)
  })

  it.each([
    ['(and x y)', `[6 [0 ${x} ${y}] null]`],
    ['(or x y)', `[6 [1 ${x} ${y}] null]`],
    ['(if x y 1)', `[6 [2 ${x} ${y} ${one}] null]`],
    ['(enforce-one "e" [x])', `[6 [3 [8 [0 "e"] null] [9 <${x}> null]] null]`],
    ['(enforce x "e")', `[6 [4 ${x} [8 [0 "e"] null]] null]`],
    ['(with-capability (G) x y)', `[6 [5 [3 ${own('G')} [] null] [4 ${x} ${y} null]] null]`],
    ['(try x y)', `[6 [6 ${x} ${y}] null]`],
    ['(create-user-guard (g))', `[6 [7 [3 ${own('g')} [] null]] null]`],
    ['(pure x)', `[6 [9 ${x}] null]`],
    ['(cond (x 1) (y x) y)', `[3 [7 125 null] <[5 [6 [2 ${x} ${one} [6 [2 ${y} ${x} ${y}] null]] null] null]> null]`],
    [
      '(fold (and) true x)',
      `[3 [7 45 null] <[3 [1 <["#condArg1" [[0 2]] null] ["#condArg2" [[0 2]] null]> [6 [0 [0 ["#condArg1" [0 1]] null] [0 ["#condArg2" [0 0]] null]] null] null] [] null] [8 [4 true] null] ${x}> null]`,
    ],
    [
      '(map (constantly 1) x)',
      '[3 [7 39 null] <[1 <[":ijHO1" [] null]> [3 [1 <["#constantlyA1" [] null] ["#constantlyA2" [] null]> [0 ["#constantlyA1" [0 1]] null] null] <[8 [1 1] null] [0 [":ijHO1" [0 0]] null]> null] null] [0 ["x" [0 1]] null]> null]',
    ],
    ['(map (lambda (a) x) y)', `[3 [7 39 null] <[1 <["a" [] null]> [0 ["x" [0 2]] null] null] ${y}> null]`],
    [
      '(map (- 1) y)',
      `[3 [7 39 null] <[1 <[":ijHO1" [] null]> ${call(1, one, '[0 [":ijHO1" [0 0]] null]')} null] ${y}> null]`,
    ],
    [
      "(bind x { 'a := p:integer, 'b := q } p q)",
      `[3 [7 68 null] <${x} [1 <["#bindObject" [] null]> [2 ["q" [] null] [3 [7 60 null] <[8 [0 "b"] null] [0 ["#bindObject" [0 0]] null]> null] [2 ["p" [[0 0]] null] [3 [7 60 null] <[8 [0 "a"] null] [0 ["#bindObject" [0 1]] null]> null] [4 [0 ["p" [0 0]] null] [0 ["q" [0 1]] null] null] null] null] null]> null]`,
    ],
  ])('the form %s is encoded as the network encodes it', (code, expected) => {
    expect(body(code, '(defun g () 1)')).toBe(expected)
  })

  it.each([
    ['(- x)', call(4, x)],
    ['(- x y)', call(1, x, y)],
    ['(enumerate x y)', call(48, x, y)],
    ['(enumerate x y 1)', call(49, x, y, one)],
    ['(select x y)', call(87, x, y)],
    ['(select x y 1)', call(88, x, y, one)],
    ['(sort x)', call(35, x)],
    ['(sort x y)', call(36, x, y)],
    ['(round x)', call(19, x)],
    ['(round x y)', call(22, x, y)],
    ['(ceiling x y)', call(23, x, y)],
    ['(floor x y)', call(24, x, y)],
    ['(str-to-int x y)', call(44, x, y)],
    ['(read-msg)', call(52)],
    ['(read-msg x)', call(51, x)],
    ['(yield x)', call(65, x)],
    ['(yield x y)', call(66, x, y)],
    ['(read x y)', call(86, x, y)],
    ['(read x y 1)', call(133, x, y, one)],
    ['((do -) x)', call(4, x)],
    ['(map round x)', call(39, '[7 19 null]', x)],
  ])('a native is encoded by its number of arguments: %s', (code, expected) => {
    expect(body(code)).toBe(expected)
  })

  it('encoded names of other modules carry their hashes, and stand as they were written', () => {
    const { module } = loaded('other', [BASE, OTHER])
    const twice = `[0 ["twice" [1 ["other" []] ${hexOf(module)}]] null]`
    expect(body('(other.twice x)')).toBe(`[3 ${twice} <${x}> null]`)
    expect(body('(twice x)', '(use other [twice])')).toBe(`[3 ${twice} <${x}> null]`)
    expect(body('(twice x)', '(use other [twice]) (defun twice (z) z)')).toBe(`[3 ${own('twice')} <${x}> null]`)
  })
})

describe('encoded definitions', () => {
  const definition = (members: string) => load(members).text

  it.each([
    ['(defun f (a:module{shape}) 1)', '["a" [[3 [["shape" []]]]] null]'],
    [
      '(defun f (a:list b:object c:keyset d:time e:unit) 1)',
      '<["a" [[2]] null] ["b" [[5]] null] ["c" [[0 4]] null] ["d" [[0 5]] null] ["e" [[0 6]] null]>',
    ],
    ['(defun f:object{shape.size} (a:object{shape.size}) a)', '["f" [[4 [["size" ["shape" []]] {"w": [0 1]}]]] null]'],
    ['(defschema z b a:string) ', '[3 ["z" {"a": [0 3], "b": [8]} null]]'],
    ['(defschema z a:string) (deftable t:{z})', '[4 ["t" [["z" ["m" []]] {"a": [0 3]}] null]]'],
    ['(defschema z a:string) (defun f (t:table{z}) 1)', '["t" [[6 [["z" ["m" []]] {"a": [0 3]}]]] null]'],
    ['(defcap E (a) @event true)', '[2 [["E" [] null] <["a" [] null]> [8 [4 true] null] [0] null]]'],
    ['(defcap O () @managed true)', '[2 [["O" [] null] [] [8 [4 true] null] [1 [1]] null]]'],
    ['(defcap P (a) true)', '[2 [["P" [] null] <["a" [] null]> [8 [4 true] null] [2] null]]'],
    [
      '(defcap M (a n) @managed n mgr n) (defun mgr (p q) p)',
      `[2 [["M" [] null] <["a" [] null] ["n" [] null]> [0 ["n" [0 0]] null] [1 [0 [1 "n"] [["m" []] "mgr" ${OWN}]]] null]]`,
    ],
    [
      '(defpact p (a) (step-with-rollback a 1) (step "s"))',
      '[5 [["p" [] null] <["a" [] null]> <[1 [0 ["a" [0 0]] null] [8 [1 1] null]] [0 [8 [0 "s"] null]]> null]]',
    ],
  ])('the definition %s is encoded as the network encodes it', (members, expected) => {
    expect(definition(members)).toContain(expected)
  })

  it.each([
    ['[1 "a"]', '[1 [[0 [1 1]] [0 [0 "a"]]]]'],
    ['{"b": 1, "a": ()}', '[3 {"a": [0 [3]], "b": [0 [1 1]]}]'],
    ['(time "2020-01-01T00:00:00Z")', '[6 1577836800000000]'],
    ['other', '[4 [["other" []] [["shape" []]]]]'],
    ['(keyset-ref-guard "ns.k")', '[2 [1 ["k" ["ns"]]]]'],
    ['(create-user-guard (g 1))', '[2 [2 [["g" ["m" []]] <[0 [1 1]]>]]]'],
    ['(create-capability-guard (C 1))', '[2 [3 [["C" ["m" []]] <[0 [1 1]]> []]]]'],
    ['(C 2)', `[5 [[["m" []] "C" ${OWN}] <[0 [1 2]]>]]`],
    ['(+ 1 1)', '[0 [1 2]]'],
  ])('the constant %s is encoded with its value', (code, expected) => {
    const data = new Map()
    const define =
      '(define-namespace "ns" (read-keyset "k") (read-keyset "k")) (namespace "ns") (define-keyset "ns.k" (read-keyset "k"))'
    data.set('k', [])
    const members = `(defun g (a) true) (defcap C (a) true) (defconst K ${code})`
    const { text } = loaded('m', [BASE, OTHER, define, `(module m G (defcap G () true) ${members})`], data)
    expect(text).toContain(`[1 [["K" [] null] [1 ${expected}] null]]`)
  })

  it.each([
    [{ keys: ['b', 'a', 'b'], pred: 'keys-any' }, '[0 [["a" "b"] [2]]]'],
    [{ keys: [], pred: 'keys-2' }, '[0 [[] [1]]]'],
    [{ keys: [], pred: 'other.both' }, '[0 [[] [3 [0 ["both" ["other" []]]]]]]'],
  ])('a keyset as a constant is encoded with its value: %j', ({ keys, pred }, expected) => {
    const keyset = new Map<string, string | string[]>([['keys', keys]]).set('pred', pred)
    const both = '(module other G (defcap G () true) (defun both (n m) true))'
    const text = '(module m G (defcap G () true) (defconst K (read-keyset "k")))'
    expect(loaded('m', [both, text], new Map([['k', keyset]])).text).toContain(`[2 ${expected}]`)
  })
})

describe('encoded modules', () => {
  it('an encoded module names imports as written, interfaces, blessed hashes in order, and governance', () => {
    const { module } = loaded('other', [BASE, OTHER])
    const [low, high] = [`A${'A'.repeat(42)}`, `_${'A'.repeat(42)}`]
    const { text } = load(`(bless "${high}") (bless "${low}") (use other "${module.hash}" [twice ONE]) (use shape)
      (implements shape) (defun area:decimal (s:object{shape.size}) 1.0)`)
    expect(text.startsWith(`[["m" []] [1 [["m" []] "G" ${OWN}]] <`)).toBe(true)
    const imports = `<[["other" []] [${hexOf(module)}] [<"twice" "ONE">]] [["shape" []] [] []]>`
    const blessed = `[x${'00'.repeat(32)} xfc${'00'.repeat(31)}]`
    expect(text.endsWith(`> ${blessed} ${imports} <["shape" []]> x x null]`)).toBe(true)
  })

  it('an encoded module names its namespace and the keyset that governs it', () => {
    const keys = new Map([['k', [] as string[]]])
    const begin =
      '(define-namespace "ns" (read-keyset "k") (read-keyset "k")) (namespace "ns") (define-keyset "ns.k" (read-keyset "k"))'
    const text = '(namespace "ns") (module inner "ns.k" (defun f () 1) (defun h () (ns.inner.f)))'
    const { text: bytes, order } = loaded('ns.inner', [begin, text], keys)
    expect(bytes.startsWith('[["inner" ["ns"]] [0 ["k" ["ns"]]] <')).toBe(true)
    expect(bytes).toContain(`[3 [0 ["f" [1 ["inner" ["ns"]] ${OWN}]] null] [] null]`)
    expect(order).toEqual(['f', 'h'])
  })

  it('an encoded interface names managers and types, but has no code', () => {
    const text = `(interface i (use shape) (defconst TWO:integer 2) (defschema s a:object{size})
      (defcap C:bool (a:decimal) @managed a mgr) (defun mgr:decimal (p:decimal q:decimal)) (defpact p:string (x:object{s})))`
    const size = '[["size" ["shape" []]] {"w": [0 1]}]'
    const { text: bytes, order } = loaded('i', [BASE, text])
    expect(order).toEqual(['s', 'p', 'mgr', 'TWO', 'C'])
    expect(bytes).toBe(
      `[["i" []] <[3 ["s" {"a": [4 ${size}]} null]] ` +
        `[4 [["p" [[0 3]] null] <["x" [[4 [["s" ["i" []]] {"a": [4 ${size}]}]]] null]> null]] ` +
        '[0 [["mgr" [[0 1]] null] <["p" [[0 1]] null] ["q" [[0 1]] null]> null]] ' +
        '[1 [["TWO" [[0 0]] null] [1 [0 [1 2]]] null]] ' +
        '[2 [["C" [[0 2]] null] <["a" [[0 1]] null]> [1 [0 [0 "a"] "mgr"]] null]]> ' +
        '<[["shape" []] [] []]> x x null]',
    )
  })
})
