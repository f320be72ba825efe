/** Hashes of modules that the network's own tests and first blocks name. Our texts differ from theirs. */
import { describe, expect, it } from 'vitest'
import type { Module } from '../../../src/language/contracts/machine/ast.ts'
import { systemContracts } from '../../../src/language/contracts/system/system.ts'
import type { Value } from '../../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, runOn } from '../evaluator.ts'

function load(state: Layer, text: string, data: ReadonlyMap<string, Value> = new Map()): void {
  runOn(evaluatorOn(state, freeGas(), { data }), text)
}

function hashIn(state: Layer, name: string): string | undefined {
  return state.get<Module>('modules', name)?.hash
}

/** The definitions stand in another order than in the test of the language, and there are comments between them. */
const m = (result: number) => `(module m m-gov "Another text"
  (deftable mdtbl:{sc} "rows") ; a table before its schema
  (defschema sc "rows" a:integer)
  (defun mdfn () "its own documentation" ${result})
  (defpact mdpact () @model [] (step 1))
  (defconst fconst:integer (read-integer "k") "a constant")
  (defcap m-gov () @doc "anybody" true))`
const n = '(module n gg (defun nf () (mdfn)) (defconst nfconst:integer (read-integer "k")) (use m) (defcap gg () true))'

describe('the hash of a module', () => {
  it('the hash of a module is that of the network, whatever its documentation and the order of its text', () => {
    const state = new Layer()
    const at = (k: bigint) => new Map<string, Value>([['k', k]])
    load(state, m(1), at(1n))
    expect(hashIn(state, 'm')).toBe('qKuZPdSFkGubaGD232KSyayEbUg1e9R47eiDqrpoghs')
    load(state, m(1), at(2n))
    expect(hashIn(state, 'm')).toBe('auoL6ISoyHwxhzTs5dwvCZUZLP1r53ijK-3zVbJh50I')
    load(state, m(2), at(2n))
    expect(hashIn(state, 'm')).toBe('D0WKIRJUOzdT2S0dKD6WAY5VgWVSCDJMl_4pKTt_ZSM')
    load(state, n, at(2n))
    expect(hashIn(state, 'n')).toBe('9qHMWe0If_hD55bZpThFQV1pM1Z6dlMU3s605r9CFJE')
    load(state, m(3), at(2n))
    expect(hashIn(state, 'm')).toBe('xx7zLkXzFusqgJwxPWLqqiqhqJGdIdyUQ3I6crkCblY')
    load(state, n, at(2n))
    expect(hashIn(state, 'n')).toBe('JN9dKCIoSGJEGDe6iZIWP_g7xm0XeaAqlZl9Se7iGJY')
  })

  it('the hash of an interface is that of the network, with our own text', () => {
    const state = new Layer()
    load(state, systemContracts.map(({ text }) => text).join('\n'))
    expect(Object.fromEntries(state.keys('modules').map((name) => [name, hashIn(state, name)]))).toMatchObject({
      'fungible-v2': 'YxE-KgC6JmKmCcgKTJmlEn_I58I4EXmhfrvzX7berYk',
      'fungible-xchain-v1': 'h89ic3ghz23Rjk0pHNKtFOwrvSs7mbmuqloVXOhl2GI',
      'gas-payer-v1': 'iIWAP1oen_kpXjFbnQM87AJRZIgtsfZcAwYrEy21RWQ',
    })
  })

  it('the hash of a module is known to the module itself only after its constants', () => {
    const state = new Layer()
    load(state, '(module t G (defcap G () true) (defschema s a:integer) (deftable rows:{s}) (defun f () rows))')
    expect(runOn(evaluatorOn(state), '(t.f)')).toMatchObject({ hash: hashIn(state, 't') })
  })

  it('the hash of a module stands in results, descriptions and errors', () => {
    const state = new Layer()
    const text = '(module e G (defcap G () true) (defun f () (enforce false "no")))'
    const result = runOn(evaluatorOn(state), text)
    const hash = hashIn(state, 'e')
    expect(result).toBe(`Loaded module e, hash ${hash}`)
    expect(runOn(evaluatorOn(state), '(at "hash" (describe-module "e"))')).toBe(hash)
    expect(() => runOn(evaluatorOn(state), '(e.f)')).toThrow(expect.objectContaining({ within: `e.f.{${hash}}` }))
  })

  it('the hash of a module depends on names, types and values, but not on comments', () => {
    const hashOf = (members: string) => {
      const state = new Layer()
      load(state, `(module d G (defcap G () true) ${members})`)
      return hashIn(state, 'd')
    }
    const base = hashOf('(defun f:integer (a:integer) a)')
    expect(hashOf('; comment\n (defun f:integer (a:integer) @doc "docs" a)')).toBe(base)
    for (const other of [
      '(defun f:integer (b:integer) b)',
      '(defun f:integer (a:decimal) a)',
      '(defun f (a:integer) a)',
      '(defun g:integer (a:integer) a)',
      '(defun f:integer (a:integer) (do a a))',
      '(defun f:integer (a:integer) a) (bless "qKuZPdSFkGubaGD232KSyayEbUg1e9R47eiDqrpoghs")',
    ])
      expect(hashOf(other)).not.toBe(base)
  })
})
