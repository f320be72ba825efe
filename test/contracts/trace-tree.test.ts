/** Trees of steps: their limits, their gas, and the words for rows, pacts and failures. */
import { describe, expect, it } from 'vitest'
import { NOWHERE } from '../../src/language/contracts/errors.ts'
import type { TraceStep } from '../../src/language/contracts/machine/tracer.ts'
import { languagesOf, runTests } from '../../src/language/contracts/repl/run.ts'
import { TestRunObserver } from '../../src/language/contracts/repl/run-observer.ts'
import { shortText } from '../../src/language/contracts/trace/short-text.ts'
import { type TraceNode, TraceTree } from '../../src/language/contracts/trace/tree.ts'

const step = (parts: Partial<TraceStep> = {}): TraceStep => {
  return { kind: 'call', name: 'm.f', args: [], module: null, place: null, ...parts }
}

/** A tree whose meter the test sets. */
function metered() {
  const meter = { milligas: 0 }
  const tree = new TraceTree({ name: 'all', gas: () => meter.milligas, messageOf: String })
  return { meter, tree }
}

describe('a tree', () => {
  it('a trace tree has at most 10,000 nodes, and counts omitted steps at their parent', () => {
    const { tree } = metered()
    tree.begin(step({ name: 'outer' }))
    for (let i = 0; i < 10_003; i++) {
      tree.begin(step())
      tree.end()
    }
    tree.end()
    tree.close()
    expect(tree.nodes).toBe(10_000)
    expect(tree.omitted).toBe(5)
    const [outer] = tree.root.children
    expect(tree.root.omitted).toBeUndefined()
    expect(outer.omitted).toBe(5)
    expect(outer.children.length).toBe(9998)
  })

  it('a trace tree has at most 4,000,000 characters of names, arguments and results', () => {
    const { tree } = metered()
    for (let i = 0; i < 6000; i++) {
      tree.begin(step({ name: 'n'.repeat(200), args: ['a'.repeat(198), 'b'.repeat(198)] }))
      tree.end('r'.repeat(198))
    }
    expect(tree.root.children).toHaveLength(6000 - tree.omitted)
    expect(tree.root.children).toHaveLength(4_000_000 / 800)
  })

  it('a trace tree shows 32 arguments of a step', () => {
    const { tree } = metered()
    tree.begin(step({ args: Array.from({ length: 40 }, (_, i) => BigInt(i)) }))
    expect(tree.root.children[0].args.at(-1)).toBe('31')
    expect(tree.root.children[0].args).toHaveLength(32)
  })

  it('a trace tree separates own gas, gas of children, other charges, and parts with their own meter', () => {
    const { meter, tree } = metered()
    meter.milligas = 10
    tree.begin(step({ name: 'a' }))
    meter.milligas = 15
    tree.begin(step({ name: 'b' }))
    meter.milligas = 22
    tree.end()
    tree.end()
    const [a] = tree.root.children
    expect(a.gasTotal).toBe(12)
    expect(a.gasOwn).toBe(5)
    expect(a.children[0].gasTotal).toBe(7)
    const whole = new TraceTree({ name: 'all', messageOf: String })
    whole.addCharge('size', 100)
    const own = { milligas: 50 }
    const run = () => {
      own.milligas = 57
      return 'done'
    }
    expect(whole.runPart('code', () => own.milligas, run)).toBe('done')
    expect(whole.root.gasTotal).toBe(107)
    expect(whole.root.children.map(({ gasTotal }) => gasTotal)).toEqual([100, 7])
  })

  it('a trace tree names modules with the line on which they begin, from 1', () => {
    const { tree } = metered()
    const place = { line: 4, column: 2 }
    tree.begin(step({ module: { name: 'm', hash: 'h', place }, place: { line: 6, column: 0 } }))
    expect(tree.modules).toEqual({ m: { hash: 'h', line: 5 } })
    expect(tree.root.children[0].at).toEqual({ module: 'm', line: 7, column: 1 })
  })

  it('a trace tree places a step without place and module at line 1', () => {
    const { tree } = metered()
    tree.begin(step({ place: NOWHERE }))
    expect(tree.root.children[0].at).toEqual({ module: null, line: 1, column: 1 })
  })
})

/** The trees of the forms of a test file. */
function traced(text: string): readonly TraceNode[] {
  let follower: TestRunObserver | undefined
  const files = { resolve: (_: string, path: string) => path, read: () => text }
  runTests('t.repl', files, languagesOf, {
    observe: (run) => {
      follower = new TestRunObserver(run, { traces: 'all', hasGas: false, covers: null })
      return follower
    },
  })
  return follower?.findings.traces.map(({ trace }) => trace) ?? []
}

const inWords = ({ by, kind, name, args, children }: TraceNode): unknown[] => [
  [by ?? kind, name, ...args].join(' '),
  ...children.flatMap(inWords),
]

const MODULE = `(module m G (defcap G () true) (defschema s n:integer) (deftable t:{s})
  (defun inner (n) (enforce (> n 0) "no")) (defun outer (n) (inner n))
  (defpact p () (step-with-rollback 1 2) (step 3)))
(create-table m.t) (insert m.t "k" {"n": 1})
`

it('a trace shows keys and rows of tables, not functions, also in partial calls', () => {
  const forms = traced(`${MODULE}(select m.t (where "n" (= 1)))\n(map (read m.t) ["k"])`).slice(-2)
  expect(forms.map((form) => inWords(form).slice(1, 2))).toEqual([['select m.t'], ['read m.t "k"']])
})

it('a trace distinguishes steps of a pact from their rollbacks', () => {
  const forms = traced(`${MODULE}(m.p)\n(continue-pact 0 true)`).slice(-2)
  expect(forms.map((form) => inWords(form).at(-1))).toEqual(['call m.p step 0', 'call m.p rollback of step 0'])
})

it('a trace places a failure in the innermost step that has it', () => {
  const [form] = traced(`${MODULE}(m.outer 0)`).slice(-1)
  const [outer] = form.children
  expect(form.error).toBe('no')
  expect(outer.error).toBe('no')
  expect(outer.children[0].error).toBe('no')
  expect(form.failedAt).toBeUndefined()
  expect(outer.failedAt).toBeUndefined()
  expect(outer.children[0].failedAt).toEqual({ module: 'm', line: 2, column: 20 })
})

it('a trace sorts the fields of a large object', () => {
  const large = new Map<string, string | bigint>([
    ['z', 'x'.repeat(10_000)],
    ['a', 1n],
  ])
  expect(shortText(large)).toMatch(/^\{"a": 1,"z": "x+…$/)
})
