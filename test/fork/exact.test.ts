/** Decimals and times of a fork have all digits, although the JSON of nodes leaves some out. */
import { expect, it } from 'vitest'
import { Decimal } from '../../src/contracts/values/decimal.ts'
import { Time } from '../../src/contracts/values/value.ts'
import { exactRow, exactValue, inexactFields } from '../../src/fork/exact-values.ts'
import { exec, local, makeBlocks, ok } from '../devnet/commands-common.ts'
import type { Started } from '../devnet/common.ts'
import { execWith, inBlock, startFork, startRemote } from './network.ts'

const MODULE = `(namespace "free")
(module digits G
  (defcap G () true)
  (defconst RATE:decimal 2.500)
  (defconst WHOLE 7.00)
  (defconst LAUNCH:time (parse-time "%Y-%m-%d %H:%M:%S.%v" "2024-05-06 07:08:09.120000"))
  (defschema row amount:decimal whole:decimal at:time any n:integer note:string spec:object)
  (deftable rows:{row})
  (defun open (key:string any)
    (insert rows key { "amount": 1.50, "whole": -100.000, "at": LAUNCH, "any": any, "n": 5, "note": "1.50",
      "spec": { "inner": 1.5 } }))
  (defun shown:[string] (key:string)
    (with-read rows key { "amount" := amount, "whole" := whole, "at" := when, "any" := any }
      [(format "{} {} {}" [amount whole any]) (format "{}" [(+ whole 0.5)]) (format "{}" [(+ any 0.25)])
       (format-time "%H:%M:%S.%v" when) (format "{}" [(diff-time when LAUNCH)])]))
  (defun constants:[string] ()
    [(format "{} {}" [RATE WHOLE]) (format "{}" [(+ WHOLE 0.5)]) (format-time "%v" LAUNCH)])
  (defun all:[string] () (map (lambda (row) (format "{}" [(+ (at "whole" row) 0.5)])) (select rows (constantly true)))))
(create-table rows)`

const shownBy = async ({ peer }: Started, code: string, query = '') =>
  (await ok(local(peer, exec(code, { gasLimit: 150_000 }), query))).result

it('prints rows and constants with all zeros and milliseconds, as the forked node does', async () => {
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
  const codes = ['a', 'b', 'c'].map((key) => `(free.digits.shown "${key}")`)
  for (const all of [
    ['(free.digits.constants)', ...codes],
    ['(free.digits.all)', ...codes],
  ]) {
    const forked = await startFork(remote)
    for (const code of all) expect(await shownBy(forked, code), code).toEqual(await shownBy(remote, code))
  }
  expect(await shownBy(remote, codes[0])).toMatchObject({
    data: ['1.50 -100.0 3.1400', '-99.500', '3.3900', '07:08:09.120000', '0.0'],
  })
})

it('finds the fields that may hold a decimal or a time', () => {
  expect(inexactFields(MODULE)).toEqual(['amount', 'whole', 'at', 'any'])
  expect(inexactFields('(module broken')).toEqual([])
})

it('keeps a value that its printed form does not fit', () => {
  const decimal = new Decimal(15n, 1)
  for (const printed of ['', 'x', '1.', null, 7, 'abc 2.0']) expect(exactValue(decimal, printed)).toBe(decimal)
  expect(exactValue(decimal, '1.500 2.000')).toEqual(new Decimal(1500n, 3))
  expect(exactValue(new Decimal(2n, 0), '2.0 2.500')).toEqual(new Decimal(2000n, 3))
  const time = new Time(7_000_000n)
  expect(exactValue(time, '1970-01-01T00:00:07.250000Z')).toEqual(new Time(7_250_000n))
  expect(exactValue(time, '1970-01-01T00:00:08.250000Z')).toBe(time)
  expect(exactRow('no row', ['a'], [''])).toBe('no row')
})
