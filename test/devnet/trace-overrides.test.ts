/** `overrides` of `POST /devnet/trace`: rows, a time and signers that a command finds instead of those of its chain. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Change, funded, keyPair } from './command.ts'
import { exec, local, makeBlocks, ok, send, startLedger } from './commands-common.ts'
import { order, refusal } from './control-common.ts'
import { Peer } from './request.ts'

const MODULE = `(namespace "free")
(module shelf G
  (defcap G () true)
  (defschema item price:decimal count:integer until:time owner:guard tags:[string])
  (deftable items:{item})
  (deftable never:{item})
  (defschema mixed x y:[bool])
  (deftable loose:{mixed})
  (defun get (key:string) (read items key))
  (defun any (key:string) (read loose key)))
(create-table items)
(create-table loose)`

const ITEM = {
  price: 1.25,
  count: 3,
  until: '2027-01-01T00:00:00Z',
  owner: { keys: [funded.publicKey], pred: 'keys-all' },
  tags: ['a'],
}

/** A node with the module. */
async function shelf() {
  const { peer } = await startLedger({ graph: 'singleton' })
  const plain = new Peer(peer.url)
  onTestFinished(() => plain.close())
  const deploy = exec(MODULE, { gasLimit: 60_000 })
  await ok(send(peer, [deploy]))
  await makeBlocks(peer, { 0: 1 })
  const result = async (code: string, overrides: Change, cmd: unknown = exec(code, { sender: '' })) => {
    return (await order(plain, '/devnet/trace', { cmd, overrides })).result
  }
  const refused = (overrides: Change, body: Change = { cmd: exec('1') }) => {
    return refusal(plain, '/devnet/trace', { ...body, overrides })
  }
  return { peer, result, refused }
}

const items = (row: Change, key = 'tea') => ({ rows: { 'free.shelf.items': { [key]: row } } })

describe('overrides', () => {
  it('overrides give a command other rows, whole or some of their fields, and write none', async () => {
    const { peer, result } = await shelf()
    const { data } = await result('(free.shelf.get "tea")', items(ITEM))
    expect(data).toEqual({ ...ITEM, count: { int: 3 }, until: { time: ITEM.until } })
    const rich = { rows: { 'coin.coin-table': { sender00: { balance: 7.5 } } } }
    expect(await result('(coin.get-balance "sender00")', rich)).toEqual({ status: 'success', data: 7.5 })
    const code = '(coin.transfer "sender00" "sender01" 8.0)'
    const poor = { rows: { 'coin.coin-table': { sender00: { balance: { decimal: '7.500000000001' } } } } }
    const moved = exec(
      code,
      {},
      {
        signers: [
          {
            pubKey: funded.publicKey,
            clist: [
              { name: 'coin.GAS', args: [] },
              { name: 'coin.TRANSFER', args: ['sender00', 'sender01', 8] },
            ],
          },
        ],
      },
    )
    expect(await result(code, poor, moved)).toMatchObject({
      status: 'failure',
      error: { message: 'Insufficient funds' },
    })
    expect(await result(code, {}, moved)).toMatchObject({ status: 'success' })
    const loose = { rows: { 'free.shelf.loose': { a: { x: 1, y: [true] } } } }
    expect((await result('(free.shelf.any "a")', loose)).data).toEqual({ x: 1, y: [true] })
    expect((await result('(free.shelf.get "tea")', {})).error.message).toMatch(/^No value found in table/)
    const balance = await ok(local(peer, exec('(> (coin.get-balance "sender00") 1000.0)')))
    expect(balance.result.data).toBe(true)
  })

  it('overrides are listed by select and keys as rows of the chain are', async () => {
    const { result } = await shelf()
    const rows = { rows: { 'free.shelf.items': { tea: ITEM, ink: { ...ITEM, price: 9 } } } }
    expect(
      (await result('(keys free.shelf.items)', rows, exec('(keys free.shelf.items)', { sender: '', gasLimit: 60_000 })))
        .data,
    ).toEqual(['ink', 'tea'])
  })

  it('overrides set the time that the code sees', async () => {
    const { result } = await shelf()
    const code = '(at "block-time" (chain-data))'
    expect((await result(code, { time: '2031-02-03T04:05:06Z' })).data).toEqual({ time: '2031-02-03T04:05:06Z' })
    expect((await result(code, { time: '2031-02-03T04:05:06.000789Z' })).data).toEqual({
      timep: '2031-02-03T04:05:06.000789Z',
    })
    const now = (await result(code, {})).data
    expect(JSON.stringify(now)).not.toMatch(/"2031-/)
  })

  it('overrides add signers, whose signatures nobody checks', async () => {
    const { result } = await shelf()
    const code = '(enforce-guard (at "guard" (coin.details "sender00")))'
    const unsigned = exec(code, { sender: '' }, {}, [])
    const other = { keys: [keyPair().publicKey] }
    expect((await result(code, other, unsigned)).error.message).toMatch(/^Keyset failure/)
    expect(await result(code, { keys: [funded.publicKey] }, unsigned)).toEqual({ status: 'success', data: true })
  })

  it('POST /devnet/trace names the wrong field of an override', async () => {
    const { refused } = await shelf()
    for (const [overrides, text] of [
      [{ rows: { nothing: { a: {} } } }, '/rows: "nothing": expected MODULE.TABLE, such as coin.coin-table'],
      [{ rows: { 'free.none.items': { a: {} } } }, '/rows: the chain has no module free.none'],
      [{ rows: { 'free.shelf.item': { a: {} } } }, '/rows: free.shelf has no table item: it has items, never, loose'],
      [{ rows: { 'free.shelf.never': { a: ITEM } } }, '/rows: free.shelf.never was not created'],
      [
        items({ price: 1 }),
        '/rows/free.shelf.items/tea: a new row needs all fields, and has no count, until, owner, tags',
      ],
      [
        items({ ...ITEM, cost: 1 }),
        '/rows/free.shelf.items/tea/cost: no such field; rows of free.shelf.items have price:',
      ],
      [items({ ...ITEM, price: '1' }), '/tea/price: "1" is not of type decimal'],
      [items({ ...ITEM, count: 1.5 }), '/tea/count: 1.5 is not of type integer'],
      [items({ ...ITEM, until: 'soon' }), '/tea/until: "soon" is not of type time, such as "2027-01-01T00:00:00Z"'],
      [items({ ...ITEM, owner: 'me' }), '/tea/owner: "me" is not of type guard, such as {"pred":"keys-all"'],
      [items({ ...ITEM, tags: [1] }), '/tea/tags/0: 1 is not of type string'],
      [{ time: 'tomorrow' }, '/time: "tomorrow" is not a time such as 2027-01-01T00:00:00Z'],
    ] as const) {
      const [status, message] = await refused(overrides)
      expect(status).toBe(400)
      expect(message).toMatch(/^\/overrides\//)
      expect(message).toContain(text)
    }
  })

  it('overrides go with a command, not with a transaction of a block', async () => {
    const { refused } = await shelf()
    expect(await refused({}, { requestKey: 'A'.repeat(43) })).toEqual([
      400,
      'overrides go with cmd: a transaction of a block has run',
    ])
    expect((await refused({ keys: ['short'] }))[0]).toBe(400)
    expect((await refused({ colour: 'red' }))[0]).toBe(400)
  })
})
