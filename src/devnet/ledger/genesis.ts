/**
 * First block of every chain: system contracts, keysets, namespaces and funded accounts. It is the same on all chains
 * of a network, so its state is the base of all block states.
 */

import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import { graphAt } from '#ground/chain/network.ts'
import { chainsIn, type GenesisTransaction } from '#ground/chain/network-form.ts'
import { payloadHashes } from '#ground/chain/payload.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { emptyEnvironment, freeGas, type Message } from '#language/contracts/machine/environment.ts'
import { Layer, type ReadableState } from '#language/contracts/machine/state.ts'
import { asValue, runText, startTransaction, withGranted } from '#language/contracts/run.ts'
import { systemContractsFor } from '#language/contracts/system/system.ts'
import { hashText } from '#language/contracts/values/hash.ts'
import { UNIT } from '#language/contracts/values/value.ts'
import { valueFromJson } from '#language/contracts/values/wire.ts'
import type { NetworkRules } from '../rules/network-rules.ts'
import type { BlockStore } from '../store/block-store.ts'
import { emptyPayload, type StoredPayload } from '../store/payload.ts'
import { resultText } from './command-result.ts'
import { ledgerErrors } from './errors.ts'
import { attempt, coinToken, genesisRules } from './runner.ts'

export interface Genesis {
  readonly payload: StoredPayload
  readonly state: ReadableState
  /** Modules are hashed by their texts, as in networks that an older newcut began. */
  readonly areHashesOfText: boolean
}

interface GenesisCommand {
  /** Its place in the file of the network, for errors. Default: in the block. */
  readonly place?: number
  readonly code: string
  readonly data: Readonly<Record<string, unknown>>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const operator = [developmentAccounts[0].publicKey]

/** Keysets of the namespace `util`: who may use it, and who may change it. */
const UTIL_KEYSETS = ['util-ns-users', 'util-ns-admin']

const cached = new Map<string, Genesis>()

/**
 * First block of a chain of a network with this number of chains. Cached: making it takes as long as loading the system
 * contracts. With Kadena's contracts, the chains have the same payload.
 * @param own contracts of the network, in place of Kadena's
 * @throws NewcutError BAD_CONFIG if one of them fails
 */
export function genesisOf(chains: number, own: readonly GenesisTransaction[] | null = null, chain = 0): Genesis {
  const id = own === null ? String(chains) : JSON.stringify([chain, own])
  const genesis = cached.get(id) ?? (own === null ? makeGenesis(kadenaTransactions(chains)) : ownGenesis(own, chain))
  cached.set(id, genesis)
  return genesis
}

/** First block of a chain of the network with these rules. */
export function genesisFor({ network, genesis }: Pick<NetworkRules, 'network' | 'genesis'>, chain: number): Genesis {
  return genesisOf(graphAt(network, 0).adjacents.length, genesis, chain)
}

/** The same object as `genesisWith` finds for its payload. Chains with the same payload share it. */
function ownGenesis(own: readonly GenesisTransaction[], chain: number): Genesis {
  const ofChain = own.map(({ chains, code, data = {} }, place) => ({ chains, code, data, place }))
  const fresh = makeGenesis(
    ofChain.filter(({ chains, place }) => chainsIn(chains, ['genesis', 'transactions', place])(chain)),
    chain,
  )
  const id = encodeBase64Url(fresh.payload.payloadHash)
  const genesis = others.get(id) ?? fresh
  others.set(id, genesis)
  return genesis
}

/** Genesis of networks of files, and of networks on disk that an older newcut began, by payload hash. */
const others = new Map<string, Genesis | null>()

/**
 * Genesis with this payload, of this newcut or of an older one, whose contracts and module hashes differ. An
 * older one is executed again, and must give the outputs in the payload.
 * @returns null if the payload belongs to no genesis
 */
export function genesisWith(payload: StoredPayload, chains: number, chain: number): Genesis | null {
  const present = genesisOf(chains)
  if (equalBytes(payload.payloadHash, present.payload.payloadHash)) return present
  const id = encodeBase64Url(payload.payloadHash)
  let genesis = others.get(id)
  if (genesis === undefined) {
    const executedHere = (areHashesOfText: boolean) => executeAgain(payload, { areHashesOfText, chain })
    genesis = executedHere(true) ?? executedHere(false)
    others.set(id, genesis)
  }
  return genesis
}

/** Genesis of a chain in a store. A store whose first block has no contracts begins with those of this version. */
export function genesisIn(store: BlockStore, chain = 0): Genesis {
  const present = genesisOf(store.chains)
  if (store.size === 0) return present
  const found = stored.get(store) ?? new Map<number, Genesis>()
  stored.set(store, found)
  const before = found.get(chain)
  if (before !== undefined) return before
  const { payload } = store.at(chain)
  const none = payload.transactions.length === 0
  const genesis = none ? present : (genesisWith(payload, store.chains, chain) ?? present)
  found.set(chain, genesis)
  return genesis
}

/** Genesis by store and chain. */
const stored = new WeakMap<BlockStore, Map<number, Genesis>>()

/** @returns null if the outputs of the payload are not those of its commands, under these rules */
function executeAgain(payload: StoredPayload, { areHashesOfText, chain }: Omit<GenesisPlace, 'txId'>): Genesis | null {
  const state = new Layer()
  for (const [txId, { transaction, output }] of payload.transactions.entries()) {
    const command = commandIn(transaction)
    if (command === null) return null
    try {
      if (!equalBytes(execute(state, command, { txId, areHashesOfText, chain }).output, output)) return null
    } catch (error) {
      if (error instanceof ContractError) return null
      throw error
    }
  }
  state.put('counters', 'tx', payload.transactions.length)
  return { payload, state, areHashesOfText }
}

/** @returns null if the transaction is not a command of a genesis block */
function commandIn(transaction: Uint8Array): GenesisCommand | null {
  try {
    const { cmd } = JSON.parse(decoder.decode(transaction)) as { cmd: string }
    const { code, data } = (JSON.parse(cmd) as { payload: { exec: GenesisCommand } }).payload.exec
    return { code, data }
  } catch {
    // Other bytes cannot stand in a genesis block.
    return null
  }
}

/** Tables of each contract. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  coin: ['coin.coin-table', 'coin.allocation-table'],
  ns: ['ns.registry'],
}

/** Keysets of allocations; the accounts of `developmentAccounts` have one each, too. */
const allocationKeys: Readonly<Record<string, string>> = {
  allocation00: 'd82d0dcde9825505d86afb6dcc10411d6b67a429a79e21bda4bb119bf28ab871',
  allocation01: 'b4c8a3ea91d3146b0560994740f0e3eed91c59d2eeca1dc99f0c2872845c294d',
  allocation02: 'e9e4e71bd063dcf7e06bd5b1a16688897d15ca8bd2e509c453c616219c186cc5',
  'allocation-test01': '7011c379140ff899f7e613ac0a9784a7c0a515d30fe0ab2b0c07e5aa17635e3e',
  'allocation-test02': '06544e22bfef230d6d22f9486ac6cb76bf258ebfbf0137ee58f65743e1a5b8c4',
}

/** Allocations: account, which is also the name of its keyset, release date, and coins. */
const ALLOCATIONS = [
  ['allocation00', '1900-10-15T18:00:00Z', '1000000.0'],
  ['allocation01', '2100-10-31T18:00:00Z', '1000000.0'],
  ['allocation02', '1900-10-31T18:00:00Z', '1000000.0'],
  ['allocation-test01', '1900-10-31T18:00:00Z', '1000000.0'],
  ['allocation-test02', '1900-10-31T18:00:00Z', '2000000.0'],
] as const

/** Accounts that pay for the gas of releasing an allocation. */
const PAYING_ALLOCATIONS = ['allocation00', 'allocation01', 'allocation02']

function keysOf(...indexes: number[]): string[] {
  return indexes.map((index) => developmentAccounts[index].publicKey)
}

const E7F7_KEY = 'e7f7634e925541f368b827ad5c72421905100f6205285a78c19d7b4a38711805'
/** Accounts of several keys, and one that is named like its key: account, keyset, and coins. */
const OTHER_ACCOUNTS: readonly (readonly [account: string, keyset: unknown, coins: string])[] = [
  ['multi-00-01', keysOf(0, 1), '101000000.0'],
  ['multi-02-03-04-any', { keys: keysOf(2, 3, 4), pred: 'keys-any' }, '123400000.0'],
  [E7F7_KEY, [E7F7_KEY], '150.0'],
]

const definedKeysets: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(['ns-admin-keyset', 'ns-operate-keyset', ...UTIL_KEYSETS].map((name) => [name, operator])),
  ...Object.fromEntries(Object.entries(allocationKeys).map(([name, key]) => [name, [key]])),
  ...Object.fromEntries(developmentAccounts.map(({ account, publicKey }) => [account, [publicKey]])),
}

const keysets: GenesisCommand = {
  code: Object.keys(definedKeysets)
    .map((name) => `(define-keyset "${name}" (read-keyset "${name}"))`)
    .join('\n'),
  data: definedKeysets,
}

/**
 * Namespaces, all of them reserved in the registry. Any account may deploy to `free` and `user`, and none may change
 * them. `kadena`, `kip` and `util` belong to the operator.
 */
const namespaces: GenesisCommand = {
  code: [
    ...namespace('kadena', '(keyset-ref-guard "ns-operate-keyset")', '(keyset-ref-guard "ns-operate-keyset")'),
    ...namespace('user', 'ns.GUARD_SUCCESS', 'ns.GUARD_FAILURE'),
    ...namespace('free', 'ns.GUARD_SUCCESS', 'ns.GUARD_FAILURE'),
    ...namespace('kip', '(keyset-ref-guard "ns-operate-keyset")', '(keyset-ref-guard "ns-operate-keyset")'),
    ...namespace('util', '(keyset-ref-guard "util-ns-users")', '(keyset-ref-guard "util-ns-admin")'),
  ].join('\n'),
  data: {},
}

function namespace(name: string, user: string, admin: string): string[] {
  return [`(ns.write-registry "${name}" ${admin} true)`, `(define-namespace "${name}" ${user} ${admin})`]
}

const allocations: GenesisCommand = {
  code: ALLOCATIONS.map(([name, date, coins]) => {
    return `(coin.create-allocation-account "${name}" (time "${date}") "${name}" ${coins})`
  }).join('\n'),
  data: {},
}

const grants: GenesisCommand = {
  code: [
    ...developmentAccounts.map(({ account, balance }) => grant(account, `(read-keyset "${account}")`, `${balance}.0`)),
    ...OTHER_ACCOUNTS.map(([account, , coins]) => grant(account, `(read-keyset "${account}")`, coins)),
    ...PAYING_ALLOCATIONS.map((account) => grant(account, `(keyset-ref-guard "${account}")`, '100000.0')),
  ].join('\n'),
  data: {
    ...Object.fromEntries(developmentAccounts.map(({ account, publicKey }) => [account, [publicKey]])),
    ...Object.fromEntries(OTHER_ACCOUNTS.map(([account, keyset]) => [account, keyset])),
  },
}

function grant(account: string, guard: string, coins: string): string {
  return `(coin.coinbase "${account}" ${guard} ${coins})`
}

function contractsOf(chains: number): GenesisCommand[] {
  return systemContractsFor(chains).map(({ name, text }) => {
    const tables = (TABLES[name] ?? []).map((table) => `\n(create-table ${table})`)
    return { code: `${text.trimEnd()}${tables.join('')}`, data: {} }
  })
}

function kadenaTransactions(chains: number): GenesisCommand[] {
  return [...contractsOf(chains), keysets, namespaces, allocations, grants]
}

/** @param chain whose number its code can read; null for the same payload on all chains */
function makeGenesis(commands: readonly GenesisCommand[], chain: number | null = null): Genesis {
  const state = new Layer()
  const transactions = commands.map((command, txId) => {
    const ran = attempt(() => execute(state, command, { txId, areHashesOfText: false, chain }))
    if ('value' in ran) return ran.value
    const place = `genesis.transactions.${command.place ?? txId}:${chain === null ? '' : ` on chain ${chain}:`}`
    throw operatingError(ledgerErrors.genesisFailed, { place, why: describeError(ran.error) })
  })
  const parts = { minerData: emptyPayload.minerData, coinbase: emptyPayload.coinbase, transactions }
  state.put('counters', 'tx', transactions.length)
  return { payload: { ...parts, ...payloadHashes(parts) }, state, areHashesOfText: false }
}

interface GenesisPlace {
  readonly txId: number
  readonly areHashesOfText: boolean
  readonly chain: number | null
}

function execute(state: Layer, { code, data }: GenesisCommand, { txId, areHashesOfText, chain }: GenesisPlace) {
  const cmd = JSON.stringify({
    networkId: null,
    payload: { exec: { data, code } },
    signers: [],
    meta: { creationTime: 0, ttl: 172_800, gasLimit: 0, chainId: '', gasPrice: 0, sender: '' },
    nonce: `genesis ${txId}`,
  })
  const key = hashText(cmd)
  const layer = new Layer(state)
  const { block, message } = emptyEnvironment
  const place = chain === null ? block.chain : { ...block.chain, chainId: String(chain) }
  const said: Message = {
    ...message,
    data: Object.keys(data).length === 0 ? UNIT : valueFromJson(data as Parameters<typeof valueFromJson>[0]),
    signers: new Map([[operator[0], []]]),
    hash: key,
  }
  const rules = { ...genesisRules, areHashesOfText }
  const evaluator = startTransaction({ block: { ...block, chain: place, rules }, message: said }, layer, freeGas())
  const granted = [coinToken('GENESIS'), coinToken('COINBASE')]
  const value = withGranted(evaluator, granted, () => asValue(runText(evaluator, code)))
  const writes = layer.entries()
  layer.mergeInto(state)
  const output = resultText({
    gas: 0,
    result: { value },
    key,
    writes,
    events: evaluator.transaction.events,
    metaData: 'null',
    pact: null,
    txId,
  })
  return {
    transaction: encoder.encode(JSON.stringify({ hash: key, sigs: [], cmd })),
    output: encoder.encode(output),
  }
}
