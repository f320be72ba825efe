/** Contract data survives the end of the process: modules, tables, guards, and unfinished pacts. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { type Signed, signed } from './command.ts'
import { exec } from './commands-common.ts'
import { growCut } from './forks.ts'
import { temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { textOf } from './mempool-common.ts'
import { type Devnet, startDevnet } from './whole-node.ts'

const base = (rate: string) => `
  (namespace "free")
  (module base G
    (defcap G () true)
    (defconst RATE:decimal ${rate})
    (defun rate:decimal () RATE))`

const shop = `
  (namespace "free")
  (module parts P
    (defcap P () true)
    (defschema part n:integer)
    (deftable stock:{part})
    (defpact fetch:string (id:string n:integer)
      (step (insert stock id { "n": n }))
      (step (update stock id { "n": (* 2 n) }))))
  (module shop G
    (defcap G () true)
    (use free.base)
    (defschema order
      price:decimal
      due:time
      tags:[string]
      owner:guard
      free-guard:guard
      more:object)
    (deftable orders:{order})
    (defconst OPENED:time (time "2024-02-29T12:00:00Z"))
    (defconst SIZES [1 -7 340282366920938463463374607431768211456])
    (defcap OWN (id:string) (enforce (!= id "") "no order"))
    (defun price:decimal (n:integer) @doc "in coins" (* (dec n) (base.rate)))
    (defun never:bool (why:string) (enforce false why))
    (defun place:string (id:string n:integer)
      (insert orders id
        { "price": (price n)
        , "due": (add-time OPENED (days n))
        , "tags": ["a" "" "\\"ü"]
        , "owner": (read-keyset "ks")
        , "free-guard": (create-user-guard (never "no"))
        , "more": { "none": [], "deep": { "cap": (create-capability-guard (OWN id)), "mod": (create-module-guard "m") }}}))
    (defpact deliver:string (id:string n:integer)
      (step (let ((fetched (free.parts.fetch id n))) (yield { "paid": (price n), "what": fetched }) "sent"))
      (step (resume { "paid" := paid, "what" := what }
        (continue (free.parts.fetch id n))
        (update orders id { "price": (+ paid 0.125) })
        (format "{} {}" [paid what])))))
  (create-table free.parts.stock)
  (create-table free.shop.orders)
  (place "first" 3)`

const keyset = { ks: { keys: ['a11ce'.padEnd(64, '0'), 'b0b'.padEnd(64, '1')], pred: 'keys-any' } }
const costly = { gasLimit: 100_000 }
const run = (code: string) => exec(code, costly, { payload: { exec: { data: keyset, code } } })
const next = (pactId: string): Signed =>
  signed(costly, { payload: { cont: { pactId, step: 1, rollback: false, data: {}, proof: null } } })

/** Executes a command in the next block. Returns its result, which must be a success. */
function done(node: Devnet, command: Signed): unknown {
  const { payload } = growCut(node, 0, { commands: [command] })
  const { result } = JSON.parse(textOf(payload.transactions[0].output))
  expect(result).toMatchObject({ status: 'success' })
  return result.data
}

const questions = [
  '[free.base.RATE (free.base.rate) (free.shop.price 2) free.shop.OPENED free.shop.SIZES]',
  '(at "code" (describe-module "free.shop"))',
  '[(at "hash" (describe-module "free.base")) (at "hash" (describe-module "free.shop"))]',
  '(read free.shop.orders "first")',
  '(keys free.shop.orders)',
  '(select free.parts.stock (constantly true))',
  '(try "refused" (enforce-guard (at "free-guard" (read free.shop.orders "first"))))',
]
const answers = ({ ledger }: Devnet) => questions.map((question) => localValue(ledger, 0, question))

it('modules, tables, guards and pacts survive a restart and a rebuild of the state', async () => {
  const dataDir = await temporaryDirectory()
  const first = await startDevnet({ port: 0, dataDir, graph: 'singleton', pow: false })
  done(first, run(base('2.5')))
  done(first, run(shop))
  const begun = run('(free.shop.deliver "second" 4)')
  done(first, run('(free.shop.place "second" 4)'))
  expect(done(first, begun)).toBe('sent')
  // The shop was loaded with the first version of its base and keeps using it.
  done(first, run(base('10.0')))
  expect(localValue(first.ledger, 0, '[(free.base.rate) (free.shop.price 2)]')).toEqual([10, 5])
  const before = answers(first)
  await first.close()

  const second = await startDevnet({ port: 0, dataDir })
  expect(answers(second)).toEqual(before)
  await second.close()
  await rm(join(dataDir, 'state'), { recursive: true })
  const third = await startDevnet({ port: 0, dataDir })
  expect(answers(third)).toEqual(before)
  await third.close()

  // Read from disk, not from the execution above.
  const fourth = await startDevnet({ port: 0, dataDir })
  expect(done(fourth, next(begun.hash))).toMatch(/^10\.0 /)
  expect(localValue(fourth.ledger, 0, '(at "price" (read free.shop.orders "second"))')).toBe(10.125)
  expect(localValue(fourth.ledger, 0, '(at "n" (read free.parts.stock "second"))')).toEqual({ int: 8 })
  const { payload } = growCut(fourth, 0, { commands: [next(begun.hash)] })
  expect(JSON.parse(textOf(payload.transactions[0].output)).result).toMatchObject({ status: 'failure' })
  done(fourth, run('(free.shop.place "third" -1)'))
  const after = answers(fourth)
  expect(after).not.toEqual(before)
  await fourth.close()
  const fifth = await startDevnet({ port: 0, dataDir })
  expect(answers(fifth)).toEqual(after)
  await fifth.close()
  expect(await checkDataDirectory(dataDir)).toMatchObject({ blocks: 9, stateBlocks: 9, findings: [] })
})
