/** Gas of loading and of looking up modules, in milligas. Sizes are counted by hand from the rules. */
import { describe, expect, it } from 'vitest'
import { language } from '../../../src/language/contracts/language.ts'
import { emptyEnvironment } from '../../../src/language/contracts/machine/environment.ts'
import { Evaluator } from '../../../src/language/contracts/machine/evaluate/evaluator.ts'
import { runText } from '../../../src/language/contracts/machine/load/execute.ts'
import { newTransaction } from '../../../src/language/contracts/machine/scopes.ts'
import { Layer } from '../../../src/language/contracts/machine/state.ts'

const TX_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

function gasOf(text: string, state = new Layer(), areSizesOfRunner = false, limit = 150_000_000): number {
  return loaded(text, state, areSizesOfRunner, limit).gas.used
}

function loaded(text: string, state: Layer, areSizesOfRunner: boolean, limit = 150_000_000) {
  const { block, message } = emptyEnvironment
  const gas = { used: 0, limit }
  const rules = { ...block.rules, areSizesOfRunner }
  const transaction = newTransaction({ ...message, hash: TX_HASH, data: new Map() }, state, gas)
  const evaluator = new Evaluator(language, { ...block, rules }, transaction)
  runText(evaluator, text)
  return { gas, image: (name: string) => evaluator.findModule(name)?.image }
}

it('test files report what a module costs on a network, with its dependencies', () => {
  const base = '(module base G (defcap G () true) (defun add (a b) (+ a (* 2 b))))'
  const user = '(module user G (defcap G () true) (defun twice:integer (n:integer) (base.add n (length [n]))))'
  const [test, network] = [true, false].map((areSizesOfRunner) => {
    const state = new Layer()
    const first = loaded(base, state, areSizesOfRunner)
    const second = loaded(user, state, areSizesOfRunner)
    return [
      { gas: first.gas.used, image: first.image('base') },
      { gas: second.gas.used, image: second.image('user') },
    ]
  })
  for (const i of [0, 1]) {
    const { gas, image } = test[i]
    expect(image?.surplus).toBeGreaterThan(0)
    expect(image?.networkBytes).toBe(network[i].image?.bytes)
    // Reading `base` costs a milligas for each 200 bytes, which are more here too.
    expect(Math.abs(gas - (image?.surplus ?? 0) - network[i].gas)).toBeLessThanOrEqual(i)
    expect(network[i].image).toMatchObject({ surplus: 0, networkBytes: network[i].image?.bytes })
  }
})

const text = (length: number) => length + 4
const [list, hash] = [5, 36]
/** Module name of one letter, without a namespace. */
const moduleName = 1 + text(1) + 2
const place = 5

/** Size of a module `m` with governance by `G`, whose own hash has `own` bytes, around definitions of size `inner`. */
function moduleSize(own: number, inner: number): number {
  const governance = 2 + 2 + 1 + moduleName + text(1) + text(own)
  return 1 + moduleName + governance + list + inner + list + list + list + text(own) + hash
}

/** `(defcap G () true)` without places. It has four: its own, its name's, and that of its body. */
const govern = 2 + 1 + (1 + text(1) + 2) + list + (2 + 2 + 1) + 2
const governPlaces = 3

describe('the gas of a module', () => {
  it('a module costs 400 for a byte as resolved, 100 as hashed and 200 as stored with its places', () => {
    // The search for dependencies: a term, none of which is a name; then one name of one.
    const search = 5 + Math.ceil(Math.log(2)) * 200
    const early = moduleSize(12, govern)
    const stored = 2 + list + moduleSize(32, govern) + (governPlaces + 1) * place
    expect(gasOf('(module m G (defcap G () true))')).toBe(500 * early + search + 200 * stored)
  })

  it('a module costs more in the test runner, by longer places and longer natives', () => {
    const plain = '(module m G (defcap G () true))'
    expect(gasOf(plain, new Layer(), true) - gasOf(plain)).toBe(200 * (governPlaces + 1) * 16)
    const added = '(module m G (defcap G () (+ 1)))'
    // A call of a native, its argument and the term of the native: two places more.
    const longer = gasOf(added, new Layer(), true) - gasOf(added)
    expect(longer).toBe(200 * (governPlaces + 3) * 16 + 700 * 2)
  })

  it('the gas of a module does not count its text, its documentation and its comments', () => {
    const plain = gasOf('(module m G (defcap G () true))')
    expect(gasOf(`(module m G "${'long '.repeat(100)}" (defcap G () ${';\n'.repeat(100)} true))`)).toBe(plain)
  })

  it('the gas of a module counts the values of constants in the hash, and their terms elsewhere', () => {
    const constant = (value: string) => gasOf(`(module m G (defcap G () true) (defconst C ${value}))`)
    // A text as a term: 2 + literal; as a value likewise. Both have the same size; the term has no place in the end.
    expect(constant('"abcdef"') - constant('"abc"')).toBe(3 * 700)
    const [list3, list1] = [constant('[1 1 1]'), constant('[1]')]
    const [term, value] = [2 + 2 + 8, 2 + 2 + 8]
    expect(list3 - list1).toBe(2 * (400 * term + 300 * value + 100))
  })

  it('the gas of a module includes the definitions that it uses of other modules, and their places', () => {
    const state = new Layer()
    gasOf('(module a G (defcap G () true) (defun one () 1) (defun two () (one)) (defun three () 1))', state)
    const plain = gasOf('(module m G (defcap G () true) (defun f () 1))', new Layer())
    const one = gasOf('(module m G (defcap G () true) (defun f () (a.one)))', state)
    const two = gasOf('(module m G (defcap G () true) (defun f () (a.two)))', state)
    expect(one - plain).toBeGreaterThan(200 * 40)
    // `two`, and `one`, which it uses.
    expect(two - one).toBeGreaterThan(200 * 40)
    expect(two - one).toBeLessThan(200 * 200)
  })

  it('the gas of a module is charged before its constants are evaluated', () => {
    const schemas = Array.from({ length: 120 }, (_, i) => `(defschema s${i + 1} a:object{s${i}} b:object{s${i}})`)
    const huge = `(module m G (defcap G () true) (defschema s0 a:integer) ${schemas.join(' ')})`
    expect(() => gasOf(huge)).toThrow(/^Gas limit "150000" exceeded: 15\d{4}$/)
    expect(() => gasOf(huge, new Layer(), false, Number.POSITIVE_INFINITY)).toThrow(/^The module m is too large: /)
    const costly = '(module m G (defcap G () true) (defconst C (enforce false "evaluated")))'
    expect(() => gasOf(costly, new Layer(), false, 30_000)).toThrow(/^Gas limit/)
    expect(() => gasOf(costly)).toThrow('evaluated')
  })

  it('a module without a gas limit loads without the search for dependencies', () => {
    const module = `(module m G (defcap G () true) ${'(defun f () (list-modules))'})`
    expect(gasOf(module)).toBeGreaterThan(gasOf(module, new Layer(), false, Number.POSITIVE_INFINITY))
  })
})

describe('the gas of looking up a module', () => {
  it('looking up a module is charged once in a program, and for merging with what is loaded', () => {
    const state = new Layer()
    gasOf('(module a G (defcap G () true) (defun one () 1)) (module b G (defcap G () true) (defun two () 2))', state)
    const [a, b] = [gasOf('(use a)', state), gasOf('(use b)', state)]
    expect(a).toBeGreaterThanOrEqual(10)
    expect(gasOf('(use a) (use a)', state)).toBe(a)
    // Two definitions meet two others, at 10 each.
    expect(gasOf('(use a) (use b)', state)).toBe(a + b + 10 * 2 * 2)
  })

  it('looking up a module that the program loads itself costs nothing', () => {
    const module = '(module a G (defcap G () true) (defun one () 1))'
    expect(gasOf(`${module} (use a)`)).toBe(gasOf(module))
  })
})
