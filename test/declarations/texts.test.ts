/** The text of `newcut types`, without a compiler: names, documents, constants, dependencies. */
import { describe, expect, it } from 'vitest'
import { writeDeclarations } from '../../src/client/declarations/declare.ts'
import { type ContractSource, gather } from '../../src/client/declarations/gather.ts'
import { labelParameters } from '../../src/client/declarations/labels.ts'
import { outlinesOf } from '../../src/language/contracts/syntax/outline.ts'

/** Lines of the declarations of a text, without indentation. */
const declarationLinesOf = (text: string, namespace: string | null = null, origin = 'here') =>
  writeDeclarations(outlinesOf(text, namespace), origin)
    .split('\n')
    .map((line) => line.trim())

const module = (...members: readonly string[]) => `(module m G (defcap G () true) ${members.join(' ')})`

describe('a declaration', () => {
  it('a declaration names parameters in camel case, each differently, and never by a word of the language', () => {
    const names = ['sender-id', 'new', '%', 'a-b', 'aB', 'a--b-', 'x2']
    expect(labelParameters(names)).toEqual(['senderId', 'new_', '_', 'aB', 'aB2', 'aB3', 'x2'])
    expect(labelParameters(['1st', '1st'])).toEqual(['_1st', '_1st2'])
  })

  it('a declaration keeps documents and origins from ending their comments', () => {
    const lines = declarationLinesOf(
      module('(defun f () "One */ line." 1)', '(defun g () "Two\\n lines." 1)'),
      null,
      'a*/b',
    )
    expect(lines[1]).toBe('/* From a* /b. */')
    expect(lines).toContain('/** One * / line. */')
    const start = lines.indexOf('* Two')
    expect(lines.slice(start - 1, start + 3)).toEqual(['/**', '* Two', '* lines.', '*/'])
  })

  it('a declaration types arguments of calls as code, and those of capabilities as JSON', () => {
    const lines = declarationLinesOf(module('(defun f (t:time g:guard x) 1)', '(defcap C (t:time g:guard x) true)'))
    expect(lines).toContain('args: [t: Date | PactCode, g: PactCode, x: PactArgument]')
    expect(lines).toContain("'C': { name: 'm.C'; args: [t: PactTime, g: PactGuard, x: PactValue] }")
  })

  it.each([
    ['"a"', '"a"'],
    ['12', 'PactInteger'],
    ['1.5', 'PactDecimal'],
    ['true', 'true'],
    ['[1 2]', 'Array<PactInteger>'],
    ['[1 2.0]', 'PactValue'],
    ['[]', 'PactValue'],
    ['(+ 1 2)', 'PactValue'],
  ])('a declaration types a constant %s as %s', (value, type) => {
    expect(declarationLinesOf(module(`(defconst X ${value})`))).toContain(`'X': ${type}`)
  })

  it('a declaration shows 200 characters of a constant', () => {
    const linesWithConstant = (length: number) => declarationLinesOf(module(`(defconst X "${'x'.repeat(length - 2)}")`))
    expect(linesWithConstant(200)).toContain(`/** value: "${'x'.repeat(198)}" */`)
    expect(linesWithConstant(201)).toContain(`/** value: "${'x'.repeat(199)}.. */`)
  })

  it('a declaration offers clients modules, not interfaces, and the capability of gas once', () => {
    const face = '(interface i (defun f:string ()) (defcap C (a:string)))'
    const lines = declarationLinesOf(`${face} ${module()}`)
    const client = lines.slice(lines.indexOf('export interface IPactModules {'))
    expect(client).toContain("'m': {")
    expect(client).not.toContain("'i': {")
    expect(lines.filter((line) => line.startsWith('(name: '))).toEqual([
      "(name: 'coin.GAS'): { name: string; args: Array<any> }",
      "(name: 'm.G', ...args: Capabilities['m.G']['args']): { name: string; args: Array<any> }",
    ])
    const gas = declarationLinesOf('(module coin G (defcap G () true) (defcap GAS () true))')
    expect(gas.filter((line) => line.startsWith("(name: 'coin.GAS'"))).toEqual([
      "(name: 'coin.GAS', ...args: Capabilities['coin.GAS']['args']): { name: string; args: Array<any> }",
    ])
  })
})

describe('dependencies', () => {
  const source = (texts: Readonly<Record<string, string>>): ContractSource => ({
    has: (name) => name in texts,
    texts: async (names) => new Map(names.map((name) => [name, texts[name]])),
  })
  const ownOutlines = (text: string) => outlinesOf(text, 'ns')

  it('dependencies are those of the code of a contract, and only those of the signatures of others; by name', async () => {
    const texts = {
      'ns.z': '(module z G (defcap G () true) (use y) (defun f () (ns.never.f)))',
      'ns.y': '(module y G (defcap G () true) (defcap C () (ns.x.f)))',
      'ns.x': '(module x G (defcap G () true))',
      'ns.never': '(module never G (defcap G () true))',
    }
    const found = await gather(ownOutlines('(module m G (defcap G () true) (defun f () (ns.z.f)))'), [], source(texts))
    expect(found.map(({ name }) => name)).toEqual(['ns.m', 'ns.x', 'ns.y', 'ns.z'])
  })

  it.each([
    ['(module other G (defcap G () true))', 'module ns.z: its text contains the module ns.other'],
    ['(+ 1 2)', 'module ns.z: its text contains no module'],
    ['(module z G\n  (defun))', 'cannot read module ns.z at line 2, column 4: '],
  ])('dependencies of another text are refused: %s', async (text, message) => {
    const code = '(module m G (defcap G () true) (use ns.z))'
    await expect(gather(ownOutlines(code), [], source({ 'ns.z': text }))).rejects.toThrow(message)
  })
})
