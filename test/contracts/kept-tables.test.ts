/** Tables in rows, after the node has written the rows to the disk and read them again. */
import { describe, expect, it } from 'vitest'
import { keepValue, keptValue } from '../../src/contracts/values/keep.ts'
import type { ObjectValue } from '../../src/contracts/values/value.ts'
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

/** A state in which the rows of `m.none` come from the disk. */
function restarted(upgrade = ''): Layer {
  const state = new Layer()
  const begun = evaluatorOn(state)
  expect(outcome(begun, PROGRAM)).not.toHaveProperty('error')
  const row = state.get<ObjectValue>('table:m.none', 'k') as ObjectValue
  state.put('table:m.none', 'k', keptValue(JSON.parse(JSON.stringify(keepValue(row)))))
  if (upgrade !== '') expect(outcome(evaluatorOn(state), upgrade)).not.toHaveProperty('error')
  return state
}

function messageOf(state: Layer, code: string): string {
  const result = outcome(evaluatorOn(state), code)
  return 'error' in result ? result.error.message : 'no error'
}

describe('a table in a row from the disk', () => {
  it('reads and writes its rows', () => {
    const evaluator = evaluatorOn(restarted())
    expect(outcome(evaluator, '(m.get "k")')).toEqual({ value: new Map([['a', 1n]]) })
    expect(outcome(evaluator, '(m.add)')).toEqual({ value: 'Write succeeded' })
    expect(outcome(evaluator, '(m.get "k2")')).toEqual({ value: new Map([['a', 2n]]) })
  })

  it('has the type of its schema', () => {
    const state = restarted()
    expect(outcome(evaluatorOn(state), '(m.typed (m.kept))')).toEqual({ value: new Map([['a', 1n]]) })
    expect(messageOf(state, '(m.wrong (m.kept))')).toContain('expected type table{m.other}')
  })

  it('belongs to its module', () => {
    expect(messageOf(restarted(), '(read (m.kept) "k")')).toContain('Module admin necessary')
  })

  it('needs the blessing of a later version of its module', () => {
    const state = restarted()
    const { hash } = evaluatorOn(state).findModule('m') ?? { hash: '' }
    const upgrade = (bless: string) => PROGRAM.split('(create-table')[0].replace('(defcap G', `${bless} (defcap G`)
    const strict = restarted(upgrade('(defconst NEW 1)'))
    expect(messageOf(strict, '(m.get "k")')).toContain(`hash not blessed for module m: ${hash}`)
    const blessed = restarted(upgrade(`(bless "${hash}")`))
    expect(outcome(evaluatorOn(blessed), '(m.get "k")')).toEqual({ value: new Map([['a', 1n]]) })
  })

  it('is none once its module has lost it', () => {
    const state = restarted(
      '(module m G (defcap G () true) (defschema any t) (deftable none:{any}) (defun get (k) (read (at "t" (read none k)) k)))',
    )
    expect(messageOf(state, '(m.get "k")')).toContain('Module m has no table t')
  })
})
