/** The case of each native reaches it: none ends at a refusal, or calls the native with nothing to do. */
import { describe, expect, it } from 'vitest'
import { long, moduleOf } from '../../bench/hostile/case.ts'
import { NATIVE_CALLS, nativeCases } from '../../bench/hostile/native-cases.ts'
import { reachFault } from '../../bench/hostile/native-reach.ts'
import { rotating } from '../rotation.ts'

describe('the hostile case', () => {
  it.each(rotating(Object.entries(NATIVE_CALLS), 25))(
    'the hostile case of %s calls it with large arguments, and the call returns',
    (name, call) => {
      const hostile = nativeCases.find((each) => each.name === `native ${name}`)
      expect(hostile === undefined ? 'no such case' : reachFault(hostile, name, call)).toBeNull()
    },
  )

  it.each([
    ['whose module is not there', '(m.go)', '(hash "a")', [], 'the case ends before the native is called'],
    ['that fails before', '(enforce false "no") (hash "a")', '(hash "a")', [], 'the case ends before'],
    ['that catches a failure before', '(try 1 (hash (at 5 [1])))', '(hash (at 5 [1]))', [], 'the case ends before'],
    ['whose native refuses', '(at 5 [1])', '(at 5 [1])', [], 'the call fails: Array index out of bounds.'],
    [
      'whose gas ends in the native',
      `(make-list 300000 [${long(100, '1 ')}])`,
      `(make-list 300000 [${long(100, '1 ')}])`,
      [],
      'the call fails: Gas limit',
    ],
    [
      'with an empty list',
      '(pairing-check [] [])',
      '(pairing-check [] [])',
      [],
      'the largest argument has a weight of',
    ],
    ['in a module', '(m.go)', '(hash "a")', [moduleOf('m', '(defun go () (hash "a"))')], 'the largest argument has'],
    ['with a failure too few', '(require-capability 1)', '(require-capability 1)', [], 'the call does not fail as'],
  ])('the hostile case %s proves nothing', (_, code, call, before, fault) => {
    const [name] = /[^( ]+/.exec(call) ?? []
    const found = reachFault(
      { name: 'a', as: 'local', before, code: `${code} ${before.length === 0 ? call : ''}` },
      name ?? '',
      call,
    )
    expect(found).toContain(fault)
  })
})
