/**
 * First block of every chain: system contracts, keysets, namespaces and funded accounts. It is the same on all chains
 * of a network, so its state is the base of all block states.
 */
import { ContractError } from '../../contracts/errors.ts'
import { granting } from '../../contracts/machine/capabilities.ts'
import { emptyEnvironment, freeGas, type Message } from '../../contracts/machine/environment.ts'
import { runText } from '../../contracts/machine/execute.ts'
import { Layer, type ReadableState } from '../../contracts/machine/state.ts'
import { asValue } from '../../contracts/machine/term.ts'
import { systemContractsFor } from '../../contracts/system/system.ts'
import { hashText } from '../../contracts/values/hash.ts'
import { UNIT } from '../../contracts/values/value.ts'
import { valueFromJson } from '../../contracts/values/wire.ts'
import { encodeBase64Url, equalBytes } from '../../core/bytes.ts'
import { developmentAccounts } from '../../core/development-accounts.ts'
import { payloadHashes } from '../../core/payload.ts'
import type { BlockStore } from '../store/block-store.ts'
import { emptyPayload, type StoredPayload } from '../store/payload.ts'
import { resultText } from './command-result.ts'
import { coinToken, evaluatorOn, genesisRules } from './runner.ts'

export interface Genesis {
  readonly payload: StoredPayload
  readonly state: ReadableState
  /** Modules are hashed by their texts, as in networks that an older newcut began. */
  readonly areHashesOfText: boolean
}

interface GenesisCommand {
  readonly code: string
  readonly data: Readonly<Record<string, unknown>>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const operator = [developmentAccounts[0].publicKey]

const known = new Map<number, Genesis>()

/**
 * First block of a network with this number of chains. Cached: making it takes as long as loading the system contracts.
 */
export function genesisOf(chains: number): Genesis {
  const genesis = known.get(chains) ?? makeGenesis(chains)
  known.set(chains, genesis)
  return genesis
}

/** Genesis of networks on disk that an older newcut began, by payload hash. */
const older = new Map<string, Genesis | null>()

/**
 * Genesis with this payload, of the present newcut or of an older one, whose contracts and module hashes differ. An
 * older one is executed again, and must give the outputs in the payload.
 * @returns null if the payload belongs to no genesis
 */
export function genesisWith(payload: StoredPayload, chains: number): Genesis | null {
  const present = genesisOf(chains)
  if (equalBytes(payload.payloadHash, present.payload.payloadHash)) return present
  const id = encodeBase64Url(payload.payloadHash)
  let genesis = older.get(id)
  if (genesis === undefined) {
    genesis = executed(payload, true) ?? executed(payload, false)
    older.set(id, genesis)
  }
  return genesis
}

/** Genesis of the network in a store. Stores without contracts in their first block have the present one. */
export function genesisIn(store: BlockStore): Genesis {
  const present = genesisOf(store.chains)
  if (store.size === 0) return present
  const { payload } = store.at(0)
  return payload.transactions.length === 0 ? present : (genesisWith(payload, store.chains) ?? present)
}

/** @returns null if the outputs of the payload are not those of its commands, under these rules */
function executed(payload: StoredPayload, areHashesOfText: boolean): Genesis | null {
  const state = new Layer()
  for (const [txId, { transaction, output }] of payload.transactions.entries()) {
    const command = commandIn(transaction)
    if (command === null) return null
    try {
      if (!equalBytes(execute(state, command, { txId, areHashesOfText }).output, output)) return null
    } catch (error) {
      if (error instanceof ContractError) return null
      throw error
    }
  }
  state.put('counters', 'tx', payload.transactions.length)
  return { payload, state, areHashesOfText }
}

/** @returns null if the transaction is no command of a genesis block */
function commandIn(transaction: Uint8Array): GenesisCommand | null {
  try {
    const { cmd } = JSON.parse(decoder.decode(transaction)) as { cmd: string }
    const { code, data } = (JSON.parse(cmd) as { payload: { exec: GenesisCommand } }).payload.exec
    return { code, data }
  } catch {
    // Whatever else the bytes are, they begin no network.
    return null
  }
}

/** Tables of each contract. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  coin: ['coin.coin-table', 'coin.allocation-table'],
  ns: ['ns.registry'],
}

const keysets: GenesisCommand = {
  code: ['ns-admin-keyset', 'ns-operate-keyset', ...developmentAccounts.map(({ account }) => account)]
    .map((name) => `(define-keyset "${name}" (read-keyset "${name}"))`)
    .join('\n'),
  data: {
    'ns-admin-keyset': operator,
    'ns-operate-keyset': operator,
    ...Object.fromEntries(developmentAccounts.map(({ account, publicKey }) => [account, [publicKey]])),
  },
}

/** Anybody may use `free` and `user`, and nobody may change them. `kadena` belongs to the operator. */
const namespaces: GenesisCommand = {
  code: [
    '(define-namespace "free" (create-user-guard (ns.success)) (create-user-guard (ns.failure)))',
    '(define-namespace "user" (create-user-guard (ns.success)) (create-user-guard (ns.failure)))',
    '(define-namespace "kadena" (keyset-ref-guard "ns-operate-keyset") (keyset-ref-guard "ns-operate-keyset"))',
  ].join('\n'),
  data: {},
}

const grants: GenesisCommand = {
  code: developmentAccounts
    .map(({ account, balance }) => `(coin.coinbase "${account}" (read-keyset "${account}") ${balance}.0)`)
    .join('\n'),
  data: Object.fromEntries(developmentAccounts.map(({ account, publicKey }) => [account, [publicKey]])),
}

function contractsOf(chains: number): GenesisCommand[] {
  return systemContractsFor(chains).map(({ name, text }) => {
    const tables = (TABLES[name] ?? []).map((table) => `\n(create-table ${table})`)
    return { code: `${text.trimEnd()}${tables.join('')}`, data: {} }
  })
}

function makeGenesis(chains: number): Genesis {
  const state = new Layer()
  const transactions = [...contractsOf(chains), keysets, namespaces, grants].map((command, txId) =>
    execute(state, command, { txId, areHashesOfText: false }),
  )
  const parts = { minerData: emptyPayload.minerData, coinbase: emptyPayload.coinbase, transactions }
  state.put('counters', 'tx', transactions.length)
  return { payload: { ...parts, ...payloadHashes(parts) }, state, areHashesOfText: false }
}

interface GenesisPlace {
  readonly txId: number
  readonly areHashesOfText: boolean
}

function execute(state: Layer, { code, data }: GenesisCommand, { txId, areHashesOfText }: GenesisPlace) {
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
  const said: Message = {
    ...message,
    data: Object.keys(data).length === 0 ? UNIT : valueFromJson(data as Parameters<typeof valueFromJson>[0]),
    signers: new Map([[operator[0], []]]),
    hash: key,
  }
  const rules = { ...genesisRules, areHashesOfText }
  const evaluator = evaluatorOn({ block: { ...block, rules }, message: said }, layer, freeGas())
  const granted = [coinToken('GENESIS'), coinToken('COINBASE')]
  const value = granting(evaluator, granted, () => asValue(runText(evaluator, code)))
  const writes = [...layer.entries()]
  layer.mergeInto(state)
  const output = resultText({
    ...{
      gas: 0,
      result: { value },
      key,
      writes,
      events: evaluator.transaction.events,
      metaData: 'null',
      pact: null,
      txId,
    },
  })
  return {
    transaction: encoder.encode(JSON.stringify({ hash: key, sigs: [], cmd })),
    output: encoder.encode(output),
  }
}
