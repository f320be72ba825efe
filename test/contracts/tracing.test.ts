/** Traces of test files: the steps of each form, whose gas adds up to that of the form, and nothing changes by them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { languagesOf, runTests, type TestReport } from '../../src/language/contracts/repl/run.ts'
import { type RunFindings, TestRunObserver } from '../../src/language/contracts/repl/run-observer.ts'
import { GasReport } from '../../src/language/contracts/trace/gas-report.ts'
import { PrintLog } from '../../src/language/contracts/trace/print-log.ts'
import { shortText } from '../../src/language/contracts/trace/short-text.ts'
import type { TraceNode } from '../../src/language/contracts/trace/tree.ts'

const SUITES = join(import.meta.dirname, 'suites')
const files = {
  resolve: (from: string, path: string) => resolve(dirname(from), path),
  read: (path: string) => readFileSync(path, 'utf8'),
}

function followed(file: string, from = files): { readonly report: TestReport; readonly findings: RunFindings } {
  let follower: TestRunObserver | undefined
  const report = runTests(file, from, languagesOf, {
    observe: (run) => {
      follower = new TestRunObserver(run, { traces: 'all', hasGas: true, covers: () => true })
      return follower
    },
  })
  if (follower === undefined) throw new Error('the run has no observer')
  return { report, findings: follower.findings }
}

const inMemory = (texts: Readonly<Record<string, string>>) => ({
  resolve: (_: string, path: string) => path,
  read: (path: string) => texts[path],
})

const sum = ({ gasOwn, children }: TraceNode): number => children.reduce((all, each) => all + sum(each), gasOwn)
const steps = (node: TraceNode): TraceNode[] => [node, ...node.children.flatMap(steps)]

describe('a run with a trace, a report of gas and coverage', () => {
  const suites = [SUITES, join(SUITES, 'cases'), join(SUITES, 'examples')].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.repl'))
      .map((name) => join(folder, name)),
  )

  it('the suites that run with a trace are more than 30', () => {
    expect(suites.length).toBeGreaterThan(30)
  })

  it.each(suites)(
    'a traced run behaves as without a trace, and its steps add up to the gas of each form: %s',
    (file) => {
      const plain = runTests(file, files)
      const { report, findings } = followed(file)
      expect(report).toEqual(plain)
      const { gas } = report
      // The form of a file that was loaded comes before that of its load in the traces, and after it in the report.
      const byPlace = <T extends { readonly place: { readonly line: number; readonly column: number } }>(
        each: T & { readonly file: string },
      ) => `${each.file}:${each.place.line}:${each.place.column}`
      const traced = findings.traces.map(({ form, trace }) => `${byPlace(form)} ${sum(trace)}`).toSorted()
      expect(traced).toEqual(gas.map((form) => `${byPlace(form)} ${form.milligas}`).toSorted())
      expect(findings.traces.map(({ trace }) => trace.gasTotal)).toEqual(findings.traces.map(({ trace }) => sum(trace)))
    },
  )
})

describe('the steps of a form', () => {
  const TEXTS = {
    'm.pact': `(module m G
  (defcap G () true)
  (defschema row n:integer)
  (deftable rows:{row})
  (defcap PAY (n:integer) @managed n left (enforce (> n 0) "nothing"))
  (defun left (have:integer want:integer) (- have want))
  (defcap SAID (what:string) @event true)
  (defun put (k:string n:integer)
    (with-capability (PAY n) (write rows k { "n": n }) (emit-event (SAID k))))
  (defun get (k:string) (with-read rows k { "n" := n } n))
  (defun sum (ks:[string]) (fold (+) 0 (map (get) ks))))
(create-table rows)`,
    't.repl': `(load "m.pact")
(env-keys ["a"])
(install-capability (m.PAY 5))
(m.put "x" 3)
(m.get "x")
(m.sum ["x" "x"])
(expect-failure "no row" "No value" (m.get "y"))
(print (m.get "x"))
(try 0 (m.get "y"))`,
  }
  const { findings } = followed('t.repl', inMemory(TEXTS))
  const of = (line: number) => {
    const found = findings.traces.find(({ form }) => form.file === 't.repl' && form.place.line === line - 1)
    if (found === undefined) throw new Error(`no trace of line ${line}`)
    return found
  }
  const named = (line: number) => steps(of(line).trace).map(({ kind, by, name }) => `${by ?? kind} ${name}`)

  it('the steps of a form include calls, capabilities, writes and events, in their order', () => {
    expect(named(4).slice(1)).toEqual([
      'call m.put',
      'capability m.PAY',
      'call m.left',
      'event m.PAY',
      'write m.rows',
      'event m.SAID',
    ])
  })

  it('the steps of a form include calls by natives, and reads with key and row', () => {
    expect(named(6).slice(1)).toEqual([
      'call m.sum',
      'call m.get',
      'with-read m.rows',
      'call m.get',
      'with-read m.rows',
    ])
    const read = steps(of(5).trace).find(({ kind }) => kind === 'read')
    expect(read).toMatchObject({
      args: ['"x"'],
      result: '{"n": 3}',
      at: { module: 'm', line: 10, column: 25 },
      // The flat price of a read, and 100 for each of the 23 bytes of the stored row.
      gasOwn: 2500 + 100 * 23,
    })
  })

  it('the steps of a form have the error, and the value of a print', () => {
    const failed = steps(of(7).trace).filter(({ error }) => error !== undefined)
    expect(failed.map(({ name }) => name)).toEqual(['m.get', 'm.rows'])
    expect(failed[1].error).toMatch(/^No value found in table m_rows for key: y/)
    expect(named(8).slice(1, 2)).toEqual(['call m.get'])
    expect(named(8).at(-1)).toBe('print print')
    expect(of(9).trace.error).toBeUndefined()
    expect(steps(of(9).trace).filter(({ error }) => error !== undefined)).toHaveLength(2)
  })

  it('the steps of a partially applied function are those of its call', () => {
    const { findings: partial } = followed(
      'p.repl',
      inMemory({ 'p.repl': '(module p G (defcap G () true) (defun f (a b) (+ a b)))\n(map (p.f 1) [1 2])' }),
    )
    expect(
      steps(partial.traces[1].trace)
        .map(({ name, args }) => [name, ...args].join(' '))
        .slice(1),
    ).toEqual(['p.f 1 1', 'p.f 1 2'])
  })
})

describe('a report of gas', () => {
  it('a gas report has calls, own and total gas of functions, natives, rows and modules', () => {
    const text = `(module m G (defcap G () true) (defschema s n:integer) (deftable t:{s})
  (defun inner (n) (+ n 1))
  (defun outer (n) (inner n) (inner n)))
(create-table m.t)
(m.outer 1)
(m.inner 2)`
    const { findings } = followed('t.repl', inMemory({ 't.repl': text }))
    const report = new GasReport(() => 0)
    report.add(findings.gasCalls)
    const row = (name: string) => report.rows.find((each) => each.name === name)
    // A call with one argument costs 75 milligas, and adding small integers 130.
    const inner = 75 + 130
    expect(row('inner')).toMatchObject({
      kind: 'function',
      module: 'm',
      calls: 3,
      min: inner,
      max: inner,
      median: inner,
    })
    expect(row('inner')).toMatchObject({ mean: inner, own: 3 * inner, total: 3 * inner })
    expect(row('outer')).toMatchObject({ calls: 1, own: 75, total: 75 + 2 * inner })
    expect(row('+')).toMatchObject({ kind: 'native', calls: 3, total: 3 * 130 })
    expect(row('create-table t')).toMatchObject({ kind: 'row', module: 'm', calls: 1, total: 250_000 })
    const deployed = report.rows.find(({ kind }) => kind === 'deploy')
    expect(deployed).toMatchObject({ module: 'm', calls: 1, size: { source: text.indexOf('\n(create') } })
    expect(deployed?.size?.stored).toBeGreaterThan(100)
  })

  it('a gas report excludes called functions from own gas, also if called through a native and a lambda', () => {
    const text = `(module m G (defcap G () true)
  (defun inner (n) (+ n 1))
  (defun each (ns) (map (lambda (n) (inner n)) ns)))
(m.each [1 2 3])`
    const { findings } = followed('t.repl', inMemory({ 't.repl': text }))
    const report = new GasReport(() => 0)
    report.add(findings.gasCalls)
    const row = (name: string) => report.rows.find((row) => row.name === name)
    const [each, inner, map] = ['each', 'inner', 'map'].map(row)
    expect(inner?.total).toBe(3 * (75 + 130))
    expect(each?.own).toBe((each?.total ?? 0) - (inner?.total ?? 0))
    // map itself, without the calls of its lambda.
    expect(map?.total).toBeLessThan((each?.own ?? 0) - 3 * 50)
  })

  it('a gas report adds up several runs, with the median of all', () => {
    const report = new GasReport(() => 0)
    const key = ['function', 'm', 'f'].join('\n')
    report.add([{ key, totals: [10, 9], own: 3 }])
    report.add([{ key, totals: [4, 200], own: 5 }])
    expect(report.rows).toEqual([
      {
        kind: 'function',
        module: 'm',
        name: 'f',
        calls: 4,
        min: 4,
        max: 200,
        mean: 55.75,
        median: 9.5,
        own: 8,
        total: 223,
      },
    ])
  })
})

it('the trace of a run keeps the steps of a thousand forms', () => {
  const { findings } = followed('t.repl', inMemory({ 't.repl': '(+ 1 2)\n'.repeat(1005) }))
  expect(findings.traces).toHaveLength(1000)
})

it('the print log of a command has 65,536 bytes, 64 of them for each text', () => {
  const printed = (last: number) => {
    const log = new PrintLog()
    for (const length of [...Array(15).fill(4096 - 64), last, 1]) log.put('x'.repeat(length), 'm', 1)
    return log.output?.lines.slice(15).map(({ text }) => text.slice(0, 9))
  }
  expect(printed(4096 - 64)).toEqual(['(the rest'])
  expect(printed(4095 - 64)).toEqual(['xxxxxxxxx', '(the rest'])
  // Bytes, not characters.
  const log = new PrintLog()
  for (let i = 0; i < 12; i++) log.put('é'.repeat(3000), 'm', 1)
  expect(log.output?.lines).toHaveLength(11)
})

describe('a value in a trace', () => {
  it('a value in a trace is cut at 256 characters, however large', () => {
    const long = 'x'.repeat(1_000_000)
    expect(shortText('short')).toBe('"short"')
    expect(shortText('x'.repeat(254))).toBe(`"${'x'.repeat(254)}"`)
    expect(shortText(long)).toHaveLength(256)
    expect(shortText(long).endsWith('…')).toBe(true)
    expect(shortText(new Array(100_000).fill([long]))).toHaveLength(256)
    expect(shortText(new Map([['k', new Array(1000).fill('ab')]]))).toMatch(/^\{"k": \["ab", "ab", .*…$/)
    expect(shortText(10n ** 100_000n)).toBe('a large integer')
  })

  it('a value in a trace is never cut within a character', () => {
    expect(shortText('a'.repeat(253) + '😀'.repeat(9))).toBe(`"${'a'.repeat(253)}…`)
    expect(shortText(`${'a'.repeat(252)}${'😀'.repeat(9)}`)).toBe(`"${'a'.repeat(252)}😀…`)
  })
})
