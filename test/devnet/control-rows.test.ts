/** Rows that the owner of a node writes: by the schema of their table, over HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { startFork, startRemote } from '../copy/network.ts'
import { sharedWatched } from './arrival.ts'
import { exec, makeBlocks, ok, poll, send } from './commands-common.ts'
import { order, refusal } from './control-common.ts'
import { localValue } from './local.ts'
import { Peer } from './request.ts'

const KEYS = { pred: 'keys-all', keys: ['ab'.repeat(32)] }
const MODULE = `(namespace "free")
(module box G (defcap G () true)
  (defschema inner n:integer note:string)
  (defschema row count:integer price:decimal at:time guard:guard tags:[string] in:object{inner} any keys:[string] pred:string)
  (deftable rows:{row}) (deftable unused:{row})
  (defschema pair keys:[string] pred:string) (defschema holder p:object{pair}) (deftable pairs:{holder})
  (defun get (key:string) (read rows key)))
(create-table rows) (create-table pairs)`
const ROW = {
  ...{ count: 7, price: 1.25, at: '2027-01-02T03:04:05.678901Z', guard: KEYS, tags: ['a', 'b'] },
  ...{ in: { n: 3, note: 'x' }, any: 'text', keys: ['k'], pred: 'keys-all' },
}

/** A network with the module. */
const ledger = sharedWatched(async ({ peer }) => {
  const deploy = exec(MODULE, { gasLimit: 60_000 })
  await ok(send(peer, [deploy]))
  await makeBlocks(peer, { 0: 1 })
  const results = await ok(poll(peer, [deploy.hash]))
  expect(results[deploy.hash].result.status).toBe('success')
})

async function startBox() {
  const started = await ledger()
  const { control, devnet } = started
  const write = (rows: unknown, table = 'free.box.rows') => order(control, '/devnet/rows', { chain: 0, table, rows })
  const value = (code: string) => localValue(devnet.ledger, 0, code)
  return { ...started, write, value }
}

describe('/devnet/rows', () => {
  it('/devnet/rows writes rows in a block that it makes, each field by the type of the schema', async () => {
    const { write, value, control, made } = await startBox()
    const before = made().length
    const { written, height, hash, requestKey } = await write({ one: ROW, 'two "quoted"': { ...ROW, count: -1 } })
    expect(written).toBe(2)
    expect(height).toBe(3)
    expect(
      made()
        .slice(before)
        .filter(({ chain }) => chain === 0),
    ).toEqual([expect.objectContaining({ requestKeys: [requestKey] })])
    const check = (key: string, count: number) =>
      value(`(let ((r (free.box.get ${JSON.stringify(key)}))) [
        (= ${count} (at "count" r)) (= 1.25 (at "price" r)) (= ["a" "b"] (at "tags" r))
        (= (parse-time "%Y-%m-%dT%H:%M:%S.%vZ" "2027-01-02T03:04:05.678901Z") (at "at" r))
        (= (at "n" (at "in" r)) 3) (= "text" (at "any" r)) (= ["k"] (at "keys" r)) (= "keys-all" (at "pred" r))])`)
    expect(check('one', 7)).toEqual(Array(8).fill(true))
    expect(check('two "quoted"', -1)).toEqual(Array(8).fill(true))
    const traced = await order(control, '/devnet/trace', { requestKey })
    expect(traced.block).toMatchObject({ height, hash })
  })

  it('/devnet/rows keeps the fields of a row that the order leaves out', async () => {
    const { write, value } = await startBox()
    await write({ one: ROW })
    await write({ one: { count: { int: '12345678901234567890123' } }, two: { ...ROW, price: { decimal: '0.1' } } })
    expect(value('(= 12345678901234567890123 (at "count" (free.box.get "one")))')).toBe(true)
    expect(value('(= 1.25 (at "price" (free.box.get "one")))')).toBe(true)
    expect(value('(= 0.1 (at "price" (free.box.get "two")))')).toBe(true)
    // The network's own JSON would lose whole milliseconds.
    await write({ one: { at: '2027-01-02T03:04:05.678000Z' } })
    const read = '(format-time "%Y-%m-%dT%H:%M:%S.%vZ" (at "at" (free.box.get "one")))'
    expect(value(read)).toBe('2027-01-02T03:04:05.678000Z')
  })

  it('/devnet/rows sets balances, with a guard that then holds', async () => {
    const { control, value } = await startBox()
    const account = `k:${KEYS.keys[0]}`
    const rows = { [account]: { balance: 12.5, guard: KEYS }, sender01: { balance: 3 } }
    await order(control, '/devnet/rows', { chain: 0, table: 'coin.coin-table', rows })
    expect(value(`(coin.get-balance "${account}")`)).toBe(12.5)
    expect(value('(= 3.0 (coin.get-balance "sender01"))')).toBe(true)
    expect(value(`(at "guard" (coin.details "${account}"))`)).toMatchObject(KEYS)
  })

  it('/devnet/rows refuses an object from which JSON would make a guard', async () => {
    const { control } = await startBox()
    const rows = { a: { p: { keys: ['k'], pred: 'keys-all' } } }
    const refused = await refusal(control, '/devnet/rows', { chain: 0, table: 'free.box.pairs', rows })
    expect(refused).toEqual([400, expect.stringContaining('/rows/a/p: an object of these fields means another kind')])
  })

  it('/devnet/rows says that a table was not created', async () => {
    const { control } = await startBox()
    const refused = await refusal(control, '/devnet/rows', { chain: 0, table: 'free.box.unused', rows: { a: ROW } })
    expect(refused).toEqual([409, expect.stringMatching(/^nothing was written: [^{]*free\.box_unused.* not found/)])
  })

  it('/devnet/rows writes rows of a forked network', async () => {
    const remote = await startRemote()
    const { devnet } = await startFork(remote)
    const control = new Peer(devnet.url)
    onTestFinished(() => control.close())
    const rows = { alice: { balance: 5, notes: [] } }
    await order(control, '/devnet/rows', { chain: 0, table: 'free.fork-token.accounts', rows })
    const left = (code: string) => order(control, '/devnet/run', { chain: 0, code })
    expect((await left('(free.fork-token.balance "alice")')).result.data).toBe(5)
    expect((await left('(free.fork-token.balance "bob")')).result.data).toBe(100.5)
  })

  const FIELDS = 'rows of free.box.rows have count:integer price:decimal at:time guard:guard tags:[string]'
  it('/devnet/rows refuses rows that do not fit, and writes none of the others', async () => {
    const { control, value } = await startBox()
    const cases: [unknown, string][] = [
      [{ ...ROW, count: 1.5 }, '/rows/b/count: 1.5 is not of type integer'],
      [{ ...ROW, count: 'x' }, '/rows/b/count: "x" is not of type integer'],
      [{ ...ROW, at: 'noon' }, '/rows/b/at: "noon" is not of type time, such as "2027-01-01T00:00:00Z"'],
      [{ ...ROW, guard: 'sender00' }, '/rows/b/guard: "sender00" is not of type guard, such as {"pred":"keys-all"'],
      [{ ...ROW, tags: ['a', 2] }, '/rows/b/tags/1: 2 is not of type string'],
      [{ ...ROW, in: { n: 1.5, note: '' } }, '/rows/b/in/n: 1.5 is not of type integer'],
      [{ ...ROW, in: { n: 1 } }, '/rows/b/in: {"n":1} is not of type object{inner}'],
      [{ ...ROW, price: { decimal: '1'.repeat(400_000) } }, '/rows/b/price: '],
      [{ ...ROW, color: 'red' }, `/rows/b/color: no such field; ${FIELDS}`],
      [
        { count: 1 },
        `/rows/b: a new row needs all fields, and has no price, at, guard, tags, in, any, keys, pred; ${FIELDS}`,
      ],
    ]
    for (const [row, text] of cases) {
      const rows = { a: ROW, b: row }
      const refused = await refusal(control, '/devnet/rows', { chain: 0, table: 'free.box.rows', rows })
      expect(refused).toEqual([400, expect.stringContaining(text)])
    }
    expect(value('(try false (free.box.get "a"))')).toBe(false)
  })

  it.each([
    [{ chain: 9 }, 'there is no chain 9'],
    [{ table: 'rows' }, '/table: "rows": expected MODULE.TABLE, such as coin.coin-table'],
    [{ table: 'free.none.rows' }, '/table: the chain has no module free.none'],
    [{ table: 'coin.rows' }, '/table: coin has no table rows: it has coin-table, allocation-table'],
    [{ table: 'ns.rows' }, '/table: ns has no table rows: it has '],
    [{ rows: {} }, 'rows'],
    [{ rows: { a: 1 } }, '/rows/a'],
  ])('/devnet/rows refuses %j: %s', async (change, text) => {
    const { control } = await ledger()
    const body = { chain: 0, table: 'coin.coin-table', rows: { sender00: { balance: 1 } }, ...change }
    expect(await refusal(control, '/devnet/rows', body)).toEqual([400, expect.stringContaining(text)])
  })

  it('/devnet/rows says that too many rows do not fit into a block', async () => {
    const { control } = await startBox()
    const wide = { ...ROW, any: 'x'.repeat(10_000) }
    const rows = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`row${i}`, wide]))
    const refused = await refusal(control, '/devnet/rows', { chain: 0, table: 'free.box.rows', rows })
    expect(refused).toEqual([409, expect.stringContaining('write fewer rows in one request')])
  })
})
