/** Lines of a trace, and overrides of a local call: their texts without a node. */
import { describe, expect, it } from 'vitest'
import { overridesFrom } from '../../src/commands/input/overrides.ts'
import { deepestFailure, failureText, type TraceStepView, traceLines } from '../../src/commands/results/trace-lines.ts'

const step = (name: string, parts: Partial<TraceStepView> = {}): TraceStepView => {
  return { kind: 'call', name, args: [], gasOwn: 0, gasTotal: 0, children: [], ...parts }
}
const lines = (of: TraceStepView, columns?: number) => traceLines([of], { paint: (_, text) => text, columns }).slice(1)

describe('lines of a trace', () => {
  it('the lines of a trace draw the branches of a tree, the last one to steps that are left out', () => {
    const tree = step('a', { omitted: 3, children: [step('b', { children: [step('c')] }), step('d')] })
    expect(lines(tree).map((line) => line.slice(14))).toEqual(['a', '├ b', '│ └ c', '├ d', '└ 3 more steps'])
    expect(lines({ ...tree, omitted: 0 }).map((line) => line.slice(14))).toEqual(['a', '├ b', '│ └ c', '└ d'])
  })

  it('the lines of a trace have no control characters and no line ends in them', () => {
    const [line] = lines(step('f', { args: ['"\u001b[31m\nred"'], result: '"\u0007"' }))
    expect([...line].filter((character) => character < ' ')).toEqual([])
    expect(line).toContain('red')
  })

  it('the lines of a trace are as wide as the terminal, with an ellipsis for the rest', () => {
    const of = (length: number) => lines(step('n'.repeat(length)), 60)[0]
    expect(of(46)).toMatch(/ n{46}$/)
    expect(of(47)).toMatch(/ n{45}…$/)
    expect(of(46).length).toBe(60)
    expect(of(47).length).toBe(60)
  })

  it('a failed trace leads to the last step with the error, if several had it', () => {
    const failed = (name: string, children: TraceStepView[] = [], parts: Partial<TraceStepView> = {}) => {
      return step(name, { error: 'no', children, ...parts })
    }
    const failedAt = { module: null, line: 2, column: 3 }
    const tree = failed('all', [failed('tried'), step('fine'), failed('last', [failed('deep', [], { failedAt })])])
    const found = deepestFailure(tree)
    expect(found?.name).toBe('deep')
    expect(failureText(found ?? tree, 'the code')).toBe('failed in deep at the code:2:3: no')
    expect(deepestFailure(step('fine'))).toBe(null)
  })
})

describe('overrides', () => {
  it('overrides of newcut local keep all digits, and add up the fields of a row', () => {
    const { rows } = overridesFrom(['t.a:k={"n": 12345678901234567890, "d": [1.10]}', 't.a:k={"m": true}'])
    expect(rows).toEqual({
      't.a': { k: { n: { decimal: '12345678901234567890' }, d: [{ decimal: '1.10' }], m: true } },
    })
  })

  it('overrides of newcut local take any key, and any text in a row', () => {
    const keyOf = (text: string) => Object.entries(overridesFrom([text]).rows?.['t.a'] ?? {})[0]
    expect(keyOf('t.a:k={"text": "a={b}"}')).toEqual(['k', { text: 'a={b}' }])
    expect(keyOf('t.a:x=y:z= {"n": true} ')).toEqual(['x=y:z', { n: true }])
  })
})
