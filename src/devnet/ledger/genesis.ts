/**
 * First block of every chain: system contracts, keysets, namespaces and funded accounts. It is the same on all chains
 * of a network, so its state is the base of all block states.
 */
import { granting } from '../../contracts/machine/capabilities.ts'
import { emptyEnvironment, freeGas, type Message } from '../../contracts/machine/environment.ts'
import { runText } from '../../contracts/machine/execute.ts'
import { Layer, type ReadableState } from '../../contracts/machine/state.ts'
import { asValue } from '../../contracts/machine/term.ts'
import { systemContractsFor } from '../../contracts/system/system.ts'
import { hashText } from '../../contracts/values/hash.ts'
import { UNIT } from '../../contracts/values/value.ts'
import { valueFromJson } from '../../contracts/values/wire.ts'
import { developmentAccounts } from '../../core/development-accounts.ts'
import { payloadHashes } from '../../core/payload.ts'
import { emptyPayload, type StoredPayload } from '../store/payload.ts'
import { resultText } from './command-result.ts'
import { coinToken, evaluatorOn } from './runner.ts'

export interface Genesis {
  readonly payload: StoredPayload
  readonly state: ReadableState
}

interface GenesisCommand {
  readonly code: string
  readonly data: Readonly<Record<string, unknown>>
}

const encoder = new TextEncoder()
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
    execute(state, command, txId),
  )
  const parts = { minerData: emptyPayload.minerData, coinbase: emptyPayload.coinbase, transactions }
  state.put('counters', 'tx', transactions.length)
  return { payload: { ...parts, ...payloadHashes(parts) }, state }
}

function execute(state: Layer, { code, data }: GenesisCommand, txId: number) {
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
  const evaluator = evaluatorOn({ block, message: said }, layer, freeGas())
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
