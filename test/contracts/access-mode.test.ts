/** Modes derived from other modes. */
import { expect, it } from 'vitest'
import { FREE, type Mode } from '../../src/language/contracts/machine/access-mode.ts'

const fields = ({ access, isInCapability, callers }: Mode) => [access, isInCapability, [...callers]]

it('a derived mode changes one property and keeps the others', () => {
  expect(fields(FREE)).toEqual(['all', false, []])
  expect(fields(FREE.calledBy('m').readOnly.inCapability)).toEqual(['readOnly', true, ['m']])
  expect(fields(FREE.inCapability.calledBy('m').systemOnly)).toEqual(['systemOnly', true, ['m']])
  expect(fields(FREE.readOnly.calledBy('m').calledBy('n'))).toEqual(['readOnly', false, ['m', 'n']])
})

it('an access mode that refuses more is not widened', () => {
  expect(FREE.systemOnly.readOnly).toBe(FREE.systemOnly)
  expect(fields(FREE.readOnly.systemOnly)).toEqual(['systemOnly', false, []])
  expect(FREE.calledBy('m').calledBy('m').callers.size).toBe(1)
})
