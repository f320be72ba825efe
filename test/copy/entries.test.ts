/** Entries of a copied chain: the lines of its file, and what a run reads from them without a node. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { sealOf } from '../../src/ground/base/seal.ts'
import { blake2b256 } from '../../src/ground/chain/blake2b.ts'
import type { Domain } from '../../src/language/contracts/machine/state.ts'
import { MissingEntry } from '../../src/language/contracts/machine/state.ts'
import { encodeStoredValue } from '../../src/language/contracts/values/keep.ts'
import { Guard } from '../../src/language/contracts/values/value.ts'
import { CopyCache } from '../../src/language/copy/cache.ts'
import { domainOf } from '../../src/language/copy/domains.ts'
import { entriesIn } from '../../src/language/copy/entries.ts'
import { PinnedState } from '../../src/language/copy/pinned-state.ts'
import { folder } from './network.ts'

const block = { network: 'n', chain: 3, height: 7, hash: 'A'.repeat(43) }
const fileIn = (cacheFolder: string) => join(cacheFolder, 'n', `3-${block.hash}.jsonl`)
const is = { kind: 'keyset', keys: ['k'], predicate: 'keys-all' } as const
const guard = { guard: is }

const CODE =
  '(module m G (defcap G () true) (defconst C 1) (defschema s x:decimal) (deftable t:{s}) (deftable all:{s}) (deftable none:{s}))'
const PACT = '(module p G (defcap G () true) (defpact f (a) (step a) (step a)))'
const CONTINUATION = '{"pactId":"begun","step":0,"continuation":{"def":"p.f","args":["a"]},"yield":null,"nested":{}}'

/** A line for each kind of entries. Files of users have these places. */
const LINES = [
  '["header","AAAA"',
  '["payload",{"transactions":[],"minerData":"bQ","coinbase":"Yw"}',
  '["modules",["m","p"]',
  `["module:m",${JSON.stringify({ code: CODE, hash: `${'h'.repeat(42)}A`, txHash: 'x' })}`,
  '["constants:m",[["C",{"int":"1"}]]',
  '["origin:m",{"line":2,"column":1,"imports":"(use p)"}',
  `["module:p",${JSON.stringify({ code: PACT, hash: `${'i'.repeat(42)}A`, txHash: 'y' })}`,
  '["constants:p",[]',
  '["table:m.none",false',
  '["keys:m.all",["a","b"]',
  '["keys:m.t",{"tooMany":"9"}',
  '["row:m.t|a",{"object":[["x",{"decimal":["1",1]}]]}',
  '["row:m.t|b",false',
  `["keyset:ks",${JSON.stringify(guard)}`,
  '["keyset:other",false',
  `["namespace:free",[${JSON.stringify(guard)},${JSON.stringify(guard)}]`,
  '["pact:done",null',
  '["pact:unknown",false',
  `["pact:begun",${JSON.stringify({ continuation: CONTINUATION })}`,
  '["pact:untold",{"step":2,"keys":["key"]}',
  '["counter:tx",42',
  '["header:hash",5',
  '["header:orphan",false',
  '["ancestor:6","BBBB"',
  '["bytes:hash","CCCC"',
  '["result:key","{}"',
  '["result:above",false',
]
const FIRST = `{"fork":2,"network":"n","chain":3,"height":7,"hash":"${block.hash}"}`
const TEXT = [FIRST, ...LINES.map((line) => `${line},"${sealOf(blake2b256, block.hash, line)}"]`), ''].join('\n')

/** A folder with the file of the chain. */
function cachedFolder(): string {
  const cacheFolder = folder()
  mkdirSync(dirname(fileIn(cacheFolder)), { recursive: true })
  writeFileSync(fileIn(cacheFolder), TEXT)
  return cacheFolder
}

it('each kind of entries has its place in the file, and the same bytes whoever writes them', () => {
  const read = entriesIn(new CopyCache(cachedFolder(), block))
  const cacheFolder = folder()
  const written = entriesIn(new CopyCache(cacheFolder, block))
  written.header.put(read.header.expect())
  written.payload.put(read.payload.expect())
  written.moduleNames.put(read.moduleNames.expect())
  written.modules.put('m', read.modules.expect('m'))
  written.constants.put('m', read.constants.expect('m'))
  written.origins.put('m', read.origins.expect('m'))
  written.modules.put('p', read.modules.expect('p'))
  written.constants.put('p', read.constants.expect('p'))
  written.absentTables.put('m.none', read.absentTables.expect('m.none'))
  for (const table of ['m.all', 'm.t']) written.tableKeys.put(table, read.tableKeys.expect(table))
  for (const key of ['a', 'b']) written.rows('m.t').put(key, read.rows('m.t').expect(key))
  for (const name of ['ks', 'other']) written.keysets.put(name, read.keysets.expect(name))
  written.namespaces.put('free', read.namespaces.expect('free'))
  for (const id of ['done', 'unknown', 'begun', 'untold']) written.pacts.put(id, read.pacts.expect(id))
  written.counters.put('tx', read.counters.expect('tx'))
  for (const hash of ['hash', 'orphan']) written.headers.put(hash, read.headers.expect(hash))
  written.branch.put('6', read.branch.expect('6'))
  written.headerBytes.put('hash', read.headerBytes.expect('hash'))
  for (const key of ['key', 'above']) written.results.put(key, read.results.expect(key))
  written.save()
  expect(readFileSync(fileIn(cacheFolder), 'utf8')).toBe(TEXT)
  expect(() => read.keysets.expect('nobody')).toThrow('keyset:nobody is not cached')
  expect(() => entriesIn(new CopyCache(null, block)).header.expect()).toThrow('header is not cached')
})

it('a run reads what the file has, and misses all else', () => {
  const state = new PinnedState(entriesIn(new CopyCache(cachedFolder(), block)))
  const keyset = new Guard(is)
  expect(state.keys('modules')).toEqual(['m', 'p'])
  expect(state.get('modules', 'm')).toMatchObject({ name: 'm', hash: `${'h'.repeat(42)}A` })
  expect(state.get('modules', 'unknown')).toBeUndefined()
  expect(['m.t', 'm.none', 'm.unknown', 'x.t'].map((table) => state.get('tables', table))).toEqual([
    true,
    undefined,
    undefined,
    undefined,
  ])
  const row = state.get<never>('table:m.t', 'a') ?? expect.fail('the row is cached')
  expect(encodeStoredValue(row)).toEqual({ object: [['x', { decimal: ['1', 1] }]] })
  expect(state.get('table:m.t', 'b')).toBeUndefined()
  expect(state.get('table:m.all', 'c')).toBeUndefined()
  expect(state.get('table:m.none', 'a')).toBeUndefined()
  expect(state.keys('table:m.all')).toEqual(['a', 'b'])
  expect(state.keys('table:m.none')).toEqual([])
  expect(state.keys('keysets')).toEqual([])
  expect(() => state.keys('table:m.t')).toThrow('m.t has 9 rows, more than `fork.tableRows` allows')
  expect(state.get('keysets', 'ks')).toEqual(keyset)
  expect(state.get('keysets', 'other')).toBeUndefined()
  expect(state.get('namespaces', 'free')).toEqual({ user: keyset, admin: keyset })
  expect(state.get('pacts', 'done')).toBe(null)
  expect(state.get('pacts', 'unknown')).toBeUndefined()
  expect(state.get('pacts', 'begun')).toMatchObject({ id: 'begun', step: 0, args: ['a'], yielded: null })
  expect(() => state.get('pacts', 'untold')).toThrow('name its request key with `fork.pactKeys`')
  expect(state.get('counters', 'tx')).toBe(42)
  expect(state.get('headers', 'hash')).toBe(5)
  expect(state.get('headers', 'orphan')).toBeUndefined()
  expect(state.fetchedModules).toEqual(new Set(['m', 'p']))
  expect(state.fetchedRows('m.t')).toEqual({ keys: ['a'], isComplete: false })
  expect(state.fetchedRows('m.all')).toEqual({ keys: [], isComplete: true })
  for (const domain of ['table:m.t', 'keysets', 'namespaces', 'pacts', 'counters', 'headers'] as const) {
    expect(() => state.get(domain, 'new'), domain).toThrow(new MissingEntry(state, domain, 'new'))
  }
})

it('an empty file misses the names of all modules before anything else of a module or a table', () => {
  const state = new PinnedState(entriesIn(new CopyCache(null, block)))
  const names = new MissingEntry(state, 'modules', null)
  for (const [domain, key] of [
    ['modules', 'm'],
    ['tables', 'm.t'],
    ['table:m.t', 'a'],
  ] as const satisfies readonly (readonly [Domain, string])[]) {
    expect(() => state.get(domain, key), domain).toThrow(names)
  }
  expect(() => state.keys('table:m.t')).toThrow(names)
})

it('a fork requests no tables: it reads their declarations in the texts of modules', async () => {
  const source = {} as Parameters<ReturnType<typeof domainOf>['ask']>[0]
  await expect(domainOf('tables').ask(source, 'm.t', [])).rejects.toThrow('the texts of its modules')
})

it('a cache of newcut 0.1.0 needs no node', () => {
  const cacheFolder = folder()
  cpSync(fileURLToPath(new URL('../fixtures/0.1.0/fork-cache', import.meta.url)), cacheFolder, { recursive: true })
  const hash = '0kmAbXI825OublXKJvc3YGpmlMXE0ilmw9arGjb6jQk'
  const damaged: string[] = []
  const pinned = { network: 'development', chain: 1, height: 5, hash }
  const cache = new CopyCache(cacheFolder, pinned, (message) => damaged.push(message))
  const state = new PinnedState(entriesIn(cache))
  expect(damaged).toEqual([])
  expect(state.get('modules', 'coin')).toMatchObject({ name: 'coin' })
  expect(state.get('counters', 'tx')).toBe(15)
  expect(state.get('table:coin.coin-table', 'fork')).toBeUndefined()
  const [miner] = state.fetchedRows('coin.coin-table').keys
  expect(state.get('table:coin.coin-table', miner)).toBeInstanceOf(Map)
})
