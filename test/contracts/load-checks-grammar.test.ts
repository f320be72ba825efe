/** The grammar of programs is checked before anything of them runs. */
import { describe, expect, it } from 'vitest'
import { ContractError } from '../../src/language/contracts/errors.ts'
import { readProgram, readTest } from '../../src/language/contracts/syntax/program.ts'

/** Expects a refusal at the place of `«`. */
function refused(text: string, wanted: string, read = readProgram): void {
  const before = text.slice(0, text.indexOf('«')).split('\n')
  try {
    read(text.replace('«', ''))
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    expect(error.kind).toBe('SyntaxError')
    expect(error.message, text).toContain(wanted)
    expect(error.place, text).toEqual({ line: before.length - 1, column: before.at(-1)?.length })
    return
  }
  throw new Error(`accepted: ${text}`)
}

const inModule = (member: string) => `(module m G\n  ${member}\n  (defcap G () true))`

describe('an expression', () => {
  it.each([
    ['(+ 1 «let)', 'let is a word of the grammar', '(+ 1 lets)'],
    ['(+ 1 «@doc)', '@doc is a word of the grammar', '(+ 1 @docs)'],
    ['(«defun f () 1)', 'defun is a word of the grammar', '(defuns f 1)'],
    ['(f («module m G (defcap G () true)))', 'module is a word of the grammar', '(f (modules m))'],
    ['(f «x:integer)', 'a type follows the name of a parameter or variable only', '(f x)'],
    ['«a.b.c.d', 'name, module.name or namespace.module.name', 'a.b.c'],
    ['«a.let', 'name, module.name or namespace.module.name', 'a.lets'],
    ['«a.b::c', 'name::member', 'a::c'],
    ['«a::b.c', 'name::member', 'a::b'],
    ['«{"a" := b}', 'a binding follows a function in a call', '(f {"a" := b} b)'],
    ['[1 «{"a" := b}]', 'a binding follows a function in a call', '[1 {"a": b}]'],
    ['{"a": «step}', 'step is a word of the grammar', '{"a": steps}'],
    ['(bind x {"a" := «true} 1)', 'name of a variable', '(bind x {"a" := truth} 1)'],
    ['(bind x {"a" := «b:{s}} 1)', 'object{s} or table{s}', '(bind x {"a" := b:object{s}} 1)'],
  ])('an expression that breaks the grammar is refused with its place: %s', (text, wanted, accepted) => {
    refused(text, wanted)
    expect(readProgram(accepted)).toHaveLength(1)
  })
})

describe('a form that binds variables', () => {
  it.each([
    ['(let «() 1)', 'let binds at least one variable', '(let ((a 1)) 1)'],
    ['(let* «() 1)', 'let binds at least one variable', '(let* ((a 1)) 1)'],
    ['(let «a 1)', "'('", '(let ((a 1)) a)'],
    ['(let («a) 1)', '(name value)', '(let ((a 1)) 1)'],
    ['(let ((«1 1)) 1)', 'name of a variable', '(let ((a 1)) 1)'],
    ['(let ((«use 1)) 1)', 'name of a variable', '(let ((uses 1)) 1)'],
    ['(let ((«a)) 1)', 'value of the variable', '(let ((a 1)) 1)'],
    ['(let ((a 1 «2)) 1)', "')'", '(let ((a 1) (b 2)) 1)'],
    ['(let «((a 1)))', 'expression', '(let ((a 1)) a)'],
    ['(lambda «x 1)', 'the parameters', '(lambda (x) 1)'],
    ['(lambda («1) 1)', 'name of a parameter', '(lambda (x) 1)'],
    ['(lambda («x.y) 1)', 'name of a parameter', '(lambda (x:module{a.b}) 1)'],
    ['(lambda («x:module{a.b.c}) 1)', 'name of an interface', '(lambda () 1)'],
    ['(lambda «(x))', 'expression', '(lambda (x) x)'],
  ])('a form that binds variables is refused with its place: %s', (text, wanted, accepted) => {
    refused(text, wanted)
    expect(readProgram(accepted)).toHaveLength(1)
  })
})

describe('a module', () => {
  it.each([
    ['(module «1 G (defcap G () true))', 'name of the module'],
    ['(module «a.b G (defcap G () true))', 'name of the module'],
    ['(module «m:string G (defcap G () true))', 'name of the module, without a type'],
    ['(module m «1 (defcap G () true))', 'keyset or capability of governance'],
    ['(module m «use (defcap G () true))', 'keyset or capability of governance'],
    ['(module m «G)', 'at least one of [defun'],
    ['(module m G «(use a))', 'at least one of [defun'],
    ['(module m G «1 (defcap G () true))', 'one of defun, defconst'],
    ['(module m G «(defthing f) (defcap G () true))', 'one of defun, defconst'],
    ['(module m G "doc" «@model [] (defcap G () true))', 'one of defun, defconst'],
    [`(module m G @doc «'doc (defcap G () true))`, 'docstring in double quotes'],
  ])('a module that breaks the grammar is refused with its place: %s', (text, wanted) => {
    refused(text, wanted)
  })

  it.each([
    ['(module m G (defcap G () true))'],
    ['(module m "ks" "doc" (defun f () 1))'],
    ['(module m \'ks @doc "doc" (defun f () 1))'],
    ['(module m G @doc "doc" @model [(invariant {a:b, c} [x]) let] (defcap G () true))'],
    ['(module m G @model [] @doc "doc" (use a) (bless "x") (implements a.b) (defcap G () true))'],
  ])('a module of unusual form is accepted: %s', (text) => {
    expect(readProgram(text)).toHaveLength(1)
  })
})

describe('a member', () => {
  it.each([
    ['(defun «1 () 1)', 'name of the function', '(defun f () 1)'],
    ['(defun «f)', "'('; the parameters", '(defun f () 1)'],
    ['(defun f «())', 'expression', '(defun f () "text")'],
    ['(defun f () "doc" «@model [] 1)', '@model is a word of the grammar', '(defun f () @doc "doc" @model [] 1)'],
    ['(defun f («x:{s}) 1)', 'object{s} or table{s}', '(defun f:object{a.b.s} (x:table{s}) 1)'],
    ['(defconst «C)', 'value of the constant', '(defconst C 1)'],
    ['(defconst C 1 «2)', "')'", '(defconst C 1 "doc")'],
    ['(defschema s «1)', 'name of a field', '(defschema s "doc" a b:integer)'],
    ['(defschema s "doc" «"doc")', 'name of a field', '(defschema s)'],
    ['(deftable «t)', 't:{schema}', '(deftable t:{s})'],
    ['(deftable «t:object{s})', 't:{schema}', '(deftable t:{a.b.s} "doc")'],
    ['(deftable t:{s} «1)', "')'", '(deftable t:{s} @doc "doc")'],
    ['(defcap C () «@managed)', 'expression', '(defcap C () @managed true)'],
    ['(defcap C (x) @managed x «(f) true)', 'function that manages', '(defcap C (x) @managed (f) true)'],
    ['(defcap C (x) @managed x «true)', 'function that manages', '(defcap C (x) @managed x n.m.f true)'],
    ['(defcap C () @event «@managed true)', '@managed is a word of the grammar', '(defcap C () "doc" @event true)'],
    ['(defpact p «())', 'step or step-with-rollback', '(defpact p () "doc" (step 1))'],
    ['(defpact p () «1)', 'step or step-with-rollback', '(defpact p () (step 1 @model []))'],
    ['(defpact p () «(f 1))', 'step or step-with-rollback', '(defpact p () (step (f 1)))'],
    ['(defpact p () («step))', 'expression of the step', '(defpact p () (step "entity" 1))'],
    ['(defpact p () (step-with-rollback «1))', 'expression of the rollback', '(defpact p () (step-with-rollback 1 2))'],
    ['(defpact p () (step 1 2 «3))', "')'", '(defpact p () (step 1 2 @model []))'],
    ['(use «1)', 'name of a module', '(use a.b)'],
    ['(use «a.b.c)', 'name of a module', '(use a "hash")'],
    ["(use a «'hash)", 'hash in double quotes, or list of names', '(use a "hash" [f g])'],
    ['(use a «[f, g])', 'names without commas', '(use a [f g])'],
    ['(use a [«1])', 'name of a member', '(use a [])'],
    ['(use a [f] «"hash")', "')'", '(use a [f])'],
    ['(implements «a.b.c)', 'name of an interface', '(implements a.b)'],
    ['(implements a «b)', "')'", '(implements a)'],
    ['(bless «a)', 'hash of a module', "(bless 'a)"],
    ['(bless "a" «"b")', "')'", '(bless "a")'],
  ])('a member that breaks the grammar is refused with its place: %s', (text, wanted, accepted) => {
    refused(inModule(text), wanted)
    expect(readProgram(inModule(accepted))).toHaveLength(1)
  })
})

describe('an interface', () => {
  it.each([
    ['(interface «i)', 'member of the interface', '(interface i (defun f ()))'],
    ['(interface i «(deftable t:{s}))', 'one of defun, defcap', '(interface i (defschema s))'],
    ['(interface i «(implements j))', 'one of defun, defcap', '(interface i (use j))'],
    ['(interface i (defun f () «1))', 'members of interfaces have no body', '(interface i (defun f () "doc"))'],
    ['(interface i (defun f () «@event))', 'no body', '(interface i (defcap f () @event))'],
    ['(interface i (defcap C () @managed «true))', 'no body', '(interface i (defcap C () @managed))'],
    ['(interface i (defpact p () «(step 1)))', 'no body', '(interface i (defpact p () @doc "doc"))'],
  ])('an interface that breaks the grammar is refused with its place: %s', (text, wanted, accepted) => {
    refused(text, wanted)
    expect(readProgram(accepted)).toHaveLength(1)
  })
})

describe('a test file', () => {
  it('a test file has functions and constants outside of modules, and top-level forms in expectations', () => {
    const text = '(defun f () 1) (defconst C 1) (expect-failure "x" (module m G (defun f () 1))) (expect "x" 1 (use m))'
    expect(readTest(text)).toHaveLength(4)
    for (const form of ['(«defun f () 1)', '(«defconst C 1)', '(expect "x" (f («use m)) 1)'])
      refused(form, 'is a word of the grammar')
  })

  it('functions and constants of a test file have the grammar of members', () => {
    refused('(expect-failure "x" (module m G (defun f «())))', 'expression', readTest)
    refused('(expect "x" 1 (let «() 1))', 'let binds at least one variable', readTest)
    refused('(print («module m G (defun f () 1)))', 'module is a word of the grammar', readTest)
  })
})

describe('names', () => {
  it('a name may have white space and comments around its dots', () => {
    expect(readProgram('(a . b 1) a.; comment\n b .c')).toMatchObject([
      { items: [{ name: 'a.b' }, { value: 1n }] },
      { name: 'a.b.c', place: { line: 0, column: 10 } },
    ])
    refused('(a «. 1)', 'Unexpected character')
  })
})

it('properties are read without looking at them, except for their brackets', () => {
  const model = '@model [(property (forall (x:anything y) {z, "s" : 1.5} a::b)) lambda]'
  expect(readProgram(`(module m G (defun f () ${model} 1))`)).toHaveLength(1)
  refused('(module m G (defun f () @model [(a«] 1))', "')'")
  refused('(module m G (defun f () @model [a «:= b] 1))', 'Unexpected input')
  refused('(module m G (defun f () @model «(a) 1))', 'list of properties')
})
