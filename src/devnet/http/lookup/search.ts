/** Finds an account on all chains, and what a text names: transactions, blocks, accounts and modules, also by the short forms that pages show. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { findSimilarName } from '#ground/base/similar-names.ts'
import type { SearchAnswer, SearchHit } from '#ground/schema/lookup.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { ObjectValue, Value } from '#language/contracts/values/value.ts'
import { valueToJson } from '#language/contracts/values/wire.ts'
import { requestKeysOf } from '../../store/transaction-index.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { ACCOUNTS, readHead, type StateSource } from './head-state.ts'
import type { FindingNode } from './transactions.ts'

/** Newest blocks whose hashes and request keys are compared with a beginning. */
const MAX_COMPARED_BLOCKS = 5_000
/** Names that are compared with a misspelled one. */
const MAX_COMPARED_NAMES = 10_000
/** A shorter beginning of a hash is none. */
const MIN_BEGINNING = 6
const MAX_HITS = 40
const MAX_GUESSES = 5
const HASH_LENGTH = 43

type SearchedNode = FindingNode & StateSource

/** @throws NewcutError if a forked node does not answer */
export async function searchNode(node: SearchedNode, wanted: string): Promise<SearchAnswer> {
  const text = wanted.trim()
  if (text === '') return { hits: [], guesses: [] }
  const hashes = hitsByHash(node, text)
  // No account is called like a whole hash: a copy of a network need not fetch one.
  if (text.length === HASH_LENGTH && hashes.length > 0) return { hits: hashes, guesses: [] }
  const names = await namesIn(node)
  const hits = [...hashes, ...hitsByHeight(node, text), ...(await hitsByName(node, text, names))].slice(0, MAX_HITS)
  return { hits, guesses: hits.length > 0 ? [] : guessesFor(text, names) }
}

/** Whether a name has the form `BEGINNING…END`, in which pages show long ones. */
function abbreviationOf(text: string): ((name: string) => boolean) | null {
  const parts = /^(.*?)(?:…|\.\.\.)(.*)$/.exec(text)
  if (parts === null) return null
  const [, begin, end] = parts
  if (begin.length + end.length < MIN_BEGINNING) return null
  return (name) => name.length >= begin.length + end.length && name.startsWith(begin) && name.endsWith(end)
}

function hitsByHash(node: SearchedNode, text: string): SearchHit[] {
  if (text.length === HASH_LENGTH) return hitsOfHash(node, text)
  const isBeginning = text.length >= MIN_BEGINNING && text.length < HASH_LENGTH && /^[\w-]+$/.test(text)
  const isWanted = abbreviationOf(text) ?? (isBeginning ? (hash: string) => hash.startsWith(text) : null)
  return isWanted === null ? [] : hitsOfBeginning(node, isWanted)
}

const transactionHit = (name: string, chain: number): SearchHit => ({ kind: 'transaction', name, chain, height: null })

function hitsOfHash({ chains, pools, index }: SearchedNode, hash: string): SearchHit[] {
  const [place] = index.find(hash)
  const pending = chains.chainIds.find((chain) => pools.poolOf(chain).get(hash) !== undefined)
  const block = chains.store.byId(hash)
  return [
    ...(place === undefined && pending === undefined ? [] : [transactionHit(hash, place?.chain ?? pending ?? 0)]),
    ...(block === undefined ? [] : [{ kind: 'block' as const, name: hash, chain: block.chain, height: block.height }]),
  ]
}

function hitsOfBeginning({ chains: { store, chainIds }, pools }: SearchedNode, isWanted: (hash: string) => boolean) {
  const hits = new Map<string, SearchHit>()
  for (const chain of chainIds) {
    for (const { key } of pools.poolOf(chain).all) if (isWanted(key)) hits.set(key, transactionHit(key, chain))
  }
  for (let record = store.size - 1; record >= Math.max(0, store.size - MAX_COMPARED_BLOCKS); record--) {
    const [chain, height] = [store.chainAt(record), store.heightAt(record)]
    const name = encodeBase64Url(store.hashAt(record))
    if (isWanted(name)) hits.set(name, { kind: 'block', name, chain, height })
    if (store.parentRecord(record) < 0) continue
    for (const key of requestKeysOf(store.blockAt(record))) if (isWanted(key)) hits.set(key, transactionHit(key, chain))
  }
  return [...hits.values()]
}

/** The block at a height, on each chain that has one. */
function hitsByHeight({ chains: { cut, store } }: SearchedNode, text: string): SearchHit[] {
  if (!/^\d{1,15}$/.test(text.replaceAll(',', ''))) return []
  const wanted = Number(text.replaceAll(',', ''))
  return [...cut].flatMap(([chain, { hash, height }]) => {
    if (Number(height) < wanted) return []
    const record = store.ancestorAt(store.recordOfHash(hash), wanted)
    if (record < 0) return []
    return [{ kind: 'block' as const, name: encodeBase64Url(store.hashAt(record)), chain, height: wanted }]
  })
}

interface KnownNames {
  /** Names on all chains. On a copy of a network, only the fetched ones. */
  readonly accounts: ReadonlySet<string>
  /** Module -> the lowest chain that has it. */
  readonly modules: ReadonlyMap<string, number>
}

async function namesIn(node: SearchedNode): Promise<KnownNames> {
  const accounts = new Set<string>()
  const modules = new Map<string, number>()
  for (const chain of node.chains.chainIds) {
    const fetched = node.fork?.fetchedOf(chain)?.fetchedRows('coin.coin-table')
    await readHead(node, chain, (state) => {
      const keys = fetched === undefined ? state.keys(ACCOUNTS) : state.keys(ACCOUNTS, fetched.keys)
      for (const name of keys) accounts.add(name)
      for (const name of state.keys('modules')) if (!modules.has(name)) modules.set(name, chain)
    })
  }
  return { accounts, modules }
}

const accountHit = (name: string): SearchHit => ({ kind: 'account', name, chain: null, height: null })
const moduleHit = (name: string, chain: number): SearchHit => ({ kind: 'module', name, chain, height: null })

async function hitsByName(node: SearchedNode, text: string, { accounts, modules }: KnownNames): Promise<SearchHit[]> {
  const isShort = abbreviationOf(text)
  if (isShort !== null) {
    return [
      ...[...accounts].filter(isShort).map(accountHit),
      ...[...modules].filter(([name]) => isShort(name)).map(([name, chain]) => moduleHit(name, chain)),
    ]
  }
  // A public key stands for the account that it alone guards.
  const names = /^[0-9a-f]{64}$/.test(text) ? [text, `k:${text}`] : [text]
  const found = await Promise.all(names.map(async (name) => accounts.has(name) || (await hasAccount(node, name))))
  const chain = modules.get(text)
  return [...names.filter((_, i) => found[i]).map(accountHit), ...(chain === undefined ? [] : [moduleHit(text, chain)])]
}

/** Whether a chain of a copied network has an account that nothing has read yet. */
async function hasAccount(node: SearchedNode, account: string): Promise<boolean> {
  if (node.fork === null) return false
  const rows = node.chains.chainIds.map((chain) => readHead(node, chain, (state) => state.get(ACCOUNTS, account)))
  return (await Promise.all(rows)).some((row) => row !== undefined)
}

/** Names that contain the text, then the most similar ones. */
function guessesFor(text: string, { accounts, modules }: KnownNames): SearchHit[] {
  const lower = text.toLowerCase()
  const isClose = (name: string) => lower.length > 2 && name.toLowerCase().includes(lower)
  const similarTo = (names: Iterable<string>) => findSimilarName(text, [...names].slice(0, MAX_COMPARED_NAMES))
  const [module, account] = [similarTo(modules.keys()), similarTo(accounts)]
  const close = [
    ...[...modules.keys()].filter(isClose),
    ...(module === null ? [] : [module]),
    ...[...accounts].filter(isClose),
    ...(account === null ? [] : [account]),
  ]
  return [...new Set(close)].slice(0, MAX_GUESSES).map((name) => {
    const chain = modules.get(name)
    return chain === undefined ? accountHit(name) : moduleHit(name, chain)
  })
}

/** @returns JSON of AccountDetails; guards as in results. @throws NewcutError if a forked node does not answer */
export async function accountText(node: StateSource, account: string): Promise<string> {
  const chains = await Promise.all(
    node.chains.chainIds.map((chain) =>
      readHead(node, chain, (state, height) => {
        const row = state.get<ObjectValue>(ACCOUNTS, account)
        const balance = row?.get('balance')
        return new JsonObjectWriter()
          .fields({ chain, height, balance: balance instanceof Decimal ? balance.toString() : null })
          .raw('guard', guardText(row?.get('guard'))).text
      }),
    ),
  )
  return new JsonObjectWriter().fields({ account }).raw('chains', `[${chains.join(',')}]`).text
}

const guardText = (guard: Value | undefined) => (guard === undefined ? 'null' : valueToJson(guard))
