/** Interfaces: what they may contain, and how modules implement them. */
import { describe, expect, it } from 'vitest'
import { Layer } from './evaluator.ts'
import { expectAccepted, module, refusal } from './load-checks.ts'

const FACE = `(interface face
  (defschema s a:integer)
  (defun f:integer (a:integer b:[object{s}]))
  (defcap C (a:integer) @managed a less)
  (defun less (a b))
  (defcap E () @event)
  (defcap M (a) @managed)
  (defpact p (x:string)))`
const OWN: Readonly<Record<string, string>> = {
  f: '(defun f:integer (a:integer b:[object{face.s}]) a)',
  C: '(defcap C (a:integer) @managed a less true)',
  less: '(defun less (a b) a)',
  E: '(defcap E () @event true)',
  M: '(defcap M (a) @managed true)',
  p: '(defpact p (x:string) (step x))',
}

/** A module that implements the interface, with other members in place of some. */
const load = (changes: Readonly<Record<string, string>>) =>
  `${FACE}\n«(module m G (defcap G () true) (implements face) ${Object.values({ ...OWN, ...changes }).join(' ')})`

describe('a module that implements an interface', () => {
  it('a module with the members of its interface is accepted', () => {
    expectAccepted(load({}).replace('«', ''))
  })

  it.each(Object.keys(OWN).filter((name) => name !== 'less'))(
    'a module that implements an interface is refused without %s',
    (name) => {
      expect(refusal(load({ [name]: '' })).wireMessage).toBe(
        `Interface member not implemented. Module m does not implement interface face member: ${name}`,
      )
    },
  )

  it.each([
    ['another result', 'f', '(defun f:decimal (a:integer b:[object{face.s}]) a)', 'f'],
    ['no result', 'f', '(defun f (a:integer b:[object{face.s}]) a)', 'f'],
    ['another type', 'f', '(defun f:integer (a:decimal b:[object{face.s}]) a)', 'f'],
    ['no type', 'f', '(defun f:integer (a b:[object{face.s}]) a)', 'f'],
    ['another name of a parameter', 'f', '(defun f:integer (x:integer b:[object{face.s}]) x)', 'f'],
    ['fewer parameters', 'f', '(defun f:integer (a:integer) a)', 'f'],
    ['a constant', 'f', '(defconst f 1)', 'f'],
    ['a pact for a function', 'f', '(defpact f () (step 1))', 'f'],
    ['a function for a pact', 'p', '(defun p (x:string) x)', 'p'],
    ['another pact', 'p', '(defpact p (x:integer) (step x))', 'p'],
    ['no event', 'E', '(defcap E () true)', ': defcap mismatch for E'],
    ['a managed event', 'E', '(defcap E () @managed true)', ': defcap mismatch for E'],
    ['no manager', 'C', '(defcap C (a:integer) @managed true)', ': defcap mismatch for C'],
    ['another manager', 'C', '(defun n (a b) a) (defcap C (a:integer) @managed a n true)', ': defcap mismatch for C'],
    ['no management', 'M', '(defcap M (a) true)', ': defcap mismatch for M'],
  ])('a module that implements an interface is refused with %s', (_, name, member, shown) => {
    const error = refusal(load({ [name]: member }))
    expect(error.wireMessage).toBe(
      `Module m does not correctly implement the function ${shown} from the interface: face`,
    )
    expect(error.message).toContain('the interface declares (def')
  })

  it('a module manages a capability of its interface by its own function', () => {
    const lib = '(module lib G (defcap G () true) (defun less (a b) a))\n'
    const managed = (manager: string) => lib + load({ C: `(defcap C (a:integer) @managed a ${manager} true)` })
    expect(refusal(managed('lib.less')).wireMessage).toContain(': defcap mismatch for C')
    expectAccepted(managed('m.less').replace('«', ''))
  })

  it('a module must manage the parameter of the capability that its interface manages', () => {
    const face = '(interface i (defcap C (a b) @managed a less) (defun less (a b)))'
    const managed = (param: string) =>
      `${face} (module m G (defcap G () true) (implements i) (defcap C (a b) @managed ${param} less true) (defun less (a b) a))`
    expect(refusal(managed('b')).wireMessage).toContain(': defcap mismatch for C')
    expectAccepted(managed('a'))
  })

  it('a module may manage a capability that its interface leaves open', () => {
    expectAccepted(load({ M: '(defcap M (a) @managed a less true)' }).replace('«', ''))
  })

  it('the error about a member that differs from the interface says what would be right', () => {
    const { message } = refusal(load({ f: '(defun f () 1)' }))
    expect(message).toContain('(the interface declares (defun f:integer (a:integer b:[object{s}])))')
  })

  it.each([
    ['nothing', '«(implements none)', 'Cannot find module:  none'],
    ['a module', '«(implements lib)', 'Attempt to use an interface as a module reference failed: lib'],
  ])('a module that implements %s is refused', (_, member, text) => {
    const lib = '(module lib G (defcap G () true))'
    expect(refusal(`${lib} ${module(`${member} (defun f () 1)`)}`).wireMessage).toBe(text)
  })
})

describe('an interface', () => {
  it.each([
    [
      'of one name twice',
      '(interface i (defun f ()) «(defconst f 1))',
      'Duplicate definition: i.f',
      '(interface i (defun f ()) (defconst g 1))',
    ],
    [
      'with a manager that it has not',
      '(interface i «(defcap C (a) @managed a none))',
      'Module i has no such member: none',
      '(interface i (defcap C (a) @managed a none) (defun none (a b)))',
    ],
    [
      'with a manager of a module',
      '(interface i «(defcap C (a) @managed a lib.q))',
      'Module i has no such member: lib.q',
      '(interface i (defcap C (a) @managed))',
    ],
    [
      'with a manager that is a constant',
      '(interface i (defconst K 1) «(defcap C (a) @managed a K))',
      'Module i has no such member: K',
      '(interface i (defun K ()) (defcap C (a) @managed a K))',
    ],
    [
      'that uses its function',
      '(interface i (defun f ()) (defconst K «f))',
      'Cannot find module:  f',
      '(interface i (defconst f 1) (defconst K f))',
    ],
    [
      'that takes its function for a schema',
      '(interface i (defun f ()) (defun g («x:object{f})))',
      'Cannot find module:  f',
      '(interface i (defschema f a) (defun g (x:object{f})))',
    ],
    [
      'that takes its later function for a schema',
      '(interface i (defun g («x:object{f})) (defun f ()))',
      'Cannot find module:  f',
      '(interface i (defun g (x:object{f})) (defschema f a))',
    ],
    [
      'that names its constant by its own name',
      '(interface i (defconst J 1) (defconst K «i.J))',
      'Module i has no such member: J',
      '(interface i (defconst J 1) (defconst K J))',
    ],
    [
      'in a circle',
      '(interface i «(defschema a x:object{b}) (defschema b x:object{a}))',
      'Recursive cycle detected in module i in the following functions: a, b',
      '(interface i (defschema a x:object{b}) (defschema b x:integer))',
    ],
  ])('an interface is refused %s', (_, refused, text, accepted) => {
    const lib = '(module lib G (defcap G () true) (defun q () 1))'
    expect(refusal(`${lib} ${refused}`).wireMessage).toBe(text)
    expectAccepted(`${lib} ${accepted}`)
  })

  it('an interface may name itself in types of modules', () => {
    expectAccepted('(interface i (defun f (x:module{i})))')
  })

  it('an interface is never replaced, and never replaces a module', () => {
    const state = new Layer()
    expectAccepted('(interface i (defun f ())) (module m G (defcap G () true))', state)
    expect(refusal('«(interface i (defun f ()))', state).message).toBe('Interface cannot be upgraded: i')
    expect(refusal('«(interface m (defun f ()))', state).message).toBe('Interface cannot be upgraded: m')
    expect(refusal('«(module i G (defcap G () true))', state).message).toBe('Expected module, found interface: i')
  })
})
