/** Lookups of the developer page: transactions and events in pages, modules and tables. */
import { describe, expect, it } from 'vitest'
import { MAX_SEARCHED } from '../../src/devnet/http/lookup/block-search.ts'
import { transactionPage } from '../../src/devnet/http/lookup/transactions.ts'
import {
  type EventPage,
  ListedEvent,
  ListedTransaction,
  ModuleDetails,
  type ModuleList,
  type RowPage,
  TransactionDetails,
  type TransactionPage,
} from '../../src/ground/schema/lookup.ts'
import { isFull } from '../rotation.ts'
import { exec, local, makeBlocks, ok, poll, send, startLedger, transfer } from './commands-common.ts'
import { allPages, control, expectAll, get, KEYSET, mined, place, refused, startShelf } from './lookup-common.ts'

describe('GET /devnet/transactions', () => {
  it('GET /devnet/transactions lists all transactions, the newest first, in pages, however many empty blocks lie between', async () => {
    const { peer } = await startLedger()
    const sent: string[] = []
    for (let round = 0; round < 3; round++) {
      const commands = Array.from({ length: 17 }, (_, i) => transfer('sender01', 1 + round * 20 + i))
      await mined(peer, commands)
      // The order in the block is that of the poll results' transaction ids.
      const results = await ok(
        poll(
          peer,
          commands.map(({ hash }) => hash),
        ),
      )
      sent.unshift(...commands.map(({ hash }) => hash).sort((a, b) => results[b].txId - results[a].txId))
      await makeBlocks(peer, { 0: 30, 1: 30 })
    }
    for (const limit of [1, 16, 17, 18, 200]) {
      const path = `/devnet/transactions?limit=${limit}`
      const { items, pages } = await allPages(peer, path, (page) => (page as TransactionPage).transactions)
      expect(items.map(({ requestKey }) => requestKey)).toEqual(sent)
      expectAll(ListedTransaction, items)
      expect(pages).toBe(limit === 1 ? sent.length : Math.ceil(sent.length / limit))
    }
    const other = await get<TransactionPage>(peer, '/devnet/transactions?chain=1')
    expect(other.transactions).toEqual([])
    expect(other.next).toBe(null)
  })

  it('GET /devnet/transactions ends a page after a maximum of blocks, and continues from there', async () => {
    const [count, most] = isFull ? [2600, MAX_SEARCHED] : [52, 100]
    const { peer, devnet } = await startLedger()
    const page = (query: Parameters<typeof transactionPage>[1]) => transactionPage(devnet, query, most)
    const command = transfer('sender01', 1)
    await mined(peer, [command])
    await makeBlocks(peer, { 0: count, 1: count })
    const first = page({})
    expect(first.transactions).toEqual([])
    expect(first.next).toEqual(expect.any(String))
    const second = page({ next: first.next ?? '' })
    expect(second.transactions.map(({ requestKey }) => requestKey)).toEqual([command.hash])
    expect(second.next).toBeNull()
    // Over HTTP a page has 5,000 blocks, and the cursor of any page leads on.
    expect(MAX_SEARCHED).toBe(5000)
    const whole = await get<TransactionPage>(peer, `/devnet/transactions?next=${first.next}`)
    expect(whole).toEqual(second)
    // Blocks of other chains cost next to nothing.
    const own = page({ chain: 0 })
    expect(own.transactions.map(({ requestKey }) => requestKey)).toEqual([command.hash])
  })

  it('GET /devnet/transactions marks transactions of orphans, and says why others failed', async () => {
    const { peer } = await startLedger()
    const bad = exec('(enforce false "on purpose")')
    await mined(peer, [bad])
    const [listed] = (await get<TransactionPage>(peer, '/devnet/transactions')).transactions
    const result = (await ok(poll(peer, [bad.hash])))[bad.hash]
    expect(listed).toMatchObject({ status: 'failure', fault: 'on purpose', gas: result.gas, sender: 'sender00' })
    expect(listed.isOrphan).toBe(false)
    expect(listed.height).toEqual(result.metaData.blockHeight)
    expect(listed.block).toEqual(result.metaData.blockHash)
    await control(peer.url, '/devnet/fork', { chain: 0, depth: 1 })
    const again = (await get<TransactionPage>(peer, '/devnet/transactions')).transactions
    expect(again.find(({ block }) => block === listed.block)?.isOrphan).toBe(true)
  })

  it('GET /devnet/transactions refuses cursors and chains that do not exist, with the reason', async () => {
    const { peer } = await startLedger()
    const unknown = 'A'.repeat(43)
    expect(await refused(peer, '/devnet/transactions?next=yesterday')).toEqual([
      400,
      'next: "yesterday" is not a cursor; take the text of `next` of the page before',
    ])
    expect(await refused(peer, `/devnet/transactions?next=${unknown}`)).toEqual([
      404,
      `next: the node has no block ${unknown}`,
    ])
    expect(await refused(peer, '/devnet/transactions?chain=2')).toEqual([404, 'there is no chain 2: chains are 0 to 1'])
    expect((await refused(peer, '/devnet/transactions?limit=0'))[0]).toBe(400)
    expect((await refused(peer, '/devnet/transactions?limit=201'))[0]).toBe(400)
  })
})

describe('GET /devnet/transaction', () => {
  it('GET /devnet/transaction finds a pending one, then its block with the result of poll, then its orphan', async () => {
    const { peer } = await startLedger()
    const command = transfer('sender01', 1)
    const path = `/devnet/transaction?requestKey=${command.hash}`
    expect(await refused(peer, path)).toEqual([
      404,
      `no block and no mempool of this network has a transaction ${command.hash}`,
    ])
    await send(peer, [command])
    const pending = await get<TransactionDetails>(peer, path)
    expect(pending).toEqual({ requestKey: command.hash, command, pendingOn: 0, blocks: [] })
    await makeBlocks(peer, { 0: 1 })
    const found = await get<TransactionDetails>(peer, path)
    expectAll(TransactionDetails, [pending, found])
    const result = (await ok(poll(peer, [command.hash])))[command.hash]
    expect(found.command).toEqual(command)
    expect(found.pendingOn).toBeNull()
    expect(found.blocks).toMatchObject([
      { chain: 0, index: 0, isOrphan: false, hash: result.metaData.blockHash, result },
    ])
    await control(peer.url, '/devnet/fork', { chain: 0, depth: 1 })
    const orphaned = await get<TransactionDetails>(peer, path)
    expect(orphaned.blocks.at(-1)).toMatchObject({ hash: result.metaData.blockHash, isOrphan: true })
    expect((await refused(peer, '/devnet/transaction?requestKey=abc'))[1]).toBe(
      'requestKey "abc": not 43 characters of base64url',
    )
  })
})

describe('GET /devnet/events', () => {
  const namesOf = ({ events }: EventPage) => events.map(({ module, name }) => `${module}.${name}`)

  it('GET /devnet/events has the events of results, by full name, by name, and by module', async () => {
    const { peer } = await startShelf()
    // 18 digits: a double would lose some.
    const price = '123456.123456789012'
    await mined(peer, [place('a', price), place('b')])
    const all = await get<EventPage>(peer, '/devnet/events')
    expectAll(ListedEvent, all.events)
    const placed = await get<EventPage>(peer, '/devnet/events?name=free.shelf.PLACED')
    expect(namesOf(placed)).toEqual(['free.shelf.PLACED', 'free.shelf.PLACED'])
    for (const event of all.events) {
      const { events } = (await ok(poll(peer, [event.requestKey])))[event.requestKey]
      const same = events.filter((each: { name: string }) => each.name === event.name)
      expect(same.map((each: { params: unknown }) => each.params)).toContainEqual(event.params)
    }
    expect((await peer.get('/devnet/events?name=PLACED')).body.toString()).toContain(`{"decimal":"${price}"}`)
    expect(namesOf(await get(peer, '/devnet/events?name=PLACED'))).toEqual(namesOf(placed))
    for (const name of ['free.shelf.*', 'free.*']) {
      expect(namesOf(await get(peer, `/devnet/events?name=${name}`))).toEqual(namesOf(placed))
    }
    for (const name of ['free.shelf', 'fre.*']) {
      expect(namesOf(await get(peer, `/devnet/events?name=${name}`))).toEqual([])
    }
    expect(namesOf(await get(peer, '/devnet/events?name=shelf.PLACED'))).toEqual([])
    const transfers = namesOf(await get(peer, '/devnet/events?name=coin.TRANSFER'))
    expect([...transfers, ...namesOf(placed)].toSorted()).toEqual(namesOf(all).toSorted())
    expect((await refused(peer, '/devnet/events?name=a.b.c.d'))[1]).toContain('expected an event such as coin.TRANSFER')
    expect((await refused(peer, '/devnet/events?order=best'))[0]).toBe(400)
  })

  it('GET /devnet/events continues with new blocks from the cursor of the oldest-first order', async () => {
    const { peer } = await startShelf()
    const path = '/devnet/events?name=PLACED&order=oldest&limit=2'
    await mined(peer, [place('a')])
    const titles = ({ events }: EventPage) => events.map(({ params }) => params[0])
    const first = await get<EventPage>(peer, path)
    expect(titles(first)).toEqual(['a'])
    const nothing = await get<EventPage>(peer, `${path}&next=${first.next}`)
    expect(titles(nothing)).toEqual([])
    expect(nothing.next).toEqual(first.next)
    for (const title of ['b', 'c', 'd']) await mined(peer, [place(title)])
    const second = await get<EventPage>(peer, `${path}&next=${first.next}`)
    expect(titles(second)).toEqual(['b', 'c'])
    expect(titles(await get(peer, `${path}&next=${second.next}`))).toEqual(['d'])
    const { items } = await allPages(peer, '/devnet/events?name=PLACED&limit=1', (page) => titles(page as EventPage))
    expect(items).toEqual(['d', 'c', 'b', 'a'])
  })

  it('GET /devnet/events has only those with an account among their parameters, if the query names it', async () => {
    const { peer } = await startLedger()
    await mined(peer, [transfer('sender01', 1), transfer('sender02', 2)])
    const events = async (query: string) => {
      const page = await get<EventPage>(peer, `/devnet/events?name=TRANSFER&${query}`)
      return page.events.map(({ params }) => params[1])
    }
    expect(await events('account=sender01')).toEqual(['sender01'])
    expect(await events('account=sender0')).toEqual([])
    expect(await events('account=sender00')).toHaveLength(4)
  })

  it('GET /devnet/events leaves out orphans and other heights unless the query names them', async () => {
    const { peer } = await startShelf()
    await mined(peer, [place('a')])
    const [kept] = (await get<EventPage>(peer, '/devnet/events?name=PLACED')).events
    const above = `/devnet/events?name=PLACED&minheight=${kept.height + 1}`
    expect((await get<EventPage>(peer, above)).events).toEqual([])
    expect((await get<EventPage>(peer, `/devnet/events?name=PLACED&maxheight=${kept.height - 1}`)).events).toEqual([])
    expect(
      (await get<EventPage>(peer, `/devnet/events?name=PLACED&minheight=${kept.height}&maxheight=${kept.height}`))
        .events,
    ).toEqual([kept])
    await control(peer.url, '/devnet/fork', { chain: 0, depth: 1 })
    const on = (await get<EventPage>(peer, '/devnet/events?name=PLACED')).events
    expect(on.filter(({ block }) => block === kept.block)).toEqual([])
    const both = (await get<EventPage>(peer, '/devnet/events?name=PLACED&orphans=true')).events
    expect(both).toContainEqual({ ...kept, isOrphan: true })
  })
})

describe('GET /devnet/modules, module and table', () => {
  it('GET /devnet/modules lists the modules of a chain as (list-modules) does', async () => {
    const { peer } = await startShelf()
    const { modules, note, height } = await get<ModuleList>(peer, '/devnet/modules?chain=0')
    const { result, metaData } = await ok(local(peer, exec('(list-modules)', { gasLimit: 100_000 })))
    expect(modules.map(({ name }) => name)).toEqual(result.data.toSorted())
    expect(modules.map(({ name }) => name)).toContain('free.shelf')
    expect(note).toBe(null)
    expect(modules.every(({ isFetched }) => isFetched)).toBe(true)
    expect(height).toEqual(metaData.blockHeight - 1)
    expect((await get<ModuleList>(peer, '/devnet/modules?chain=1')).modules.map(({ name }) => name)).not.toContain(
      'free.shelf',
    )
  })

  it('GET /devnet/module lists all members of a module with docs, types and marks', async () => {
    const { peer } = await startShelf()
    const module = await get<ModuleDetails>(peer, '/devnet/module?name=free.shelf')
    expectAll(ModuleDetails, [module])
    const { result } = await ok(local(peer, exec('(describe-module "free.shelf")', { gasLimit: 100_000 })))
    expect(module.hash).toEqual(result.data.hash)
    expect(module.code).toEqual(result.data.code)
    expect(module.txHash).toEqual(result.data.tx_hash)
    expect(module).toMatchObject({ kind: 'module', doc: 'Keeps books.', governance: 'capability GOVERNANCE' })
    expect(module.functions).toEqual([
      {
        name: 'rest',
        doc: null,
        params: [
          { name: 'managed', type: 'integer' },
          { name: 'requested', type: 'integer' },
        ],
        result: 'integer',
      },
      {
        name: 'place',
        doc: 'Puts a book on the shelf.',
        params: [
          { name: 'title', type: 'string' },
          { name: 'price', type: 'decimal' },
          { name: 'owner', type: 'guard' },
        ],
        result: 'string',
      },
    ])
    expect(module.pacts.map(({ name }) => name)).toEqual(['lend'])
    expect(module.capabilities.map(({ name, mark }) => [name, mark])).toEqual([
      ['GOVERNANCE', null],
      ['PLACED', '@event'],
      ['LEND', '@managed days rest'],
    ])
    expect(module.schemas[0]).toMatchObject({
      doc: 'What a book is.',
      fields: [{}, {}, { name: 'tags', type: '[string]' }],
    })
    expect(module.tables).toEqual([
      { name: 'books', doc: 'All books.', schema: 'book', isCreated: true },
      { name: 'never', doc: null, schema: 'book', isCreated: false },
    ])
    expect(module.constants).toEqual([{ name: 'MOST', doc: 'Most books.', type: 'integer', value: '3' }])
    expect(await get(peer, '/devnet/module?name=fungible-v2')).toMatchObject({ kind: 'interface', governance: null })
    expect(await refused(peer, '/devnet/module?name=free.none')).toEqual([404, 'chain 0 has no module "free.none"'])
  })

  it('GET /devnet/table pages the rows of a table by key, searches keys, and reads one', async () => {
    const { peer } = await startShelf()
    const titles = ['b', 'a', 'ab', '', '<i>']
    await mined(
      peer,
      titles.map((title, i) => place(title, `${i}.25`)),
    )
    const path = '/devnet/table?name=free.shelf.books'
    const page = await get<RowPage>(peer, path)
    expect(page).toMatchObject({ table: 'free.shelf.books', total: 5, next: null, note: null })
    expect(page.fields?.map(({ name, type }) => [name, type])).toEqual([
      ['price', 'decimal'],
      ['owner', 'guard'],
      ['tags', '[string]'],
    ])
    expect(page.rows.map(({ key }) => key)).toEqual(titles.toSorted())
    expect(page.rows.find(({ key }) => key === 'ab')?.row).toEqual({ price: 2.25, owner: KEYSET, tags: [] })
    for (const limit of [1, 2, 4, 5]) {
      const { items } = await allPages(peer, `${path}&limit=${limit}`, (each) => (each as RowPage).rows)
      expect(items).toEqual(page.rows)
    }
    const found = await get<RowPage>(peer, `${path}&search=b`)
    expect(found.rows.map(({ key }) => key)).toEqual(['ab', 'b'])
    expect(found.total).toBe(2)
    expect((await get<RowPage>(peer, `${path}&key=`)).rows.map(({ key }) => key)).toEqual([''])
    expect((await get<RowPage>(peer, `${path}&key=c`)).rows).toEqual([])
    expect((await refused(peer, '/devnet/table?name=books'))[1]).toContain('expected module.table')
    expect(await refused(peer, '/devnet/table?name=free.shelf.place')).toEqual([
      404,
      'module free.shelf of chain 0 has no table "place"',
    ])
  })
})
