/** The order of definitions in a hashed module. */
import { describe, expect, it } from 'vitest'
import { componentsOf } from '../../../src/language/contracts/machine/load/module-hash/order.ts'
import { loaded } from './encoded.ts'

const order = (members: string) => loaded('o', [`(module o G (defcap G () true) ${members})`]).order

function components(uses: Record<string, readonly string[]>) {
  return componentsOf(new Map(Object.entries(uses).map(([name, used]) => [name, new Set(used)])))
}

describe('the order of definitions', () => {
  it('each definition comes after those that it uses, and the others from the last name to the first', () => {
    expect(components({ a: [], b: [], c: [] }).map(({ names }) => names[0])).toEqual(['c', 'b', 'a'])
    expect(components({ a: ['b'], b: ['c'], c: [] }).map(({ names }) => names[0])).toEqual(['c', 'b', 'a'])
    expect(components({ c: ['b'], b: ['a'], a: [] }).map(({ names }) => names[0])).toEqual(['a', 'b', 'c'])
    expect(components({ a: [], b: ['d'], c: ['a'], d: [] }).map(({ names }) => names[0])).toEqual(['d', 'b', 'a', 'c'])
  })

  it('the order of definitions finds cycles, also of one name', () => {
    expect(components({ a: ['b'], b: ['a'], c: [] }).filter(({ isCyclic }) => isCyclic)).toMatchObject([
      { names: expect.arrayContaining(['a', 'b']) },
    ])
    expect(components({ a: ['a'] })).toEqual([{ names: ['a'], isCyclic: true }])
  })

  it('the order of definitions follows a chain of thousands', () => {
    const chain = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`f${i}`, [`f${i + 1}`]]))
    expect(components({ ...chain, f6000: [] })[0].names).toEqual(['f6000'])
  })

  it('the order of definitions sees uses in types, schemas, tables, managers and constants', () => {
    expect(order('(defun a:object{z} () {}) (defschema z x:integer)')).toEqual(['z', 'a', 'G'])
    expect(order('(defschema a x:object{z}) (defschema z x:integer)')).toEqual(['z', 'a', 'G'])
    expect(order('(deftable a:{z}) (defschema z x:integer)')).toEqual(['z', 'a', 'G'])
    expect(order('(defcap a (x:integer) @managed x z true) (defun z (x y) x)')).toEqual(['z', 'a', 'G'])
    expect(order('(defconst a z) (defconst z 1)')).toEqual(['z', 'a', 'G'])
    expect(order('(defun a () (o.z)) (defun z () 1)')).toEqual(['z', 'a', 'G'])
  })

  it('the order of definitions ignores names that a variable hides, except in capabilities and pacts', () => {
    expect(order('(defun a (b) b) (defun b () 1)')).toEqual(['b', 'a', 'G'])
    expect(order('(defun b () (let ((c 1)) c)) (defun c () 1)')).toEqual(['c', 'b', 'G'])
    expect(order('(defun a () (d)) (defun c (a) a) (defun d () 1)')).toEqual(['d', 'c', 'a', 'G'])
    expect(order('(defun d () 1) (defcap e (d) d) (defun f () 2)')).toEqual(['f', 'd', 'e', 'G'])
    expect(order('(defun d () 1) (defun e (d) d) (defun f () 2)')).toEqual(['f', 'e', 'd', 'G'])
  })
})
