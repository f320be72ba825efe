/** Decimals and times of a fork have all digits, although the JSON of nodes leaves some out. */
import { expect, it } from 'vitest'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { Time, type Value } from '../../src/language/contracts/values/value.ts'
import {
  exactRow,
  exactValue,
  exactWithin,
  inexactFields,
  joinShapes,
  printCode,
  shapeOf,
  shapeWithin,
} from '../../src/language/copy/exact-values.ts'
import { exec, local, makeBlocks, ok } from '../devnet/commands-common.ts'
import type { Started } from '../devnet/common.ts'
import { execWith, inBlock, startFork, startRemote } from './network.ts'

const MODULE = `(namespace "free")
(module digits G
  (defcap G () true)
  (defconst RATE:decimal 2.500)
  (defconst WHOLE 7.00)
  (defconst LAUNCH:time (parse-time "%Y-%m-%d %H:%M:%S.%v" "2024-05-06 07:08:09.120000"))
  (defconst LIST [1.0 [2.50 "3.0"] { "f": 4.000, "t": LAUNCH } 7])
  (defconst MIXED [{ "a": 1.50 } { "b": [2.50] } "c"])
  (defconst OBJECT { "deep": { "list": [[] [5.10]] }, "guard": (create-user-guard (open "x" 1.0)) })
  (defschema row amount:decimal whole:decimal at:time any n:integer note:string spec:object)
  (deftable rows:{row})
  (defun open (key:string any)
    (insert rows key { "amount": 1.50, "whole": -100.000, "at": LAUNCH, "any": any, "n": 5, "note": "1.50",
      "spec": { "inner": 1.50, "list": [any [any] { "any": any, "at": LAUNCH }], "none": [] } }))
  (defun shown:[string] (key:string)
    (with-read rows key { "amount" := amount, "whole" := whole, "at" := when, "any" := any }
      [(format "{} {} {}" [amount whole any]) (format "{}" [(+ whole 0.5)]) (format "{}" [(+ any 0.25)])
       (format-time "%H:%M:%S.%v" when) (format "{}" [(diff-time when LAUNCH)])]))
  (defun half (d:decimal) (format "{} {}" [d (+ d 0.5)]))
  (defun nested:[string] (row:object)
    (let* ((spec (at "spec" row)) (list (at "list" spec)) (last (at 2 list)))
      [(half (at "inner" spec)) (half (at 0 list)) (half (at 0 (at 1 list))) (half (at "any" last))
       (format-time "%v" (at "at" last)) (format "{}" [list])]))
  (defun nested-in:[string] (key:string) (nested (read rows key)))
  (defun nested-constants:[string] ()
    [(half (at 0 LIST)) (half (at 0 (at 1 LIST))) (half (at "f" (at 2 LIST))) (format-time "%v" (at "t" (at 2 LIST)))
     (half (at 0 (at 1 (at "list" (at "deep" OBJECT))))) (format "{}" [OBJECT]) (format "{}" [MIXED])])
  (defun constants:[string] ()
    [(format "{} {}" [RATE WHOLE]) (format "{}" [(+ WHOLE 0.5)]) (format-time "%v" LAUNCH)])
  (defun all:[string] () (map (lambda (row) (+ (format "{}" [(+ (at "whole" row) 0.5)]) (format "{}" [(nested row)])))
    (select rows (constantly true)))))
(create-table rows)`

const shownBy = async ({ peer }: Started, code: string, query = '') =>
  (await ok(local(peer, exec(code, { gasLimit: 150_000 }), query))).result

it('exact values print rows and constants with all zeros and milliseconds, as the forked node does', async () => {
  const remote = await startRemote()
  const [deployed] = await inBlock(remote.peer, [execWith(MODULE, {}, { gasLimit: 50_000 })])
  expect(deployed.result.status, JSON.stringify(deployed.result)).toBe('success')
  const opened = await inBlock(remote.peer, [
    exec('(free.digits.open "a" 3.1400)'),
    exec('(free.digits.open "b" 12345678901234567890.10)'),
    exec('(free.digits.open "c" 0.0)'),
  ])
  expect(opened.map(({ result }) => result.status)).toEqual(['success', 'success', 'success'])
  await makeBlocks(remote.peer, { 0: 2, 1: 4 })
  const codes = ['a', 'b', 'c'].flatMap((key) => [`(free.digits.shown "${key}")`, `(free.digits.nested-in "${key}")`])
  for (const all of [
    ['(free.digits.constants)', '(free.digits.nested-constants)', ...codes],
    ['(free.digits.all)', ...codes],
  ]) {
    const forked = await startFork(remote)
    for (const code of all) expect(await shownBy(forked, code), code).toEqual(await shownBy(remote, code))
  }
  expect(await shownBy(remote, codes[0])).toMatchObject({
    data: ['1.50 -100.000 3.1400', '-99.500', '3.3900', '07:08:09.120000', '0.0'],
  })
  expect(await shownBy(remote, codes[1])).toMatchObject({
    data: [
      '1.50 2.00',
      ...Array(3).fill('3.1400 3.6400'),
      '120000',
      '[3.1400, [3.1400], {"any": 3.1400,"at": "2024-05-06T07:08:09Z"}]',
    ],
  })
})

it('the finder of exact values lists the fields that may hold a decimal or a time', () => {
  expect(inexactFields(MODULE)).toEqual(['amount', 'whole', 'at', 'any'])
  expect(inexactFields('(module broken')).toEqual([])
})

it('a value keeps its digits if its printed form does not fit', () => {
  const decimal = new Decimal(15n, 1)
  for (const printed of ['', 'x', '1.', null, 7, 'abc 2.0']) expect(exactValue(decimal, printed)).toBe(decimal)
  expect(exactValue(decimal, '1.500 2.000')).toEqual(new Decimal(1500n, 3))
  const [zeros, half] = ['0'.repeat(254), 5n * 10n ** 254n]
  expect(exactValue(decimal, `1.5${zeros} 2.0${zeros}`)).toEqual(new Decimal(10n ** 255n + half, 255))
  expect(exactValue(new Decimal(2n, 0), '2.0 2.500')).toEqual(new Decimal(2000n, 3))
  const time = new Time(7_000_000n)
  expect(exactValue(time, '1970-01-01T00:00:07.250000Z')).toEqual(new Time(7_250_000n))
  expect(exactValue(time, '1970-01-01T00:00:08.250000Z')).toBe(time)
  expect(exactRow('no row', ['a'], [''])).toBe('no row')
})

it('a list or an object causes a question only if it contains decimals or times', () => {
  const half = new Decimal(15n, 1)
  for (const value of ['a', 7n, true, [], ['a', [7n]], new Map([['f', 'a']])]) expect(shapeOf(value)).toBe(null)
  expect(shapeWithin(new Map([['amount', half]]), ['amount'])).toBe(null)
  const row = new Map<string, Value>([
    ['amount', half],
    ['rest', half],
    ['list', [half]],
    ['names', ['a']],
  ])
  expect([...(shapeWithin(row, ['amount', 'list'])?.fields.keys() ?? [])]).toEqual(['rest', 'list'])
  let deep: Value = half
  for (let depth = 0; depth < 32; depth++) deep = [deep]
  expect(shapeOf(deep)).not.toBe(null)
  expect(shapeOf([[deep]])).toBe(null)
  // Types of lists begin with `list`, or in other releases with `[`.
  const list = shapeOf([half])
  expect(list && printCode(list)).toContain('(contains (take 1 (typeof v)) ["l" "["])')
  const wide = shapeOf(new Map(Array.from({ length: 5000 }, (_, i) => [`field ${i}`, half])))
  expect(wide && printCode(wide)).toBe(null)
})

it('values of different shapes at one place are covered, even if a printed form does not fit', () => {
  const half = new Decimal(15n, 1)
  const values: readonly Value[] = [half, [half, 'a'], new Map([['f', half]]), new Map([['g', [half]]]), 'a']
  const shape = joinShapes(values.map((value) => shapeOf(value)))
  if (shape === null) throw new Error('no shape')
  const text = '1.500 2.000'
  const long = new Decimal(1500n, 3)
  const printed = [text, [text, ''], [text, ''], ['', [text]], '']
  expect(values.map((value, i) => exactWithin(value, shape, printed[i]))).toEqual([
    long,
    [long, 'a'],
    new Map([['f', long]]),
    new Map([['g', [long]]]),
    'a',
  ])
  for (const odd of [undefined, null, 7, [], ['x'], [[['x']]]]) {
    for (const value of values) expect(exactWithin(value, shape, odd)).toEqual(value)
  }
})
