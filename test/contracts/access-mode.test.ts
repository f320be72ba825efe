/** Modes derived from other modes. */
import { expect, it } from 'vitest'
import { type AccessMode, TOP_LEVEL_MODE } from '../../src/language/contracts/machine/access-mode.ts'

const fields = ({ access, isInCapability, callers }: AccessMode) => [access, isInCapability, [...callers]]

it('a derived access mode changes one property and keeps the others', () => {
  expect(fields(TOP_LEVEL_MODE)).toEqual(['all', false, []])
  expect(fields(TOP_LEVEL_MODE.calledBy('m').readOnly.inCapability)).toEqual(['readOnly', true, ['m']])
  expect(fields(TOP_LEVEL_MODE.inCapability.calledBy('m').systemOnly)).toEqual(['systemOnly', true, ['m']])
  expect(fields(TOP_LEVEL_MODE.readOnly.calledBy('m').calledBy('n'))).toEqual(['readOnly', false, ['m', 'n']])
})

it('an access mode that refuses more is not widened', () => {
  expect(TOP_LEVEL_MODE.systemOnly.readOnly).toBe(TOP_LEVEL_MODE.systemOnly)
  expect(fields(TOP_LEVEL_MODE.readOnly.systemOnly)).toEqual(['systemOnly', false, []])
  expect(TOP_LEVEL_MODE.calledBy('m').calledBy('m').callers.size).toBe(1)
})
