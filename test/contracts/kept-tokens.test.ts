/** Capability tokens that outlive the command that made them. */
import { expect, it } from 'vitest'
import { decodeStoredValue, encodeStoredValue } from '../../src/language/contracts/values/keep.ts'
import type { ObjectValue } from '../../src/language/contracts/values/value.ts'
import { evaluatorOn, freeGas, Layer, outcome, runOn } from './evaluator.ts'

function run(state: Layer, code: string) {
  runOn(evaluatorOn(state, freeGas()), code)
}

/** Writes the row "r" of m.rows to the disk and reads it back. */
function passDisk(state: Layer) {
  const row = state.get<ObjectValue>('table:m.rows', 'r') as ObjectValue
  state.put('table:m.rows', 'r', decodeStoredValue(JSON.parse(JSON.stringify(encodeStoredValue(row)))))
}

const withCapability = (body: string) => `(module m G (defcap G () true) (defschema s t) (deftable rows:{s})
  (defcap C () ${body})
  (defun store () (write rows "r" {"t": (C)}))
  (defun grant () (with-capability (at "t" (read rows "r")) true)))`

it('a stored token means the capability of the current version, in memory and on disk', () => {
  const state = new Layer()
  run(state, `${withCapability('true')} (create-table rows) (store)`)
  run(state, withCapability('(enforce false "second version")'))
  const fromMemory = outcome(evaluatorOn(state), '(m.grant)')
  passDisk(state)
  const fromDisk = outcome(evaluatorOn(state), '(m.grant)')
  expect(fromDisk).toMatchObject({ error: { message: 'second version' } })
  expect(fromMemory).toEqual(fromDisk)
})
