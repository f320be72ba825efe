/** Tables in rows, after the node has written the rows to the disk and read them again. */
import { describe, expect, it } from 'vitest'
import type { Domain } from '../../src/language/contracts/machine/state.ts'
import { decodeStoredValue, encodeStoredValue } from '../../src/language/contracts/values/keep.ts'
import type { ObjectValue } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, Layer, outcome } from './evaluator.ts'

const PROGRAM = `
  (module m G
    (defcap G () true)
    (defschema s a:integer)
    (defschema other b:integer)
    (deftable t:{s})
    (defschema any t)
    (deftable none:{any})
    (defun put () (insert t "k" {"a": 1}) (write none "k" {"t": t}))
    (defun kept () (at "t" (read none "k")))
    (defun get (k) (read (kept) k))
    (defun typed:object{s} (x:table{s}) (read x "k"))
    (defun wrong (x:table{other}) x)
    (defun add () (insert (kept) "k2" {"a": 2})))
  (create-table m.t)
  (create-table m.none)
  (m.put)`

/** Writes a row to the disk and reads it back. */
function passDisk(state: Layer, domain: Domain, key: string) {
  const row = state.get<ObjectValue>(domain, key) as ObjectValue
  state.put(domain, key, decodeStoredValue(JSON.parse(JSON.stringify(encodeStoredValue(row)))))
}

/** A state in which the rows of `m.none` come from the disk. */
function restarted(upgrade = ''): Layer {
  const state = new Layer()
  const begun = evaluatorOn(state)
  expect(outcome(begun, PROGRAM)).not.toHaveProperty('error')
  passDisk(state, 'table:m.none', 'k')
  if (upgrade !== '') expect(outcome(evaluatorOn(state), upgrade)).not.toHaveProperty('error')
  return state
}

function messageOf(state: Layer, code: string): string {
  const result = outcome(evaluatorOn(state), code)
  return 'error' in result ? result.error.message : 'no error'
}

describe('a table in a row from the disk', () => {
  it('a table from a stored row reads and writes its rows', () => {
    const evaluator = evaluatorOn(restarted())
    expect(outcome(evaluator, '(m.get "k")')).toEqual({ value: new Map([['a', 1n]]) })
    expect(outcome(evaluator, '(m.add)')).toEqual({ value: 'Write succeeded' })
    expect(outcome(evaluator, '(m.get "k2")')).toEqual({ value: new Map([['a', 2n]]) })
  })

  it('a table from a stored row has the type of its schema', () => {
    const state = restarted()
    expect(outcome(evaluatorOn(state), '(m.typed (m.kept))')).toEqual({ value: new Map([['a', 1n]]) })
    expect(messageOf(state, '(m.wrong (m.kept))')).toContain('expected type table{m.other}')
  })

  it('a table from a stored row belongs to its module', () => {
    expect(messageOf(restarted(), '(read (m.kept) "k")')).toContain('Module admin necessary')
  })

  it('a table from a stored row needs the blessing of a later version of its module', () => {
    const state = restarted()
    const { hash } = evaluatorOn(state).findModule('m') ?? { hash: '' }
    const upgrade = (bless: string) => PROGRAM.split('(create-table')[0].replace('(defcap G', `${bless} (defcap G`)
    const strict = restarted(upgrade('(defconst NEW 1)'))
    expect(messageOf(strict, '(m.get "k")')).toContain(`hash not blessed for module m: ${hash}`)
    const blessed = restarted(upgrade(`(bless "${hash}")`))
    expect(outcome(evaluatorOn(blessed), '(m.get "k")')).toEqual({ value: new Map([['a', 1n]]) })
  })

  it('a table that its module has lost keeps its rows, if its version is blessed', () => {
    const { hash } = evaluatorOn(restarted()).findModule('m') ?? { hash: '' }
    const without = (bless: string) =>
      restarted(`(module m G (defcap G () true) ${bless} (defschema any t) (deftable none:{any})
        (defun get (k) (read (at "t" (read none k)) k)))`)
    expect(messageOf(without(''), '(m.get "k")')).toContain('hash not blessed for module m')
    const blessed = evaluatorOn(without(`(bless "${hash}")`))
    expect(outcome(blessed, '(m.get "k")')).toEqual({ value: new Map([['a', 1n]]) })
  })
})

const withTable = (
  type: string,
  bless = '',
) => `(module m G (defcap G () true) ${bless} (defschema s t) (deftable rows:{s})
  (defschema item a:${type}) (deftable items:{item})
  (defun store () (write rows "r" {"t": items}))
  (defun fill (a) (write (at "t" (read rows "r")) "k" {"a": a})))`

/** Outcomes of writes of two rows to a stored table, once its module has another schema. */
function filled(bless: (hash: string) => string) {
  const state = new Layer()
  expect(messageOf(state, `${withTable('integer')} (create-table rows) (create-table items) (store)`)).toBe('no error')
  const { hash } = state.get<{ hash: string }>('modules', 'm') as { hash: string }
  expect(messageOf(state, withTable('string', bless(hash)))).toBe('no error')
  const both = () => ['(m.fill 1)', '(m.fill "one")'].map((code) => outcome(evaluatorOn(state), code))
  const fromMemory = both()
  passDisk(state, 'table:m.rows', 'r')
  expect(both()).toEqual(fromMemory)
  return fromMemory
}

describe('a table of an earlier version', () => {
  it('a table of an earlier version keeps the schema of its version, in memory and on disk', () => {
    const [number, text] = filled((hash) => `(bless "${hash}")`)
    expect(number).toMatchObject({ value: 'Write succeeded' })
    expect(text).toMatchObject({ error: { message: expect.stringContaining('integer') } })
  })

  it('a table of an earlier version is refused if it is not blessed, in memory and on disk', () => {
    for (const each of filled(() => '')) {
      expect(each).toMatchObject({ error: { message: expect.stringContaining('not blessed') } })
    }
  })
})
