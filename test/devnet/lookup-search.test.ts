/** Lookups by name: accounts, what a text names, transactions by sender and state, and the newest module. */
import { describe, expect, it } from 'vitest'
import {
  type AccountDetails,
  type ModuleList,
  SearchAnswer,
  type TransactionPage,
} from '../../src/ground/schema/lookup.ts'
import { funded, signed } from './command.ts'
import { exec, send, startLedger, transfer } from './commands-common.ts'
import { jsonOf } from './common.ts'
import { control, expectAll, get, mined, refused, SHELF, startShelf, withData } from './lookup-common.ts'
import type { Peer } from './request.ts'

describe('GET /devnet/transactions with filters', () => {
  const keysOf = (found: readonly { readonly requestKey: string }[]) => found.map(({ requestKey }) => requestKey).sort()
  const listed = async (peer: Peer, query: string) =>
    keysOf((await get<TransactionPage>(peer, `/devnet/transactions?${query}`)).transactions)

  it('GET /devnet/transactions lists those of a sender, of a result, the orphaned ones, and the pending ones', async () => {
    const { peer } = await startLedger()
    const [good, bad] = [transfer('sender01', 1), exec('(enforce false "on purpose")')]
    const waiting = transfer('sender01', 2)
    await mined(peer, [good, bad])
    expect(await listed(peer, 'status=success')).toEqual([good.hash])
    expect(await listed(peer, 'status=failure')).toEqual([bad.hash])
    expect(await listed(peer, 'sender=sender00')).toEqual([good.hash, bad.hash].sort())
    expect(await listed(peer, 'sender=sender01')).toEqual([])
    await send(peer, [waiting])
    const page = await get<TransactionPage>(peer, '/devnet/transactions?status=pending')
    expect(page).toMatchObject({ transactions: [], next: null })
    expect(page.pending).toMatchObject([{ key: waiting.hash, chain: 0, sender: 'sender00' }])
    for (const query of ['chain=1', 'sender=sender01']) {
      const other = await get<TransactionPage>(peer, `/devnet/transactions?status=pending&${query}`)
      expect(other.pending, query).toEqual([])
    }
    await control(peer.url, '/devnet/fork', { chain: 0, depth: 1 })
    expect(await listed(peer, 'status=orphaned')).toEqual([good.hash, bad.hash].sort())
    expect((await refused(peer, '/devnet/transactions?status=done'))[0]).toBe(400)
  })
})

describe('GET /devnet/account', () => {
  it('GET /devnet/account has the balance and the guard of an account on each chain, and null where it is not', async () => {
    const { peer } = await startLedger()
    const account = `k:${'ab'.repeat(32)}`
    const guard = { pred: 'keys-all', keys: ['ab'.repeat(32)] }
    const before = await get<AccountDetails>(peer, `/devnet/account?account=${account}`)
    expect(before.chains.map(({ balance, guard: its }) => [balance, its])).toEqual([
      [null, null],
      [null, null],
    ])
    const code = `(coin.transfer-create "sender00" "${account}" (read-keyset "k") 1.5)`
    const capability = { name: 'coin.TRANSFER', args: ['sender00', account, { decimal: '1.5' }] }
    const clist = [{ name: 'coin.GAS', args: [] }, capability]
    const signers = [{ pubKey: funded.publicKey, clist }]
    const create = signed({}, { payload: { exec: { code, data: { k: guard } } }, signers })
    await mined(peer, [create])
    const { chains } = await get<AccountDetails>(peer, `/devnet/account?account=${account}`)
    expect(chains).toEqual([
      { chain: 0, height: 2, balance: '1.5', guard },
      { chain: 1, height: 1, balance: null, guard: null },
    ])
  })
})

describe('GET /devnet/search', () => {
  const search = (peer: Peer, text: string) =>
    get<SearchAnswer>(peer, `/devnet/search?text=${encodeURIComponent(text)}`)
  const block = (name: string, chain: number, height: number) => ({ kind: 'block', name, chain, height })
  const account = (name: string) => ({ kind: 'account', name, chain: null, height: null })

  it('GET /devnet/search finds transactions, blocks, accounts and modules, also by their short forms', async () => {
    const { peer } = await startShelf()
    const [mine, waiting] = [transfer('sender01', 1), transfer('sender01', 2)]
    await mined(peer, [mine])
    await send(peer, [waiting])
    const hits = async (text: string) => (await search(peer, text)).hits
    const transaction = (name: string) => ({ kind: 'transaction', name, chain: 0, height: null })
    for (const { hash } of [mine, waiting]) {
      for (const text of [hash, ` ${hash} `, hash.slice(0, 8), `${hash.slice(0, 8)}…`]) {
        expect(await hits(text), text).toEqual([transaction(hash)])
      }
    }
    const { hashes } = jsonOf(await peer.get('/chainweb/0.0/development/cut')) as {
      hashes: Record<string, { hash: string }>
    }
    expect(await hits(hashes[0].hash)).toEqual([block(hashes[0].hash, 0, 3)])
    expect(await hits(hashes[0].hash.slice(0, 7))).toEqual([block(hashes[0].hash, 0, 3)])
    expect(await hits('3')).toEqual([block(hashes[0].hash, 0, 3)])
    expect((await hits('1')).map(({ chain, height }) => [chain, height])).toEqual([
      [0, 1],
      [1, 1],
    ])
    expect(await hits('4')).toEqual([])
    expect(await hits('sender00')).toEqual([account('sender00')])
    expect(await hits('sende…r03')).toEqual([account('sender03')])
    expect(await hits('coin')).toEqual([{ kind: 'module', name: 'coin', chain: 0, height: null }])
    expect(await hits('free.shelf')).toEqual([{ kind: 'module', name: 'free.shelf', chain: 0, height: null }])
    expectAll(SearchAnswer, [await search(peer, '1'), await search(peer, 'shelf')])
  })

  it('GET /devnet/search guesses at a misspelled name, and finds nothing for other texts', async () => {
    const { peer } = await startShelf()
    const guesses = async (text: string) => {
      const { hits, guesses: close } = await search(peer, text)
      expect(hits).toEqual([])
      return close.map(({ name }) => name)
    }
    expect(await guesses('shelf')).toEqual(['free.shelf'])
    expect(await guesses('free.shlef')).toEqual(['free.shelf'])
    expect((await guesses('sender0x'))[0]).toMatch(/^sender0\d$/)
    expect(await guesses('nothing-like-it')).toEqual([])
    expect(await guesses('A'.repeat(43))).toEqual([])
    expect(await guesses('…')).toEqual([])
    expect(await guesses('')).toEqual([])
  })
})

describe('GET /devnet/modules', () => {
  it('GET /devnet/modules names the module that was deployed last on any chain, as long as its block is on it', async () => {
    const { peer } = await startLedger()
    const newest = async () => (await get<ModuleList>(peer, '/devnet/modules?chain=1')).newest
    expect(await newest()).toBe(null)
    await mined(peer, [withData(SHELF)])
    expect(await newest()).toEqual({ chain: 0, name: 'free.shelf' })
    await control(peer.url, '/devnet/snapshot', {})
    await mined(peer, [withData('(namespace "free") (module later G (defcap G () true) (defun f () 1))')])
    expect(await newest()).toEqual({ chain: 0, name: 'free.later' })
    await control(peer.url, '/devnet/revert', { id: 1 })
    expect(await newest()).toEqual({ chain: 0, name: 'free.shelf' })
  })
})
