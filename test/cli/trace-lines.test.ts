/** Lines of a trace, and overrides of a local call: their texts without a node. */
import { describe, expect, it } from 'vitest'
import { overridesFrom } from '../../src/commands/input/overrides.ts'
import { deepestFailure, failureText, type TraceStepView, traceLines } from '../../src/commands/results/trace-lines.ts'

const step = (name: string, parts: Partial<TraceStepView> = {}): TraceStepView => {
  return { kind: 'call', name, args: [], gasOwn: 0, gasTotal: 0, children: [], ...parts }
}
const lines = (of: TraceStepView, columns?: number, isWhole = false) =>
  traceLines([of], { paint: (_, text) => text, columns, isWhole }).slice(1)

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

  it('the lines of a trace fold the parts that buy and redeem gas, unless one failed', () => {
    const gas = { gasOwn: 5, gasTotal: 1500, children: [step('coin.buy-gas', { children: [step('a')], omitted: 2 })] }
    const code = step('code', { children: [step('buy gas', { children: [step('b')] })] })
    const tree = step('transaction', { children: [step('buy gas', gas), code, step('redeem gas', gas)] })
    expect(lines(tree).map((line) => line.replace(/^ */, ''))).toEqual([
      ...['0.000  0.000  transaction', '1.500  1.500  ├ buy gas (4 steps, shown by --all)', '0.000  0.000  ├ code'],
      ...['0.000  0.000  │ └ buy gas', '0.000  0.000  │   └ b'],
      '1.500  1.500  └ redeem gas (4 steps, shown by --all)',
    ])
    expect(lines(tree, undefined, true)).toHaveLength(12)
    const failed = step('transaction', { children: [step('buy gas', { ...gas, error: 'no' })] })
    expect(lines(failed).map((line) => line.slice(14))).toEqual([
      ...['transaction', '└ buy gas  FAILED: no', '  └ coin.buy-gas', '    ├ a', '    └ 2 more steps'],
    ])
  })

  it('the lines of a trace cut keys, show a keyset once, and cut long values with their length', () => {
    const [one, other] = ['0123456789abcdef'.repeat(4), 'f'.repeat(64)]
    const hash = 'Rpq3hHkS_-Rpq3hHkSRpq3hHkSRpq3hHkSRpq3hHkS0'
    const keyset = (...keys: string[]) => `KeySet {keys: [${keys.join(', ')}],pred: keys-all}`
    const of = (...args: string[]) => lines(step('f', { args })).map((line) => line.slice(14).trim())[0]
    expect(of(keyset(one), `{"g": ${keyset(one)}}`, keyset(one, other))).toBe(
      'f KeySet#1 {keys: [01234567…],pred: keys-all} {"g": KeySet#1} KeySet#2 {keys: [01234567…, ffffffff…],pred: keys-all}',
    )
    expect(of(`"k:${one}"`, `"w:${hash}:keys-any"`, `"c:${hash}"`)).toBe(
      'f "k:01234567…" "w:Rpq3hHkS…:keys-any" "c:Rpq3hHkS…"',
    )
    // Texts within strings stay, unless they are keys.
    expect(of(`"${keyset('a')}"`, `"${'g'.repeat(64)}"`)).toBe(`f "${keyset('a')}" "${'g'.repeat(64)}"`)
    expect(of(`"${'a '.repeat(60)}"`)).toBe(`f "${'a '.repeat(39)}a… (122 characters)`)
    expect(of(`"${'a '.repeat(127)}…`)).toBe(`f "${'a '.repeat(39)}a… (over 255 characters)`)
    expect(of(`"${'x'.repeat(78)}😀 and more"`)).toBe(`f "${'x'.repeat(78)}… (91 characters)`)
    const [whole] = lines(step('f', { args: [keyset(one)], result: 'x'.repeat(100) }), undefined, true)
    expect(whole.slice(14).trim()).toBe(`f ${keyset(one)} → ${'x'.repeat(100)}`)
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
