/** Loading a module looks up every name in it, also in functions that are never called. */
import { describe, expect, it } from 'vitest'
import type { Module } from '../../src/language/contracts/machine/ast.ts'
import { Layer } from './evaluator.ts'
import { expectAccepted, module, refusal, ruledRefusal } from './load-checks.ts'

const LIB = '(module lib G (defcap G () true) (defun f (a b) a) (defconst K 1) (defschema s a:integer))'
const FACE = '(interface face (defschema s a:integer) (defconst K 1) (defun g ()))'
const BEFORE = `${LIB} ${FACE}`

/** Title, a member that is refused, the text on the wire, and the nearest one that is accepted. */
type Case = readonly [title: string, refused: string, text: string, accepted: string]

const NAMES: Case[] = [
  ['an unknown name', '(defun h () «none)', 'Cannot find module:  none', '(defun h () lib.K)'],
  ['an unknown function', '(defun h () («none 1))', 'Cannot find module:  none', '(defun h () (lib.f 1 2))'],
  ['an unknown member', '(defun h () «lib.none)', 'Module lib has no such member: none', '(defun h () lib.K)'],
  ['a member of nothing', '(defun h () «no.f)', 'Module no has no such member: f', '(defun h () lib)'],
  ['a member of no module', '(defun h () «a.no.f)', 'Module a.no has no such member: f', '(defun h () lib.f)'],
  ['a function of an interface', '(defun h () «face.g)', 'Module face has no such member: g', '(defun h () face.K)'],
  [
    'an interface as a value',
    '(defun h () «face)',
    'Attempt to use an interface as a module reference failed: face',
    '(defun h () lib)',
  ],
  ['a schema as a value', '(defun h () «lib.s)', 'Invalid definition in variable position: s', '(defun h () lib.K)'],
  ['a name in a constant', '(defconst C «none)', 'Cannot find module:  none', '(defconst C lib.K)'],
  ['a name in a step', '(defpact p () (step «none))', 'Cannot find module:  none', '(defpact p () (step lib.K))'],
  [
    'a name in a rollback',
    '(defpact p () (step-with-rollback 1 «none) (step 1))',
    'Cannot find module:  none',
    '(defpact p () (step-with-rollback 1 lib.K) (step 1))',
  ],
  [
    'a call of a name that is not a variable',
    '(defun h () («x::g))',
    'Unbound variable: x',
    '(defun h (x:module{face}) (x::g))',
  ],
  [
    'a call of a module itself',
    '(defun h () («lib::f 1 2))',
    'Unbound variable: lib',
    '(defun h () (let ((x lib)) (x::f 1 2)))',
  ],
  [
    'a call of a member',
    '(defun k () 1) (defun h () («k::f))',
    'Invalid dynamic call: k::f',
    '(defun k () 1) (defun h (k) (k::f))',
  ],
]

const TYPES: Case[] = [
  ['an unknown schema', '(defun h («x:object{no}) 1)', 'Cannot find module:  no', '(defun h (x:object{lib.s}) 1)'],
  [
    'a module as a schema',
    '(defun h («x:object{lib}) 1)',
    'Unbound type variable: lib',
    '(defun h (lib:object{lib.s}) 1)',
  ],
  [
    'a function as a schema',
    '(defun k () 1) (defun h («x:object{k}) 1)',
    'definition in defschema position: k is not a valid schema.',
    '(defschema k a) (defun h (x:object{k}) 1)',
  ],
  [
    'a later function as a schema',
    '(defun h («x:[object{k}]) 1) (defun k () 1)',
    'definition in defschema position: k is not a valid schema.',
    '(defun h (x:[object{k}]) 1) (defschema k a)',
  ],
  [
    'a function of another module as a schema',
    '(defun h («x:table{lib.f}) 1)',
    'definition in defschema position: f is not a valid schema.',
    '(defun h (x:table{lib.s}) 1)',
  ],
  ['a table of no schema', '«(deftable t:{no})', 'Cannot find module:  no', '(deftable t:{lib.s})'],
  [
    'a table of a function',
    '(defun k () 1) «(deftable t:{k})',
    'definition in defschema position: k is not a valid schema.',
    '(defschema k a) (deftable t:{k})',
  ],
  [
    'a module in a type of modules',
    '(defun h («x:module{lib}) 1)',
    'Attempt to use an interface as a module reference failed: lib',
    '(defun h (x:module{face}) 1)',
  ],
  ['the module itself in one', '(defun h («x:module{m}) 1)', 'Cannot find module:  m', '(defun h (x:module{face}) m)'],
  ['an unknown one', '(defun h («x:module{face, no}) 1)', 'Cannot find module:  no', '(defun h (x:module{face}) 1)'],
  ['a type of a field', '(defschema r «a:object{no})', 'Cannot find module:  no', '(defschema r a:object{lib.s})'],
  [
    'a type of a variable',
    '(defun h () (let ((«x:object{no} 1)) x))',
    'Cannot find module:  no',
    '(defun h () (let ((x:object{lib.s} 1)) x))',
  ],
]

const CAPABILITIES: Case[] = [
  [
    'an unknown manager',
    '«(defcap C (a:integer) @managed a none true)',
    'Cannot find module:  none',
    '(defcap C (a:integer) @managed a lib.f true)',
  ],
  [
    'a manager that is a module',
    '«(defcap C (a:integer) @managed a lib true)',
    'Expected free variable in expression, found locally bound variable:  lib',
    '(defcap C (a:integer) @managed a lib.f true)',
  ],
  [
    'a manager that is a capability',
    '(defcap D (x y) true) «(defcap C (a:integer) @managed a D true)',
    'm.D is not a valid managed capability manager function. m.D must be a defun',
    '(defun D (x y) x) (defcap C (a:integer) @managed a D true)',
  ],
  [
    'a manager that is a constant of another module',
    '«(defcap C (a:integer) @managed a lib.K true)',
    'lib.K is not a valid managed capability manager function. lib.K must be a defun',
    '(defcap C (a:integer) @managed a lib.f true)',
  ],
  [
    'a managed parameter that there is not',
    '«(defcap C (a:integer) @managed b lib.f true)',
    'Invalid managed argument. No argument with the name: b',
    '(defcap C (b:integer) @managed b lib.f true)',
  ],
  [
    'with-capability in a capability',
    '(defcap D () true) (defcap C () «(with-capability (D) true))',
    'with-capability form not allowed within a defcap declaration.',
    '(defcap D () true) (defcap C () (compose-capability (D)))',
  ],
  [
    'with-capability in a lambda in a capability',
    '(defcap D () true) (defcap C () (map (lambda (x) «(with-capability (D) x)) [1]))',
    'with-capability form not allowed within a defcap declaration.',
    '(defcap D () true) (defun c () (map (lambda (x) (with-capability (D) x)) [1]))',
  ],
]

const MEMBERS: Case[] = [
  ['two functions of one name', '(defun h () 1)\n «(defun h () 2)', 'Duplicate definition: m.h', '(defun h () 1)'],
  ['a constant and a function', '(defconst h 1) «(defun h () 2)', 'Duplicate definition: m.h', '(defconst h 1)'],
  [
    'a function of itself',
    '«(defun h () (h))',
    'Recursive cycle detected in module m in the following functions: h',
    '(defun h (h) h)',
  ],
  [
    'a circle by the name of the module',
    '«(defun a () m.b) (defun b () (a))',
    'Recursive cycle detected in module m in the following functions: a, b',
    '(defun a () m.b) (defun b () 1)',
  ],
  [
    'a circle through a capability',
    '«(defcap C () (h)) (defun h () (with-capability (C) 1))',
    'Recursive cycle detected in module m in the following functions: C, h',
    '(defcap C () true) (defun h () (with-capability (C) 1))',
  ],
  [
    'a circle through a parameter of a capability, whose name the network takes for the function',
    '«(defcap C (h) h) (defun h () (with-capability (C 1) 1))',
    'Recursive cycle detected in module m in the following functions: C, h',
    '(defcap C (x) x) (defun h () (with-capability (C 1) 1))',
  ],
  [
    'a circle through a function with the name of a native, by the name of the module',
    '«(defun length (x) (m.length x))',
    'Recursive cycle detected in module m in the following functions: length',
    '(defun length (x) (length x))',
  ],
  [
    'a rollback of the last step',
    '(defpact p () (step 1) «(step-with-rollback 1 2))',
    "Rollbacks aren't allowed on the last step in: m.p",
    '(defpact p () (step-with-rollback 1 2) (step 1))',
  ],
  [
    'a step with an entity',
    '(defpact p () «(step "entity" 1))',
    'Pact 5 does not support entity expressions in defpact m.p.  Please ensure your defpact steps have the correct number of expressions',
    '(defpact p () (step 1 @model [(property x)]))',
  ],
  [
    'a rollback with an entity',
    '(defpact p () «(step-with-rollback "entity" 1 2) (step 1))',
    'Pact 5 does not support entity expressions in defpact m.p.  Please ensure your defpact steps have the correct number of expressions',
    '(defpact p () (step-with-rollback 1 2) (step 1))',
  ],
  [
    'a blessing of no hash',
    '«(bless "v1") (defun h () 1)',
    'Invalid blessed hash, incorrect format: v1',
    `(bless "${'A'.repeat(43)}") (defun h () 1)`,
  ],
]

const IMPORTS: Case[] = [
  ['an unknown module', '«(use none) (defun h () 1)', 'Cannot find module:  none', '(use lib) (defun h () K)'],
  ['the module itself', '«(use m) (defun h () 1)', 'Cannot find module:  m', '(use lib) (defun h () (f 1 2))'],
  [
    'an unknown member',
    '«(use lib [f none]) (defun h () 1)',
    'Invalid imports. Module or interface lib does not implement the following members: none',
    '(use lib [f]) (defun h () (f 1 2))',
  ],
  [
    'several unknown members, which the text sorts',
    '«(use lib [none f also]) (defun h () 1)',
    'Invalid imports. Module or interface lib does not implement the following members: also, none',
    '(use lib [s f]) (defun h () (f 1 2))',
  ],
  [
    'a function of an interface',
    '«(use face [g]) (defun h () 1)',
    'Invalid imports. Module or interface face does not implement the following members: g',
    '(use face [K s]) (defun h () K)',
  ],
  [
    'a text that is not a hash',
    '«(use lib "abc") (defun h () 1)',
    'Invalid blessed hash, incorrect format: abc',
    '(use lib) (defun h () 1)',
  ],
]

const KINDS: readonly (readonly [string, readonly Case[]])[] = [
  ['a name', NAMES],
  ['a type', TYPES],
  ['a capability', CAPABILITIES],
  ['members', MEMBERS],
  ['an import', IMPORTS],
]
describe.each(KINDS)('%s', (_, cases) => {
  it.each(cases)('loading code is refused with its place: %s', (_title, refused, text, accepted) => {
    const error = refusal(`${BEFORE}\n${module(refused)}`)
    expect(error.wireMessage).toBe(text)
    expect(error.kind).toBe('EvalError')
    expectAccepted(`${BEFORE}\n${module(accepted)}`)
  })
})

describe('governance', () => {
  it.each([
    ['a constant', '(module m «G (defconst G true))', 'm.G'],
    ['a capability with a parameter', '(module m «G (defcap G (x) true))', 'm.G'],
    ['nothing', '(module m «NONE (defcap G () true))', 'm.NONE'],
  ])('governance of a module is refused: %s', (_, text, name) => {
    expect(refusal(text).wireMessage).toBe(
      `Invalid governance. Must be a 0-argument defcap or a keyset. Found: ${name}`,
    )
  })

  it('loading asks the governance of the earlier version before all else', () => {
    const state = new Layer()
    expectAccepted('(module m G (defcap G () (enforce false "closed")) (defun f () 1))', state)
    expect(refusal('(module m G (defcap G () true) (defun f () none))', state).message).toBe('closed')
  })

  it('loading asks the namespace before all else', () => {
    const text = '(module m G (defcap G () true) (defun f () none))'
    expect(ruledRefusal(text, { isRootOpen: false }).message).toContain('cannot install in root namespace')
  })

  it('loading asks the keyset of every version', () => {
    const state = new Layer()
    expectAccepted('(module m G (defcap G () true) (defun f () 1))', state)
    expect(refusal('(module m "none" (defun f () 1))', state).message).toContain('none')
  })
})

describe('names in scope', () => {
  const NOTHING = 'Cannot find module:  '
  const UNKNOWN = 'no variable, member, import or module has this name'

  it('an import with the hash of a module brings its names into scope, and another hash is refused', () => {
    const state = new Layer()
    expectAccepted(LIB, state)
    const hash = state.get<Module>('modules', 'lib')?.hash
    const load = (wanted: string | undefined) => `(module m G (defcap G () true) «(use lib "${wanted}") (defun h () K))`
    expect(refusal(load('A'.repeat(43)), state).wireMessage).toBe(
      `Import error for module lib . The module hash has not been blessed: ${hash}`,
    )
    expectAccepted(load(hash).replace('«', ''), state)
  })

  it('an imported name may begin as a mark does', () => {
    const state = new Layer()
    expectAccepted('(module m G (defcap G () true) (defun f (@x) @x))', state)
    expectAccepted('(enforce (= 2 (m.f 2)) "the parameter")', state)
  })

  it('an import with a list brings only the listed names into scope', () => {
    const state = new Layer()
    expectAccepted(BEFORE, state)
    expect(refusal('(module m G (defcap G () true) (use lib [f]) (defun h () «K))', state).wireMessage).toBe(
      'Cannot find module:  K',
    )
    expectAccepted('(module m G (defcap G () true) (use lib [K]) (defun h () K))', state)
  })

  it('imported names stay in scope after the module that imports them', () => {
    const state = new Layer()
    expectAccepted(BEFORE, state)
    expect(refusal('«K', state).wireMessage).toBe('Cannot find module:  K')
    expectAccepted('(module m G (defcap G () true) (use lib) (defun h () 1)) K', state)
  })

  it('the name of the module itself means its earlier version while it loads', () => {
    const state = new Layer()
    expectAccepted('(module m G (defcap G () true) (defun old () 1))', state)
    expectAccepted('(module m G (defcap G () true) (use m [old]) (defun new () (+ (old) (m.old))))', state)
    expectAccepted('(enforce (= 2 (m.new)) "both")', state)
    expect(refusal('«m.old', state).wireMessage).toBe('Module m has no such member: old')
  })

  it('a name is searched in the root namespace first, then in that of the command', () => {
    const state = new Layer()
    const module = (name: string, value: number) => `(module ${name} G (defcap G () true) (defun f () ${value}))`
    const enter = '(define-namespace "n" (create-user-guard (yes.f)) (create-user-guard (yes.f))) (namespace "n")'
    expectAccepted(`${module('yes', 0)} ${module('a', 1)} ${enter} ${module('a', 2)} ${module('b', 3)}`, state)
    expectAccepted('(namespace "n") (enforce (= [1 3 2] [(a.f) (b.f) (n.a.f)]) "order")', state)
    expectAccepted('(namespace "n") (use a) (enforce (= 1 (f)) "import")', state)
    expectAccepted('(namespace "n") (use b) (enforce (= 3 (f)) "import")', state)
    expect(refusal('(namespace "n") «c', state).message).toBe('Cannot find module: n.c')
    expect(refusal('(namespace "n") «(use x.c)', state).wireMessage).toBe('Cannot find module:  x.c')
    expect(refusal('«b', state).wireMessage).toBe('Cannot find module:  b')
    expectAccepted('n.b', state)
  })

  it.each([
    ['a member of a module', 'lib.fetch-totl', 'Module lib has no such member: fetch-totl (did you mean fetch-total?)'],
    ['a member that is not similar', 'lib.other', 'Module lib has no such member: other'],
    ['a native', '(lenght [1])', `${NOTHING}lenght (${UNKNOWN}; did you mean length?)`],
    ['a variable', '(let ((amount 1)) amont)', `${NOTHING}amont (${UNKNOWN}; did you mean amount?)`],
    ['a short name', '(let ((a 1)) b)', `${NOTHING}b (${UNKNOWN})`],
  ])('the error in a test file suggests the similar name of %s, the network does not', (_, code, message) => {
    const state = new Layer()
    expectAccepted('(module lib G (defcap G () true) (defun fetch-total () 1))', state)
    const error = refusal(code, state)
    expect(error.message).toBe(message)
    expect(error.wireMessage).toBe(message.replace(/ \(.*/, ''))
  })

  it('the scope of a module does not include members of interfaces that a module implements', () => {
    const state = new Layer()
    expectAccepted('(interface i (defconst K 1) (defun g ()))', state)
    const load = (value: string) => `(module m G (defcap G () true) (implements i) (defun g () ${value}))`
    expect(refusal(load('«K'), state).wireMessage).toBe('Cannot find module:  K')
    expectAccepted(load('i.K'), state)
    expect(refusal('«m.K', state).wireMessage).toBe('Module m has no such member: K')
  })
})

describe('a special form', () => {
  it.each([
    ['(if)', 'if must take three arguments', '(if true 1 2)'],
    ['(if 1)', 'if must take three arguments', '(if false 1 2)'],
    ['(do)', 'do form must have at least 1 expression', '(do 1)'],
    ['(with-capability 1)', 'with-capability must take at least 2 expressions', '(lambda () (with-capability 1 2))'],
    ['(suspend)', 'suspend must take only 1 argument', '((suspend 1))'],
    ['(enforce-one "x")', 'enforce-one must take two arguments', '(enforce-one "x" [true])'],
    ['(try 1)', 'try must take two arguments', '(try 1 2)'],
    ['(pure 1 2)', 'pure must take only 1 argument', '(pure 1)'],
    ['(error "a" "b")', 'error must take only 1 argument', '(try 1 (error "a"))'],
    ['(cond)', 'cond: expected list of conditions with a default case', '(cond 1)'],
    ['(cond 1 2)', 'cond: expected application of conditions', '(cond (true 1) 2)'],
    ['(cond (true 1 2) 3)', 'cond: expected application of conditions', '(cond (false 1) 3)'],
    [
      '(create-user-guard 1)',
      'create-user-guard must take one argument, which must be an application',
      '(lambda () (create-user-guard (f 1)))',
    ],
  ])('a special form requires its parts: %s', (refused, rule, accepted) => {
    const error = refusal(`(module m G (defcap G () true) (defun f (x) x))\n(+ 1\n  «${refused})`)
    expect(error.message).toBe(`Desugar syntax failure: ${rule}`)
    expect(error.kind).toBe('EvalError')
    if (!accepted.startsWith('(lambda')) expectAccepted(accepted)
  })

  it('a special form binds variables for a body', () => {
    expect(refusal('(bind {"a": 1} «{"a" := b})').wireMessage).toBe('Bind expression lacks an accompanying body.')
    expectAccepted('(bind {"a": 1} {"a" := b} b)')
  })
})
