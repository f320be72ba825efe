/** The gas of code, in thousandths (milligas). */
import { describe, expect, it } from 'vitest'
import { evaluatorOn, Layer, runOn } from './evaluator.ts'

const MODULE = `
(module m G (defcap G () true) (defschema row v:integer) (deftable rows:{row})
  (defun one (a b) 1)
  (defcap HELD () true)
  (defun ask () (require-capability (HELD)))
  (defun asks () (with-capability (HELD) (ask))))
(create-table rows) (acquire-module-admin m) (write m.rows "k" {"v": 1})`

function cost(text: string, state = new Layer()): number {
  const gas = { used: 0, limit: Number.POSITIVE_INFINITY }
  runOn(evaluatorOn(state, gas), text)
  return gas.used
}

function prepared(): Layer {
  const state = new Layer()
  runOn(evaluatorOn(state), MODULE)
  return state
}

/** Gas of looking up the module. */
function load(): number {
  return cost('m', prepared())
}

describe('gas', () => {
  it.each([
    // Measured on the public network.
    ['(fold + 0 [1 2 3 4 5])', 1750],
    // 100 for a native call, 30 for an integer operation, 100 for each item of a literal, 100 for each item passed to a
    // function.
    ['(+ 1 2)', 130],
    ['[1 2 3]', 300],
    ['{"a": 1, "b": 2}', 200],
    ['(map (+ 1) [1 2])', 200 + 100 + 2 * (100 + 130)],
    // Both numbers take one word.
    ['(< 1 2)', 100 + 100 + 64],
    ['(let ((a 1)) (if true a 2))', 0],
    ['((lambda (a b) a) 1 2)', 50 + 2 * 25],
  ])('of %s', (text, milligas) => {
    expect(cost(text)).toBe(milligas)
  })

  it('of functions: the call and each argument', () => {
    expect(cost('(m.one 1 2)', prepared()) - load()).toBe(100)
  })

  it('of required capabilities: each one in scope', () => {
    const [token, call] = [50, 50]
    expect(cost('(m.asks)', prepared()) - load()).toBe(call + token + call + token + 500 + 100)
  })

  it('of rows: the access and the bytes', () => {
    const bytes = 2 + 'v'.length + 5 + '{"int":1}'.length
    const state = prepared()
    const admin = cost('(acquire-module-admin m)', state)
    expect(cost('(acquire-module-admin m) (read m.rows "k")', state)).toBe(admin + 2500 + 100 * bytes)
    expect(cost('(acquire-module-admin m) (write m.rows "l" {"v": 2})', state)).toBe(admin + 100 + 25_000 + 200 * bytes)
  })

  it('of steps: none, except for very many', () => {
    const steps = (count: number) => cost(`(do ${'1 '.repeat(count)})`)
    expect(steps(9000)).toBe(0)
    expect(steps(20_000) - steps(15_000)).toBe(5000 * 10)
  })
})
